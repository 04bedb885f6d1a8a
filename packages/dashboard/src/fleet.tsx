import { Age } from "./ages.tsx";
import { healthOrder, markOf } from "./state.tsx";
import type { BucketLine, BudgetLine, ClusterSummary, Fleet as Data, Health } from "./types.ts";

const bursts = { reads: 250, writes: 200, deletes: 200 } as const;
const kinds = ["reads", "writes", "deletes"] as const;

/** The whole fleet in one line: clusters by health, the leader, the queue, and what Azure still allows. */
export function Fleet(props: {
  clusters: readonly ClusterSummary[];
  fleet: Data;
  only: Health | undefined;
  filter: (health: Health | undefined) => void;
}) {
  const { clusters, fleet, only, filter } = props;
  const { operator, queued, running, errors, operations, budgets } = fleet;
  return (
    <section class="fleet card" aria-label="Fleet">
      <fieldset class="filters" aria-label="Show only clusters that are">
        {healthOrder.map((health) => {
          const count = clusters.filter((each) => each.health === health).length;
          // The one that is pressed stays, or nobody could release it when its last cluster has changed.
          return count === 0 && only !== health ? null : (
            <button
              key={health}
              type="button"
              class={`health ${health}`}
              data-count={count}
              aria-pressed={only === health}
              onClick={() => filter(only === health ? undefined : health)}
            >
              <span aria-hidden="true">{markOf(health)}</span> {count} {health}
            </button>
          );
        })}
      </fieldset>
      <dl>
        <Fact name="Leader">
          {operator.state === "lost" ? (
            <span class="health Unavailable">
              none
              {operator.since ? (
                <>
                  {" "}
                  for <Age time={operator.since} as="bare" />
                </>
              ) : null}
            </span>
          ) : (
            (operator.holder ?? "not known")
          )}
        </Fact>
        <Fact name="Queue">
          {queued} waiting, {running} running
        </Fact>
        <Fact name="Operations in Azure">{operations}</Fact>
        <Fact name="Failed reconciles (10 min)">{errors}</Fact>
      </dl>
      {budgets.length > 0 ? <Budget lines={budgets} /> : null}
    </section>
  );
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** What Azure lets each identity request now, and what waits for it. */
function Budget({ lines }: { lines: readonly BudgetLine[] }) {
  const least = lines.toSorted((a, b) => a.writes.remaining - b.writes.remaining)[0];
  const waiting = lines.reduce(
    (sum, line) => sum + kinds.reduce((of, kind) => of + waits(line[kind]), 0),
    0,
  );
  const throttled = lines.some((line) => kinds.some((kind) => line[kind].parkedForMs > 0));
  return (
    <details class="budget">
      <summary>
        Azure requests: {throttled ? <strong>throttled</strong> : null} at least{" "}
        {least?.writes.remaining} of {bursts.writes} writes left
        {waiting > 0 ? `, ${waiting} waiting` : ""}
      </summary>
      <div class="scroll">
        <table>
          <caption>Requests that Azure allows each identity now (token bucket)</caption>
          <thead>
            <tr>
              {["identity", "subscription", ...kinds].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr key={`${line.identity} ${line.subscription}`}>
                <td title={line.identity}>{line.name}</td>
                <td title={line.subscription}>{line.subscription.slice(0, 8)}</td>
                {kinds.map((kind) => (
                  <td key={kind}>
                    {line[kind].remaining} of {bursts[kind]}
                    {waits(line[kind]) > 0 ? `, ${waits(line[kind])} waiting` : ""}
                    {line[kind].parkedForMs > 0
                      ? `, throttled for ${Math.ceil(line[kind].parkedForMs / 1_000)} s`
                      : ""}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function waits({ waiting }: BucketLine): number {
  return Object.values(waiting).reduce((sum, each) => sum + each, 0);
}
