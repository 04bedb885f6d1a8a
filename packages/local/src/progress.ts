import type { JournalStep } from "@postern/core/dashboard/journal-step.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { type Row, rowsOf } from "./clusters.ts";
import type { Local, LocalSettings } from "./local.ts";
import { type Overviews, watchOverviews } from "./overviews.ts";
import { changeLines, clusterOf, stepLine } from "./story.ts";
import { drawLive } from "./terminal.ts";
import { wholeness } from "./wholeness.ts";

const lookEveryMs = 100;

/** Show how things go until the answer is called: live on a terminal, one line a step elsewhere. */
export function reportProgress(local: Local, settings: LocalSettings): () => void {
  const { stdout } = process;
  const overviews = watchOverviews(local);
  const rows = () => rowsIn(local, overviews);
  const whole = wholeness(() => costsOf(local));
  const stop = stdout.isTTY
    ? drawLive(stdout, process.env, () => {
        const now = rows();
        return {
          title: settings.scenario.file.replace(/.*\//, "").replace(/\.ya?ml$/, ""),
          seconds: process.uptime(),
          rows: now,
          notes: [...unreadIn(overviews), ...whole(now)],
        };
      })
    : reportLines(local, settings, rows, whole);
  return () => {
    overviews.stop();
    stop();
  };
}

/** Every cluster as the dashboard shows it, and every appliance as its agent knows it. */
function rowsIn({ operator, appliances }: Local, overviews: Overviews): Row[] {
  const hostedClusters = operator.runtime.caches.of(hostedCluster).list();
  const running = operator.journal.steps().filter(({ outcome }) => outcome === "running");
  const operations: Map<string, JournalStep[]> = Map.groupBy(running, ({ key }) =>
    clusterOf(key, hostedClusters),
  );
  return rowsOf({
    clusters: overviews.latest()?.picture.clusters,
    appliances: appliances?.list() ?? [],
    operations,
    failure: overviews.failure(),
    now: Date.now(),
  });
}

/** What could not be read, a missing CRD among it: nobody should take that for none. */
function unreadIn(overviews: Overviews): string[] {
  const unread = overviews.latest()?.picture.unread ?? [];
  return unread.map(({ what, why }) => `Not read: ${what}. ${why}`);
}

function reportLines(
  { operator }: Local,
  { clusters }: LocalSettings,
  rows: () => Row[],
  whole: (rows: readonly Row[]) => string[],
): () => void {
  const { stdout } = process;
  const hostedClusters = () => operator.runtime.caches.of(hostedCluster).list();
  const unlisten = operator.journal.listen((step) => {
    // With hundreds of clusters the steps of each tell nobody anything.
    if (step.outcome === undefined && clusters === 0)
      stdout.write(stepLine(step, process.uptime(), hostedClusters()));
  });
  let before = new Map<string, Row["state"]>();
  let last = "";
  const timer = setInterval(() => {
    const now = rows();
    for (const line of changeLines(before, now, process.uptime())) stdout.write(line);
    before = new Map(now.map((row) => [row.name, row.state]));
    const note = whole(now).join("\n");
    if (note !== "" && note !== last) stdout.write(`${note}\n`);
    last = note;
  }, lookEveryMs);
  return () => {
    unlisten();
    clearInterval(timer);
  };
}

/** What it took so far. */
function costsOf({ operator, simulator }: Local): string {
  const memory = Math.round(process.memoryUsage.rss() / 1_048_576);
  const azure = simulator ? `, ${simulator.log.last} to Azure` : "";
  return `${process.uptime().toFixed(1)} s; ${memory} MB, ${operator.requests()} requests to Kubernetes${azure}`;
}
