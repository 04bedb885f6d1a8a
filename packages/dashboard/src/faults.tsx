import { duration } from "@postern/core/duration.ts";
import { useState } from "preact/hooks";
import type { Timeline } from "./timeline.ts";
import type { ClusterSummary, Fault } from "./types.ts";

/** The faults of local mode: always within reach, each with what to expect, and then what happened. */
export function Faults(props: {
  faults: readonly Fault[];
  clusters: readonly ClusterSummary[];
  cluster: string | undefined;
  timeline: Timeline | undefined;
  inject: (fault: Fault, cluster: string, endpoint: string) => Promise<void>;
}) {
  const { faults, clusters, cluster, timeline, inject } = props;
  const [chosen, setChosen] = useState<string>();
  const [busy, setBusy] = useState<string>();
  if (faults.length === 0) return null;
  const targets = clusters.flatMap(({ key, endpointIds }) =>
    endpointIds.map((id) => ({ key, id })),
  );
  const target =
    targets.find(({ id }) => id === chosen && (cluster === undefined || clusters.length > 1)) ??
    targets.find(({ key }) => key === cluster) ??
    targets[0];
  return (
    <aside class="faults" aria-label="Faults">
      {timeline ? <Story timeline={timeline} /> : null}
      <div class="inside">
        {targets.length === 0 ? (
          <p class="quiet">
            There is no private endpoint at the moment. Wait until it is created again.
          </p>
        ) : null}
        <label hidden={targets.length === 0}>
          Private endpoint{" "}
          <select
            value={target?.id}
            onChange={({ currentTarget }) => setChosen(currentTarget.value)}
          >
            {targets.map(({ key, id }) => (
              <option key={id} value={id}>
                {key}: {id.split("/").at(-1)}
              </option>
            ))}
          </select>
        </label>
        <ul>
          {faults.map((fault) => (
            <li key={fault.name}>
              <button
                type="button"
                class={fault.isDestructive ? "destructive" : ""}
                disabled={busy !== undefined || target === undefined}
                onClick={async () => {
                  if (target === undefined) return;
                  setBusy(fault.name);
                  await inject(fault, target.key, target.id);
                  setBusy(undefined);
                }}
              >
                {fault.isDestructive ? <span aria-hidden="true">⚠ </span> : null}
                {fault.label}
              </button>
              <span class="quiet small">
                {fault.isDestructive ? (
                  <span class="hidden">Clients lose their connection. </span>
                ) : null}
                {fault.about}
              </span>
            </li>
          ))}
        </ul>
      </div>
    </aside>
  );
}

function Story({ timeline: { label, cluster, entries, isOver } }: { timeline: Timeline }) {
  return (
    <div class="story" role="status" aria-label="What happened">
      <strong>
        {label}, {cluster}
      </strong>
      <ol>
        {entries.map(({ ms, text }) => (
          <li key={`${ms} ${text}`}>
            <span class="at">{duration(ms)}</span> <span>{text}</span>
          </li>
        ))}
      </ol>
      {isOver ? null : <span class="quiet">watching …</span>}
    </div>
  );
}
