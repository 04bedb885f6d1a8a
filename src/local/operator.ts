import type { Arm } from "../azure/arm.ts";
import { KubeClient } from "../kube/client.ts";
import type { Connection } from "../kube/credentials.ts";
import { serveHealth } from "../kube/health.ts";
import { Journal } from "../kube/journal.ts";
import { makeLog } from "../kube/log.ts";
import { Metrics } from "../kube/metrics.ts";
import { type MakeFeature, Runtime } from "../kube/runtime.ts";
import type { Clock } from "../model/clock.ts";
import { azureFromEnvironment } from "../operator/azure.ts";
import { type ClusterApiFlags, clusterApiSettings } from "../operator/cluster-api.ts";
import { clusterApiFeatures, hostedFeatures } from "../operator/features.ts";
import { installationOf } from "../operator/installation.ts";
import { managementGroupIn } from "../operator/management-group.ts";
import { cloudProviderFeature } from "./cloud-provider/controller.ts";
import type { ScenarioOperator } from "./scenario.ts";

/** How the operator of local mode is set up: as `postern operator` is, by an environment. */
export interface OperatorOptions {
  connection: Connection;
  env: NodeJS.ProcessEnv;
  clusterApi: ClusterApiFlags;
  clock: Clock;
  version: string;
  port: number;
  /** What stands for the cloud provider; without it nobody gives Services their addresses. */
  cloudProvider?: { arm: Arm; at: NonNullable<ScenarioOperator["loadBalancers"]> } | undefined;
  /** Told every line of its log. */
  log: (line: string) => void;
}

/** An operator at work in this process. */
export interface LocalOperator {
  client: KubeClient;
  runtime: Runtime;
  journal: Journal;
  /** Where /healthz, /readyz and /metrics are. */
  url: string;
  /** How many requests it has sent to the Kubernetes API. */
  requests(): number;
  /** Ends its work; what is under way in Azure goes on there. */
  stop(): Promise<void>;
}

/** Start the controllers and wait until they know what there is. */
export async function startOperator(
  options: OperatorOptions,
  signal: AbortSignal,
): Promise<LocalOperator> {
  const { connection, env, clock, version } = options;
  const log = makeLog({ write: options.log });
  const metrics = new Metrics({ processMetrics: true });
  const count = metrics.requests(connection.server.host);
  let requests = 0;
  const client = new KubeClient(connection, {
    userAgent: `postern-local/${version}`,
    onRequest(request) {
      requests++;
      count(request);
    },
  });
  const { registry } = metrics;
  const azure = azureFromEnvironment(env, { log, registry, clock, version });
  const managementGroup = await managementGroupIn(env);
  const installation = (await installationOf(client, { log, clock }).read(signal)) ?? "";
  const parts = { azure, client, registry, clock, env };
  const clusterApi = await clusterApiSettings(options.clusterApi, { role: "all" }, env);
  const features: MakeFeature[] = [
    ...hostedFeatures(
      {
        role: "all",
        natSubnets: "shared",
        natPrefixLength: 24,
        management: { managementGroup, installation },
      },
      parts,
    ),
    ...(clusterApi ? clusterApiFeatures(clusterApi, parts) : []),
  ];
  const { cloudProvider } = options;
  if (cloudProvider) {
    const { arm, at } = cloudProvider;
    const place = { managementGroup, subnetId: at.subnet, location: at.location };
    features.push(cloudProviderFeature({ arm: (pass) => arm.for(pass), ...place }));
  }
  const journal = new Journal();
  const runtime = new Runtime({ client, log, metrics, journal, clock, features });
  const pages = await serveHealth({
    listen: { host: "127.0.0.1", port: options.port },
    health: () => runtime.healthChecks(),
    ready: () => [...runtime.readyChecks(), ...azure.checks],
    metrics: registry,
  });
  const ending = new AbortController();
  const ran = runtime.run(ending.signal);
  await Promise.race([ran, Promise.all(runtime.caches.all().map((cache) => cache.filled))]);
  return {
    client,
    runtime,
    journal,
    url: pages.url,
    requests: () => requests,
    async stop() {
      ending.abort(new Error("stopping"));
      await ran;
      await pages.close();
      azure.close();
      cloudProvider?.arm.close();
      client.close();
    },
  };
}
