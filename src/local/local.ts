import { createWriteStream } from "node:fs";
import { packageVersion } from "../cli/package-version.ts";
import { readyOf } from "../cli/simulator-ready.ts";
import { KubeClient } from "../kube/client.ts";
import { realClock } from "../model/clock.ts";
import type { ClusterApiFlags } from "../operator/cluster-api.ts";
import type { Simulator } from "../simulator/simulator.ts";
import { type Appliances, startAppliances } from "./appliances.ts";
import { applicationNamed, environmentOf, roadOf, startAzure, subscriptionsOf } from "./azure.ts";
import { startDashboard } from "./dashboard.ts";
import { type DataFolder, openDataFolder } from "./data-folder.ts";
import { fastClock } from "./fast-clock.ts";
import { installKinds } from "./install.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { embeddedCluster, realCluster } from "./kubernetes-api.ts";
import { moreClusters } from "./more-clusters.ts";
import { makeObjects } from "./objects.ts";
import { type LocalOperator, startOperator } from "./operator.ts";
import { portsFrom } from "./ports.ts";
import type { Ready } from "./ready.ts";
import type { Scenario } from "./scenario.ts";

/** What the options of `postern local` say. */
export interface LocalSettings {
  scenario: Scenario;
  data?: string | undefined;
  reset: boolean;
  portBase: number;
  speed: number;
  kubeconfig?: string | undefined;
  azure: "simulator" | "real";
  clusters: number;
}

/** Everything on one machine, at work. */
export interface Local {
  ready: Ready;
  folder: DataFolder;
  operator: LocalOperator;
  /** Undefined with a real Azure. */
  simulator: Simulator | undefined;
  appliances: Appliances | undefined;
  clusterApi: ClusterApiFlags;
  /** Whether the folder was begun with another scenario, and this one was not applied. */
  scenarioIgnored: boolean;
  /** Ends with an error where the state cannot be kept any more. */
  failed: Promise<never>;
  stop(): Promise<void>;
}

/** However fast Azure is, controllers that look at everything every few milliseconds would do nothing else. */
const fastestOperator = 50;
/** An agent looks for events every second of its own. */
const fastestAgent = 10;

/** Start all parts, each with what it needs of those before it. Where one cannot start, those before it are stopped. */
export async function startLocal(
  settings: LocalSettings,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Local> {
  const { scenario, speed, reset, clusters } = settings;
  const version = packageVersion();
  const ports = portsFrom(settings.portBase);
  const stops: (() => Promise<void> | void)[] = [];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);
  try {
    const folder = openDataFolder(settings.data, reset);
    stops.push(() => folder.close());
    const begun = folder.begun();
    const scenarioIgnored = begun !== undefined && begun.scenario !== scenario.text;

    const cluster = settings.kubeconfig
      ? await realCluster(settings.kubeconfig, signal)
      : await embeddedCluster({ folder, port: ports.kubernetes, reset }, signal);
    stops.push(() => cluster.close());
    const client = new KubeClient(cluster.connection, { userAgent: `postern-local/${version}` });
    stops.push(() => client.close());
    const kindsKnown = installKinds(client, realClock, signal);
    kindsKnown.catch(() => undefined);

    const simulator =
      settings.azure === "real"
        ? undefined
        : await startAzure({
            ...{ scenario, folder, speed, reset, ports: ports.azure },
            issuer: cluster.issuer,
            failed: fail,
            bug: fail,
          });
    if (simulator) stops.push(() => simulator.close());
    await kindsKnown;

    if (!scenarioIgnored) {
      const more = moreClusters(scenario, (begun?.clusters ?? 0) + 1, clusters);
      if (simulator) more.prepare(simulator, cluster.issuer.issuer);
      if (begun === undefined) await makeObjects(client, scenario.objects, signal);
      await makeObjects(client, more.objects, signal);
      folder.begin({
        scenario: scenario.text,
        clusters: Math.max(clusters, begun?.clusters ?? 0),
      });
    }

    const { operator: wanted } = scenario;
    const { clusterApi, loadBalancers } = wanted;
    const as = (name: string): Record<string, string> =>
      simulator
        ? environmentOf(
            simulator,
            folder,
            applicationNamed(simulator, name),
            wanted.managementGroup,
          )
        : {};
    const clock = fastClock(Math.min(speed, fastestOperator));
    const log = createWriteStream(folder.file("operator.log"), { flags: "a", mode: 0o600 });
    const operator = await startOperator(
      {
        connection: cluster.connection,
        env: { ...env, ...as(wanted.identity) },
        clusterApi,
        clock,
        version,
        port: ports.operator,
        cloudProvider:
          simulator && loadBalancers
            ? {
                arm: roadOf(simulator, applicationNamed(simulator, loadBalancers.identity), clock),
                at: loadBalancers,
              }
            : undefined,
        log: (line) => log.write(line),
      },
      signal,
    );
    stops.push(async () => {
      await operator.stop();
      log.end();
    });

    const dashboard = await startDashboard({
      operator,
      person: simulator
        ? roadOf(simulator, applicationNamed(simulator, wanted.person), realClock)
        : undefined,
      subscriptions: subscriptionsOf(simulator, wanted.managementGroup),
      port: ports.dashboard,
      version,
      simulator,
      operatorId: simulator && applicationNamed(simulator, wanted.identity).objectId,
      managementGroup: wanted.managementGroup,
    });
    stops.push(() => dashboard.close());

    const appliances =
      simulator &&
      (await startAppliances(
        scenario.appliances,
        simulator,
        fastClock(Math.min(speed, fastestAgent)),
      ));
    if (appliances) stops.push(() => appliances.stop());

    const environment = as(wanted.person);
    const kubeconfig = folder.file("kubeconfig");
    const urls = {
      dashboard: dashboard.url,
      operator: operator.url,
      ...(simulator && { azure: simulator.url }),
    };
    writeKubeconfig(kubeconfig, cluster.config, { environment, operator: clusterApi, urls });
    const ready: Ready = {
      pid: process.pid,
      version,
      scenario: scenario.file,
      data: folder.path,
      kubeconfig,
      dashboard: { url: dashboard.url },
      kubernetes: { url: cluster.connection.server.origin },
      operator: { url: operator.url, log: folder.file("operator.log") },
      azure: simulator && (await readyOf(simulator, version, folder.file("azure-ca.pem"))),
      environment,
    };
    // What it tells of, a token's key among it, must be there after a kill.
    simulator?.keep();
    return {
      ...{ ready, folder, operator, simulator, appliances, clusterApi, scenarioIgnored, failed },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
