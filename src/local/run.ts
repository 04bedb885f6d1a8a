import { UsageError } from "../cli/usage-error.ts";
import { azureCluster } from "../model/kinds/azure-cluster.ts";
import { hostedCluster } from "../model/kinds/hosted-cluster.ts";
import { rowsOf } from "./clusters.ts";
import type { LocalOptions } from "./command.ts";
import { type Local, type LocalSettings, startLocal } from "./local.ts";
import { ReadyFile } from "./ready.ts";
import { readScenario } from "./scenario.ts";
import { changeLines, stepLine } from "./story.ts";
import { drawLive } from "./terminal.ts";

/** Everything must be over by then, whatever hangs. */
const longestStopMs = 2_800;

/** Run local mode until Ctrl-C: everything is started in local.ts, and told of here. */
export async function runLocal(options: LocalOptions): Promise<void> {
  const settings = settingsOf(options);
  const readyFile = options.readyFile === undefined ? undefined : new ReadyFile(options.readyFile);
  const { signal, stopped } = untilSignal();
  const startedAt = performance.now();
  const local = await Promise.race([startLocal(settings, process.env, signal), stopped]);
  if (local === undefined) return;
  const remove = () => readyFile?.remove();
  process.once("exit", remove);
  try {
    readyFile?.write(local.ready);
    process.stdout.write(greeting(local, settings, (performance.now() - startedAt) / 1000));
    const quiet = tellStory(local, settings, startedAt);
    await Promise.race([stopped, local.failed]).finally(quiet);
  } finally {
    remove();
    process.off("exit", remove);
    await local.stop();
  }
}

function settingsOf(options: LocalOptions): LocalSettings {
  const { azure, clusters, reset = false, data } = options;
  const scenario = readScenario(options.scenario ?? (azure === "real" ? "empty" : "demo"));
  if (reset && data === undefined)
    throw new UsageError("--reset empties the folder of --data, which is not given");
  if (azure === "real" && clusters > 0)
    throw new UsageError("--clusters makes networks in Azure, which is done in the simulator only");
  return { ...options, scenario, reset, data };
}

/** The first signal asks everything to stop, the second ends the process at once. */
function untilSignal(): { signal: AbortSignal; stopped: Promise<undefined> } {
  const stopping = new AbortController();
  const stopped = new Promise<undefined>((resolve) => {
    const stop = () => {
      if (stopping.signal.aborted) process.exit(130);
      stopping.abort(new Error("asked to stop"));
      setTimeout(() => process.exit(0), longestStopMs).unref();
      resolve(undefined);
    };
    process.on("SIGINT", stop);
    process.on("SIGTERM", stop);
  });
  return { signal: stopping.signal, stopped };
}

function greeting(local: Local, { speed }: LocalSettings, seconds: number): string {
  const { ready, folder, scenarioIgnored } = local;
  const rows = [
    ["Kubernetes", ready.kubernetes.url],
    ["kubeconfig", ready.kubeconfig],
    ...(ready.azure
      ? [["Azure", `${ready.azure.resourceManagerHttp} · ${speed} times as fast`]]
      : []),
    ["operator", `${ready.operator.url} · log in ${ready.operator.log}`],
    ["data", folder.kept ? folder.path : "kept nowhere: it ends with this process"],
  ];
  const lines = rows.map(([name = "", value = ""]) => `  ${name.padEnd(11)} ${value}`);
  const ignored = scenarioIgnored
    ? `The scenario ${ready.scenario} was not applied: ${folder.path} was begun with another one.\nStart with --reset to begin anew with this one.\n\n`
    : "";
  return `${ignored}Postern is ready after ${seconds.toFixed(1)} s; stop it with Ctrl-C.
${lines.join("\n")}

Try in another terminal:
  export KUBECONFIG=${ready.kubeconfig}
  kubectl get hostedclusters,azureprivatelinkservices -A
  npx postern tree

`;
}

/** Show how things go: live on a terminal, one line a step elsewhere. The answer ends it. */
function tellStory(
  local: Local,
  { scenario, clusters }: LocalSettings,
  startedAt: number,
): () => void {
  const { operator, appliances, clusterApi, simulator } = local;
  if (operator === undefined) return () => undefined;
  const { caches } = operator.runtime;
  const seconds = () => (performance.now() - startedAt) / 1000;
  const hostedClusters = () => caches.of(hostedCluster).list();
  const { managementClusterNamespace: within, managementClusterName: name } = clusterApi;
  const rows = () =>
    rowsOf({
      hostedClusters: hostedClusters(),
      azureClusters: name === undefined ? [] : caches.of(azureCluster).list(),
      managementCluster: name === undefined ? undefined : `${within}/${name}`,
      appliances: appliances?.list() ?? [],
    });
  const isWhole = () => rows().every(({ state }) => state === "available");
  const whole = once(isWhole, async () => {
    const kube = await operator.requests();
    const azure = simulator ? `, ${simulator.log.last} to Azure` : "";
    const memory = Math.round(process.memoryUsage.rss() / 1_048_576);
    return `Everything is available after ${seconds().toFixed(1)} s; ${memory} MB, ${kube} requests to Kubernetes${azure}.\n`;
  });
  if (process.stdout.isTTY) {
    const title = scenario.file.replace(/.*\//, "").replace(/\.ya?ml$/, "");
    const end = drawLive(process.stdout, process.env, () => ({
      title,
      seconds: seconds(),
      rows: rows(),
    }));
    return end;
  }
  const unlisten = operator.journal.listen((step) => {
    // With hundreds of clusters the steps of each tell nobody anything.
    if (step.outcome === undefined && clusters === 0)
      process.stdout.write(stepLine(step, seconds(), hostedClusters()));
  });
  let before = new Map(rows().map((row) => [row.name, "working" as const]));
  const timer = setInterval(() => {
    const now = rows();
    for (const line of changeLines(before, now, seconds())) process.stdout.write(line);
    before = new Map(now.map((row) => [row.name, row.state])) as typeof before;
    void whole();
  }, 100);
  return () => {
    unlisten();
    clearInterval(timer);
  };
}

/** Write something the first time that a thing holds. */
function once(holds: () => boolean, text: () => Promise<string>): () => Promise<void> {
  let over = false;
  return async () => {
    if (over || !holds()) return;
    over = true;
    process.stdout.write(await text());
  };
}
