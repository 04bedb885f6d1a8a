import type { BucketLine, BudgetLine } from "./types.ts";

const bursts = { reads: 250, writes: 200, deletes: 200 } as const;

/** What Azure still lets us ask for, and what waits for it; the identity that has least left. */
export function Budget({ lines }: { lines: readonly BudgetLine[] }) {
  if (lines.length === 0) return null;
  return (
    <details class="budget">
      <summary>
        Azure requests: <Least lines={lines} />
      </summary>
      <table>
        <caption>What Azure lets each identity ask for now, and what waits for it</caption>
        <thead>
          <tr>
            <th scope="col">identity</th>
            <th scope="col">subscription</th>
            <th scope="col">reads</th>
            <th scope="col">writes</th>
            <th scope="col">deletes</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={`${line.identity} ${line.subscription}`}>
              <td>{line.identity.slice(0, 8)}</td>
              <td>{line.subscription.slice(0, 8)}</td>
              {(["reads", "writes", "deletes"] as const).map((kind) => (
                <td key={kind}>
                  {line[kind].remaining} of {bursts[kind]}
                  {waits(line[kind]) > 0 ? `, ${waits(line[kind])} wait` : ""}
                  {line[kind].parkedForMs > 0 ? `, throttled` : ""}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function Least({ lines }: { lines: readonly BudgetLine[] }) {
  const writes = Math.min(...lines.map((line) => line.writes.remaining));
  const waiting = lines.reduce(
    (sum, line) => sum + waits(line.reads) + waits(line.writes) + waits(line.deletes),
    0,
  );
  return (
    <>
      <meter
        min={0}
        max={bursts.writes}
        low={30}
        value={writes}
        aria-label="writes that are left"
      />{" "}
      {writes} writes left{waiting > 0 ? `, ${waiting} requests wait` : ""}
    </>
  );
}

function waits({ waiting }: BucketLine): number {
  return Object.values(waiting).reduce((sum, each) => sum + each, 0);
}
