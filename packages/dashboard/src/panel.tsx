import { useEffect, useRef, useState } from "preact/hooks";
import { Age } from "./ages.tsx";
import { azFor, kubectlFor } from "./commands.ts";
import { isOn, stepsOn } from "./paths.ts";
import { Breakable, Glyph, Words, words } from "./state.tsx";
import type { ClusterPage, Node } from "./types.ts";

const kinds: Record<Node["kind"], string> = {
  cluster: "Cluster",
  "load-balancer": "Load balancer",
  backend: "Backend pool",
  "link-service": "Private link service",
  endpoint: "Private endpoint",
  zone: "Private DNS zone",
  record: "DNS record",
  pool: "Backend pool",
  appliance: "Appliance",
};

/** All that is known of one resource, below the path that it is in. */
export function Panel(props: {
  node: Node;
  page: ClusterPage;
  portal: string | undefined;
  siblings: readonly Node[];
  choose: (node: string | undefined) => void;
}) {
  const { node, page, portal, siblings, choose } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    // Only so far that whoever opened it knows: the path above it stays in sight.
    heading.current?.scrollIntoView({ block: "nearest" });
  }, [node.id]);
  const close = () => {
    // Whoever came by the keyboard goes on where they were.
    const box = document.querySelector<HTMLElement>('.path .box[aria-pressed="true"]');
    choose(undefined);
    box?.focus();
  };
  const { azureId, kind, label, state, reason, message, facts } = node;
  const az = azFor(node);
  return (
    <aside
      class="panel card"
      aria-label={`${kinds[kind]} ${label}`}
      onKeyDown={({ key }) => {
        if (key === "Escape") close();
      }}
    >
      <button type="button" class="close" aria-label="Close" onClick={close}>
        ×
      </button>
      <h3 tabIndex={-1} ref={heading}>
        <Glyph state={state} /> {kinds[kind]} <Breakable text={label} />
      </h3>
      <p>
        {capitalised(words[state])}
        {reason && state !== "ok" ? `: ${reason}` : ""}, checked{" "}
        <Age time={page.picture.observedAt} />.{" "}
        {message && state !== "ok" ? <Words text={message} /> : ""}
      </p>
      {siblings.length > 1 ? (
        <p class="siblings">
          {siblings.map((each) => (
            <button
              key={each.id}
              type="button"
              aria-pressed={each.id === node.id}
              onClick={() => choose(each.id)}
            >
              <Glyph state={each.state} /> {each.label}
            </button>
          ))}
        </p>
      ) : null}
      <dl>
        {Object.entries(facts)
          .filter(([name, value]) => name !== "owner" && value !== "")
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Words text={value} />
              </dd>
            </div>
          ))}
        <div>
          <dt>owner</dt>
          <dd>{node.owner ?? "not known"}</dd>
        </div>
        <Writes node={node} page={page} />
      </dl>
      {azureId ? (
        <>
          <Copyable name="id" text={azureId} />
          {az ? <Copyable name="az" text={az} /> : null}
        </>
      ) : null}
      {kubectlFor(node, page).map((command) => (
        <Copyable key={command} name="kubectl" text={command} />
      ))}
      {azureId && portal ? (
        <p>
          <a href={`${portal}/#resource${azureId}`} target="_blank" rel="noreferrer noopener">
            Open in the Azure portal
          </a>
        </p>
      ) : null}
    </aside>
  );
}

/** The last write and the last error, with the id by which Microsoft's support finds the request. */
function Writes({ node, page }: { node: Node; page: ClusterPage }) {
  const steps = stepsOn(node, page.steps);
  const thing = node.azureId?.split("/").slice(-2).join("/").toLowerCase() ?? "";
  const [last] = steps;
  const request = last?.requests.findLast((each) => isOn(each.thing, thing));
  const failed = steps.find(({ outcome }) => outcome === "failed");
  return (
    <>
      <div>
        <dt>last write</dt>
        <dd>
          {last && request ? (
            <>
              {request.verb} → {request.code}, <Age time={last.at} />
              {request.requestId ? <span class="request"> request {request.requestId}</span> : null}
            </>
          ) : (
            "none since the operator started"
          )}
        </dd>
      </div>
      <div>
        <dt>last error</dt>
        <dd>
          {failed ? (
            <>
              <Words text={failed.failure ?? ""} />, <Age time={failed.at} />
            </>
          ) : (
            "none since the operator started"
          )}
        </dd>
      </div>
    </>
  );
}

/** A text that people paste elsewhere. */
function Copyable({ name, text }: { name: string; text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () => {
    // A page that is not served by this machine may not copy: then the text can be selected.
    void navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => undefined,
    );
  };
  return (
    <p class="copyable">
      <code>
        <Words text={text} />
      </code>
      <button type="button" aria-label={`Copy ${name}`} onClick={copy}>
        {copied ? "Copied" : "Copy"}
      </button>
    </p>
  );
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
