import { counted } from "@postern/core/counted.ts";
import { Age } from "./ages.tsx";
import { HealthMark, Words } from "./state.tsx";
import type { Cause, ClusterSummary } from "./types.ts";

/** The first that whoever is on call reads: how the cluster is, why, since when, and what to do. */
export function Headline(props: { cluster: ClusterSummary; observedAt: string }) {
  const { cluster, observedAt } = props;
  const { key, kind, access, health, causes, since } = cluster;
  const [cause, ...more] = causes;
  const begun = cause?.since ?? since;
  return (
    <section class={`headline card cluster ${health}`} aria-label="Health">
      <div class="row">
        <h1>{key}</h1>
        <HealthMark health={health} of={key} />
        <span class="quiet">
          {begun ? (
            <>
              <Age time={begun} as="for" />
              {" · "}
            </>
          ) : null}
          checked <Age time={observedAt} /> · {kind} · {access}
        </span>
      </div>
      {cause ? (
        <CauseText cause={cause} />
      ) : (
        <p>
          {cluster.endpoints.length > 0
            ? "Clients in its network can connect."
            : "Nothing is wrong with it."}
        </p>
      )}
      {more.length > 0 ? (
        <details>
          <summary>{counted(more.length, "more cause")}</summary>
          <ul>
            {more.map((each) => (
              <li key={`${each.reason} ${each.message}`}>
                <CauseText cause={each} />
              </li>
            ))}
          </ul>
        </details>
      ) : null}
    </section>
  );
}

function CauseText({ cause: { message, remedy, about } }: { cause: Cause }) {
  return (
    <p>
      <span class="cause">
        <Words text={message} />
      </span>
      {about && !message.includes(about) ? <span class="quiet"> ({about})</span> : null}
      {remedy ? (
        <span class="remedy">
          <strong>What to do:</strong> <Words text={remedy} />
        </span>
      ) : null}
    </p>
  );
}
