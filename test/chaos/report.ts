import { readFile, writeFile } from "node:fs/promises";
import { bounds, type Outcome, wrongMinutes } from "./storm.ts";

/** One line about a storm. */
export function line({ seed, faults, figures }: Outcome): string {
  const { layout, entries, kills, freezes, apiServerKills, leaderChanges, samples, parts } =
    figures;
  const { armRequests, armFaults, kubeRequests, kubeFaults, calmMinutes, realSeconds } = figures;
  return [
    `seed ${seed} ${faults.length === 0 ? "passed" : "FAILED"} (${layout}, ${figures.speed}x)`,
    `${entries} entries, ${kills} kills, ${freezes} freezes, ${apiServerKills} kills of the API server, ${leaderChanges} changes of leader`,
    `Azure ${armRequests} requests in the storm, ${armFaults} of them struck`,
    `Kubernetes ${kubeRequests} requests, ${kubeFaults} of them struck`,
    `${samples} samples, a condition wrong for at most ${figures.longestWrongMinutes.toFixed(1)} min`,
    `well again after ${calmMinutes.toFixed(1)} min`,
    `${realSeconds.toFixed(0)} s (${Object.entries(parts)
      .map(([name, seconds]) => `${name} ${seconds.toFixed(0)}`)
      .join(", ")})`,
  ].join(" · ");
}

const heading = "## Storms";

/** Write the section about storms into a file of results; the one that it had before is replaced. */
export async function writeSummary(file: string, outcomes: readonly Outcome[]): Promise<void> {
  const before = await readFile(file, "utf8").catch(() => "# Results\n");
  const at = before.indexOf(`${heading}\n`);
  const next = at < 0 ? -1 : before.indexOf("\n## ", at + heading.length);
  const head = at < 0 ? `${before.trimEnd()}\n\n` : before.slice(0, at);
  const tail = next < 0 ? "" : before.slice(next);
  await writeFile(file, `${head}${section(outcomes)}${tail}`);
}

function section(outcomes: readonly Outcome[]): string {
  const sum = (of: (outcome: Outcome) => number) =>
    outcomes.reduce((all, each) => all + of(each), 0).toLocaleString("en");
  const most = (of: (outcome: Outcome) => number) => Math.max(...outcomes.map(of)).toFixed(1);
  const failed = outcomes.filter(({ faults }) => faults.length > 0);
  const seeds = outcomes.map(({ seed }) => seed);
  const rows: [string, string][] = [
    ["date", new Date().toISOString().slice(0, 10)],
    ["seeds", `${Math.min(...seeds)} to ${Math.max(...seeds)}: ${outcomes.length}`],
    ["passed", String(outcomes.length - failed.length)],
    ["failed", failed.length === 0 ? "0" : failed.map(({ seed }) => seed).join(", ")],
    ["actions and faults planned", sum(({ figures }) => figures.entries)],
    ["processes killed", sum(({ figures }) => figures.kills)],
    ["leaders frozen", sum(({ figures }) => figures.freezes)],
    ["API server killed", sum(({ figures }) => figures.apiServerKills)],
    ["changes of leader", sum(({ figures }) => figures.leaderChanges)],
    ["requests to Azure during the storms", sum(({ figures }) => figures.armRequests)],
    ["of them struck by a fault", sum(({ figures }) => figures.armFaults)],
    ["requests to Kubernetes", sum(({ figures }) => figures.kubeRequests)],
    ["of them struck by a fault", sum(({ figures }) => figures.kubeFaults)],
    ["samples of conditions", sum(({ figures }) => figures.samples)],
    [
      "longest time that a condition was wrong",
      `${most(({ figures }) => figures.longestWrongMinutes)} simulated minutes of ${wrongMinutes} allowed`,
    ],
    [
      "longest time until all was well",
      `${most(({ figures }) => figures.calmMinutes)} simulated minutes of ${bounds.calmMinutes} allowed`,
    ],
    [
      "real time",
      `${(outcomes.reduce((all, { figures }) => all + figures.realSeconds, 0) / 60).toFixed(0)} minutes`,
    ],
  ];
  return [
    heading,
    "",
    `\`npm run chaos\`: operators, agents and a stand-in for the cloud provider as separate processes, on the simulator and the real`,
    `kube-apiserver. What is checked after each storm is in [test/chaos](../test/chaos/README.md).`,
    "",
    "| | |",
    "|---|---|",
    ...rows.map(([name, value]) => `| ${name} | ${value} |`),
    "",
  ].join("\n");
}
