import type { ComponentChildren } from "preact";
import { Age } from "./ages.tsx";
import { Headline } from "./headline.tsx";
import { Panel } from "./panel.tsx";
import { nodeIn, Paths } from "./path.tsx";
import { pathsOf } from "./paths.ts";
import type { Place } from "./place.ts";
import { Plans } from "./plans.tsx";
import { Breakable, Glyph, NotRead, Words } from "./state.tsx";
import { Steps } from "./steps.tsx";
import { Traces } from "./traces.tsx";
import type { ClusterPage, ConditionLine } from "./types.ts";
import { Yaml } from "./yaml.tsx";

/** One cluster: its health, the path of its traffic, and everything that explains it. */
export function Cluster(props: {
  name: string;
  page: ClusterPage;
  place: Place;
  go: (place: Partial<Place>, replace?: boolean) => void;
  portal: string | undefined;
}) {
  const { name, page, place, go, portal } = props;
  const { picture, steps } = page;
  const [summary] = picture.clusters;
  const node = nodeIn(picture, place.node);
  const siblings =
    pathsOf(picture)
      .flatMap(({ hops }) => hops)
      .find(({ nodes }) => nodes.some(({ id }) => id === node?.id))?.nodes ?? [];
  const choose = (wanted: string | undefined) =>
    go({ cluster: name, ...(wanted !== undefined && { node: wanted }) }, true);
  return (
    <>
      {summary ? <Headline cluster={summary} observedAt={picture.observedAt} /> : null}
      <NotRead unread={picture.unread} />
      <section aria-label="Path">
        <h2>Path of traffic</h2>
        <Paths picture={picture} steps={steps} chosen={node?.id} choose={choose} />
        {node ? (
          <Panel node={node} page={page} portal={portal} siblings={siblings} choose={choose} />
        ) : null}
      </section>
      <div class="columns">
        <div>
          <Section title="Conditions">
            <Conditions page={page} />
          </Section>
          <Section title="Steps">
            {steps.length === 0 ? (
              <p class="quiet">None since the operator started.</p>
            ) : (
              <Steps steps={steps} />
            )}
          </Section>
        </div>
        <div>
          <Section title="What Postern would change now">
            <Plans page={page} />
          </Section>
          <Section title="Name resolution">
            <Traces page={page} />
          </Section>
          <Section title="Events">
            <Events page={page} />
          </Section>
          <Section title="YAML">
            <Yaml cluster={name} />
          </Section>
        </div>
      </div>
    </>
  );
}

function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Conditions({ page: { conditions, picture } }: { page: ClusterPage }) {
  const isContradicted = picture.clusters.some((each) => each.isContradicted);
  const [main] = conditions;
  const said = new Set(main?.conditions.map(textOf));
  return (
    <>
      {isContradicted ? (
        <p class="banner">
          Azure shows otherwise: the operator was asked to reconcile, and updates the conditions.
        </p>
      ) : null}
      {conditions.map(({ object, conditions: all }) => (
        <details
          key={object}
          class="conditions"
          open={
            object === main?.object || all.some((each) => isOpen(each) && !said.has(textOf(each)))
          }
        >
          <summary>{object}</summary>
          <ul>
            {all.map(({ type, status, reason, message, lastTransitionTime, state }) => (
              <li key={type}>
                <p>
                  <Glyph state={state} />{" "}
                  <strong>
                    <Breakable text={type} />
                  </strong>{" "}
                  <span class="quiet">
                    <Words text={[status, reason].filter(Boolean).join(", ")} />
                    {lastTransitionTime ? (
                      <>
                        , <Age time={lastTransitionTime} as="for" />
                      </>
                    ) : null}
                  </span>
                </p>
                {message ? (
                  <p class="message">
                    <Words text={message} />
                  </p>
                ) : null}
              </li>
            ))}
          </ul>
        </details>
      ))}
    </>
  );
}

/** What repeats that of the first object says nothing new. */
function textOf({ type, status, reason, message }: ConditionLine): string {
  return [type, status, reason, message].join(" ");
}

function isOpen({ status }: ConditionLine): boolean {
  return status !== "True";
}

function Events({ page: { events } }: { page: ClusterPage }) {
  if (events.length === 0) return <p class="quiet">None.</p>;
  return (
    <ol class="events">
      {events.toReversed().map((event) => (
        <li key={`${event.at} ${event.object} ${event.reason} ${event.note}`}>
          <Glyph state={event.type === "Warning" ? "degraded" : "ok"} />{" "}
          <strong>{event.reason}</strong> <Words text={event.note} />{" "}
          <span class="quiet">
            {event.object}, <Age time={event.at} />
          </span>
        </li>
      ))}
    </ol>
  );
}
