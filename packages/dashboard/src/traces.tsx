import { Glyph } from "./state.tsx";
import type { ClusterPage, Hop } from "./types.ts";

/** Where each name of the cluster leads from each network that resolves it. */
export function Traces({ page: { traces } }: { page: ClusterPage }) {
  if (traces.length === 0) return <p class="quiet">It has no DNS records.</p>;
  return (
    <ul class="traces">
      {traces.flatMap(({ host, traces: all }) =>
        all.map(({ network, hops, works, known }) => (
          <li key={`${host} ${network}`} data-host={host} data-works={works}>
            <details>
              <summary>
                <Glyph state={works ? "ok" : known ? "degraded" : "unknown"} /> {host}{" "}
                <span class="quiet">
                  from {network}
                  {works ? "" : known ? `: ${hops.at(-1)?.found ?? ""}` : ": not resolved there"}
                </span>
              </summary>
              <ol>
                {hops.map((hop) => (
                  <HopLine key={`${hop.what} ${hop.name} ${hop.found}`} hop={hop} />
                ))}
              </ol>
            </details>
          </li>
        )),
      )}
    </ul>
  );
}

function HopLine({ hop: { what, name, state, found, remedy } }: { hop: Hop }) {
  return (
    <li>
      <Glyph state={state} /> {what} {name} <span class="quiet">{found}</span>
      {remedy ? <p>What to do: {remedy}</p> : null}
    </li>
  );
}
