import { createWriteStream } from "node:fs";
import { readyOf } from "@postern/azure-simulator/command/ready.ts";
import type { Simulator } from "@postern/azure-simulator/simulator.ts";
import type { Overview } from "@postern/core/dashboard/fleet.ts";
import type { Kind } from "@postern/core/kind.ts";
import { packageVersion } from "@postern/core/process/package-version.ts";
import { KubeClient } from "postern/kube/client.ts";
import { makeLog } from "postern/kube/log.ts";
import { managementKey } from "postern/operator/cluster-api.ts";
import { managementGroupIn } from "postern/operator/management-group.ts";
import { type Appliances, startAppliances } from "./appliances.ts";
import { startAzure, subscriptionsOf } from "./azure.ts";
import { applyScenario } from "./begin.ts";
import { startDashboard } from "./dashboard.ts";
import { type DataFolder, openDataFolder } from "./data-folder.ts";
import { fastClock } from "./fast-clock.ts";
import { identitiesOf } from "./identities.ts";
import { kubeconfigBeside } from "./kubeconfig.ts";
import { embeddedCluster, realCluster } from "./kubernetes-api.ts";
import { type LocalOperator, startOperator } from "./operator.ts";
import { OwedRoles } from "./owed-roles.ts";
import { refuseOthers } from "./own-objects.ts";
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
  /** Every cluster as the dashboard shows it. */
  overview(): Promise<Overview>;
  /** Kinds that the cluster serves in other versions than the one that is known here. */
  older: readonly Kind[];
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
  const { scenario, speed, clusters, kubeconfig } = settings;
  const version = packageVersion();
  const ports = portsFrom(settings.portBase);
  const { failed, fail } = failure();
  const stops: (() => Promise<void> | void)[] = [];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const real = settings.azure === "real";
    const realGroup = real ? await managementGroupIn(env, "omit --azure real") : undefined;
    const folder = openDataFolder(settings.data, settings.reset);
    stops.push(() => folder.close());

    const cluster = kubeconfig
      ? await realCluster(kubeconfig, signal)
      : await embeddedCluster({ folder, port: ports.kubernetes }, signal);
    stops.push(() => cluster.close());
    const { connection, issuer } = cluster;

    const given = { scenario, folder, speed, issuer, ports: ports.azure };
    const simulator = real ? undefined : await startAzure({ ...given, failed: fail });
    if (simulator) stops.push(() => simulator.close());
    const owed = new OwedRoles(folder);
    if (simulator) owed.settle(simulator);

    const client = new KubeClient(connection, { userAgent: `postern-local/${version}` });
    stops.push(() => client.close());
    if (kubeconfig && simulator) await refuseOthers(client, kubeconfig, signal);
    const ground = {
      folder,
      client,
      simulator,
      issuer: issuer.issuer,
      real: kubeconfig !== undefined,
    };
    const begun = await applyScenario(scenario, clusters, ground, signal);
    const { clusterApi } = begun.operator;
    const managementGroup = realGroup ?? begun.operator.managementGroup;

    const operatorSpeed = Math.min(speed, fastestOperator);
    const clock = fastClock(operatorSpeed);
    const identities = identitiesOf(begun.operator, simulator, folder);
    const log = createWriteStream(folder.file("operator.log"), { flags: "a", mode: 0o600 });
    log.on("error", (cause) => fail(folder.unwritable("operator.log", cause)));
    stops.push(() => void log.end());
    const tell = (line: string) => {
      // An event that was on its way when everything ended may fail after that, and say so.
      if (!log.writableEnded) log.write(line);
    };
    const operator = await startOperator(
      {
        connection,
        clusterApi,
        clock,
        speed: operatorSpeed,
        version,
        port: ports.operator,
        env: { ...env, ...identities.operatorEnvironment },
        cloudProvider: identities.cloudProvider(clock),
        shared: kubeconfig !== undefined,
        log: tell,
      },
      signal,
    );
    stops.push(() => operator.stop());

    const dashboard = await startDashboard({
      operator,
      simulator,
      version,
      port: ports.dashboard,
      userArm: identities.userArm,
      operatorId: identities.operatorId,
      owed,
      log: makeLog({ write: tell }),
      managementGroup,
      subscriptions: subscriptionsOf(simulator, managementGroup),
      management: managementKey(clusterApi),
    });
    stops.push(() => dashboard.close());

    const agentClock = fastClock(Math.min(speed, fastestAgent));
    const appliances =
      simulator && (await startAppliances(begun.appliances, simulator, agentClock));
    if (appliances) stops.push(() => appliances.stop());

    const ready: Ready = {
      pid: process.pid,
      version,
      scenario: scenario.file,
      data: folder.path,
      kubeconfig: folder.file("kubeconfig"),
      dashboard: { url: dashboard.url },
      kubernetes: { url: connection.server.origin },
      operator: { url: operator.url, log: folder.file("operator.log") },
      azure: simulator && (await readyOf(simulator, version, folder.file("azure-ca.pem"))),
      environment: identities.userEnvironment,
    };
    const text = kubeconfigBeside(cluster.config, {
      environment: identities.userEnvironment,
      operator: clusterApi,
      ...(identities.operatorId && { operatorPrincipal: identities.operatorId }),
      urls: {
        dashboard: dashboard.url,
        operator: operator.url,
        ...(simulator && { azure: simulator.url }),
      },
    });
    // It has a token in it.
    folder.write("kubeconfig", text, 0o600);
    // What is told of from here on, a token's key among it, must be there after a kill.
    simulator?.flush();
    folder.commit();
    return {
      ready,
      folder,
      operator,
      simulator,
      appliances,
      overview: dashboard.overview,
      failed,
      stop,
      older: begun.older,
      scenarioIgnored: begun.digest !== scenario.digest,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A promise that only ever fails, and who makes it. */
function failure(): { failed: Promise<never>; fail: (error: unknown) => void } {
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);
  return { failed, fail };
}
