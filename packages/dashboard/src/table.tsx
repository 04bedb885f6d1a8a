import { useState } from "preact/hooks";
import { Age } from "./ages.tsx";
import { addressOf, type Column, columns } from "./place.ts";
import { HealthMark, Name, Words } from "./state.tsx";
import type { ClusterSummary } from "./types.ts";

const titles: Record<Column, string> = {
  name: "Cluster",
  access: "Access",
  health: "Health",
  cause: "Cause",
  since: "Since",
  checked: "Checked",
  endpoint: "Endpoint",
  service: "Link service",
};

/** More rows than anybody reads cost time at every change. */
const mostRows = 200;

/** Many clusters: one dense row each. */
export function Table(props: {
  clusters: readonly ClusterSummary[];
  observedAt: string;
  sort: Column;
  descending: boolean;
  sortBy: (column: Column) => void;
}) {
  const { clusters, observedAt, sort, descending, sortBy } = props;
  const [shown, setShown] = useState(mostRows);
  const left = clusters.length - shown;
  return (
    <>
      <div class="scroll card">
        <table class="clusters">
          <thead>
            <tr>
              {columns.map((column) => (
                <th
                  key={column}
                  scope="col"
                  aria-sort={
                    sort === column ? (descending ? "descending" : "ascending") : undefined
                  }
                >
                  <button type="button" onClick={() => sortBy(column)}>
                    {titles[column]}
                    <span aria-hidden="true">
                      {sort === column ? (descending ? " ↓" : " ↑") : ""}
                    </span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {clusters.slice(0, shown).map((each) => (
              <Row key={each.key} cluster={each} observedAt={observedAt} />
            ))}
          </tbody>
        </table>
      </div>
      {left > 0 ? (
        <button type="button" onClick={() => setShown(clusters.length)}>
          Show {left} more
        </button>
      ) : null}
    </>
  );
}

function Row({ cluster, observedAt }: { cluster: ClusterSummary; observedAt: string }) {
  const { key, access, health, causes, since, endpoints, linkServices } = cluster;
  const [cause] = causes;
  const begun = cause?.since ?? since;
  return (
    <tr class={`cluster ${health}`}>
      <th scope="row">
        <a href={addressOf({ cluster: key })}>
          <Name text={key} />
        </a>
      </th>
      <td>{access}</td>
      <td>
        <HealthMark health={health} of={key} />
      </td>
      <td class="cause" title={cause?.message}>
        <Words text={cause?.message ?? ""} />
      </td>
      <td class="time">{begun ? <Age time={begun} as="bare" /> : ""}</td>
      <td class="time">
        <Age time={observedAt} />
      </td>
      <td class="fact">{endpoints.join(", ")}</td>
      <td class="fact">
        {linkServices.map((name, at) => (
          <span key={name}>
            {at === 0 ? "" : ", "}
            <Name text={name} />
          </span>
        ))}
      </td>
    </tr>
  );
}
