import { azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { type Row, rowsOf } from "./clusters.ts";
import type { Local, LocalSettings } from "./local.ts";
import { changeLines, stepLine } from "./story.ts";
import { drawLive } from "./terminal.ts";

const lookEveryMs = 100;

/** Show how things go until the answer is called: live on a terminal, one line a step elsewhere. */
export function reportProgress(local: Local, settings: LocalSettings): () => void {
  const { stdout } = process;
  const rows = () => rowsIn(local);
  const whole = wholeness(local, rows);
  if (!stdout.isTTY) return reportLines(local, settings, rows, whole);
  const title = settings.scenario.file.replace(/.*\//, "").replace(/\.ya?ml$/, "");
  return drawLive(stdout, process.env, () => ({
    title,
    seconds: process.uptime(),
    rows: rows(),
    note: whole(),
  }));
}

/** Every cluster and appliance as the operator and the agents know them. */
export function rowsIn({ operator, appliances, clusterApi }: Local): Row[] {
  const { caches } = operator.runtime;
  const { managementClusterNamespace: within, managementClusterName: name } = clusterApi;
  return rowsOf({
    hostedClusters: caches.of(hostedCluster).list(),
    azureClusters: name === undefined ? [] : caches.of(azureCluster).list(),
    managementCluster: name === undefined ? undefined : `${within}/${name}`,
    appliances: appliances?.list() ?? [],
  });
}

function reportLines(
  { operator }: Local,
  { clusters }: LocalSettings,
  rows: () => Row[],
  whole: () => string | undefined,
): () => void {
  const { stdout } = process;
  const hostedClusters = () => operator.runtime.caches.of(hostedCluster).list();
  const unlisten = operator.journal.listen((step) => {
    // With hundreds of clusters the steps of each tell nobody anything.
    if (step.outcome === undefined && clusters === 0)
      stdout.write(stepLine(step, process.uptime(), hostedClusters()));
  });
  let before = new Map<string, Row["state"]>();
  let told: string | undefined;
  const timer = setInterval(() => {
    const now = rows();
    for (const line of changeLines(before, now, process.uptime())) stdout.write(line);
    before = new Map(now.map((row) => [row.name, row.state]));
    if (told === undefined) {
      told = whole();
      if (told !== undefined) stdout.write(`${told}\n`);
    }
  }, lookEveryMs);
  return () => {
    unlisten();
    clearInterval(timer);
  };
}

/** What it took until everything was available for the first time; undefined before. */
function wholeness({ operator, simulator }: Local, rows: () => Row[]): () => string | undefined {
  let text: string | undefined;
  return () => {
    const all = text === undefined ? rows() : [];
    if (text !== undefined || all.length === 0) return text;
    if (!all.every(({ state }) => state === "available")) return undefined;
    const memory = Math.round(process.memoryUsage.rss() / 1_048_576);
    const azure = simulator ? `, ${simulator.log.last} to Azure` : "";
    text = `Everything is available after ${process.uptime().toFixed(1)} s; ${memory} MB, ${operator.requests()} requests to Kubernetes${azure}.`;
    return text;
  };
}
