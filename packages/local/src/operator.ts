import type { Clock } from "@postern/core/clock.ts";
import { openPolicy } from "@postern/core/tenant-policy.ts";
import type { Arm } from "postern/azure/arm.ts";
import type { Budgets } from "postern/azure/budget.ts";
import { KubeClient } from "postern/kube/client.ts";
import type { Connection } from "postern/kube/credentials.ts";
import { servePages } from "postern/kube/health.ts";
import { Journal } from "postern/kube/journal.ts";
import { makeLog } from "postern/kube/log.ts";
import { Metrics } from "postern/kube/metrics.ts";
import { type MakeFeature, Runtime } from "postern/kube/runtime.ts";
import { surviveUnhandledRejections } from "postern/kube/unhandled-rejections.ts";
import { azureFromEnvironment } from "postern/operator/azure.ts";
import { type ClusterApiFlags, clusterApiSettings } from "postern/operator/cluster-api.ts";
import { clusterApiFeatures, hostedFeatures } from "postern/operator/features.ts";
import { installationOf } from "postern/operator/installation.ts";
import { managementGroupIn } from "postern/operator/management-group.ts";
import { startOwnMetrics } from "postern/operator/own-metrics.ts";
import { cloudProviderFeature } from "./cloud-provider/feature.ts";
import { portInUse } from "./local-error.ts";
import { isOwned } from "./own-objects.ts";
import type { ScenarioOperator } from "./scenario.ts";

/** How the operator of local mode is set up: as `postern operator` is, by an environment. */
export interface OperatorOptions {
  connection: Connection;
  env: NodeJS.ProcessEnv;
  clusterApi: ClusterApiFlags;
  clock: Clock;
  /** How many times faster than the machine's its clock runs. */
  speed: number;
  version: string;
  port: number;
  /** What stands for the cloud provider; without it nobody gives Services their addresses. */
  cloudProvider?: { arm: Arm; at: NonNullable<ScenarioOperator["loadBalancers"]> } | undefined;
  /** Whether the cluster is somebody's: then Services are served only in namespaces that we made. */
  shared: boolean;
  /** Told every line of its log. */
  log: (line: string) => void;
}

/** An operator at work in this process. */
export interface LocalOperator {
  readonly client: KubeClient;
  readonly runtime: Runtime;
  journal: Journal;
  /** Where /healthz, /readyz and /metrics are. */
  url: string;
  /** How many requests it has sent to the Kubernetes API. */
  requests(): number;
  /** Its ARM client. */
  readonly arm: Arm;
  /** What Azure lets it ask for, and what waits for that. */
  budgets(): ReturnType<Budgets["states"]>;
  /** End it in the middle of its work, as a kill would, and start another one when `whileDown` has ended. */
  restart(whileDown?: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Ends its work; what is under way in Azure goes on there. */
  stop(): Promise<void>;
}

/** Start the controllers and wait until they know what there is. */
export async function startOperator(
  options: OperatorOptions,
  signal: AbortSignal,
): Promise<LocalOperator> {
  const journal = new Journal();
  const counted = { requests: 0 };
  let run = await begin(options, journal, counted, signal);
  let restarting: Promise<void> | undefined;
  const pages = await servePages({
    listen: { host: "127.0.0.1", port: options.port },
    health: {
      alive: () => run.runtime.healthChecks(),
      ready: () => [...run.runtime.readyChecks(), ...run.azure.checks],
      details: true,
    },
    metrics: () => run.metrics.registry,
  }).catch(async (error: unknown) => {
    await run.end();
    const { cause } = error as { cause?: NodeJS.ErrnoException };
    if (cause?.code !== "EADDRINUSE") throw error;
    throw portInUse(`cannot listen on 127.0.0.1:${options.port}`, "the operator", cause);
  });
  const stopSurviving = surviveUnhandledRejections({
    log: makeLog({ write: options.log }),
    metrics: () => run.metrics,
  });
  return {
    get client() {
      return run.client;
    },
    get runtime() {
      return run.runtime;
    },
    get arm() {
      return run.azure.arm;
    },
    journal,
    url: pages.url,
    requests: () => counted.requests,
    budgets: () => run.azure.arm.budgets.states(),
    restart(whileDown) {
      // Two who kill it at once kill one operator: a second one beside the first would never be ended.
      restarting ??= (async () => {
        await run.end();
        await whileDown?.(signal);
        run = await begin(options, journal, counted, signal);
      })().finally(() => {
        restarting = undefined;
      });
      return restarting;
    },
    async stop() {
      await restarting?.catch(() => undefined);
      await run.end();
      await pages.close();
      options.cloudProvider?.arm.close();
      stopSurviving();
    },
  };
}

/** One life of the operator: nothing of it but the journal is known to the next. */
async function begin(
  options: OperatorOptions,
  journal: Journal,
  counted: { requests: number },
  signal: AbortSignal,
) {
  const { connection, env, clock, version } = options;
  const log = makeLog({ write: options.log });
  const metrics = new Metrics({ processMetrics: true });
  const count = metrics.requests(connection.server.host);
  const client = new KubeClient(connection, {
    userAgent: `postern-local/${version}`,
    onRequest(request) {
      counted.requests++;
      count(request);
    },
  });
  const { registry } = metrics;
  const azure = azureFromEnvironment(env, {
    log,
    registry,
    clock,
    version,
    onRequest: (request) => {
      const expected = azure.arm.expectedMs(request);
      const expectedMs = expected === undefined ? undefined : expected / options.speed;
      journal.request(request.caller, { ...request, expectedMs });
    },
  });
  const managementGroup = await managementGroupIn(env);
  const installation = (await installationOf(client, { log, clock }).read(signal)) ?? "";
  const management = { managementGroup, installation };
  // Everything on this machine is one person's.
  const parts = { azure, client, registry, clock, env, policy: openPolicy };
  const clusterApi = await clusterApiSettings(options.clusterApi, { role: "all" }, env);
  const features: MakeFeature[] = [
    ...hostedFeatures(
      {
        role: "all",
        natSubnets: "shared",
        natPrefixLength: 24,
        management,
      },
      parts,
    ),
    ...(clusterApi ? clusterApiFeatures(clusterApi, parts) : []),
  ];
  const { cloudProvider } = options;
  if (cloudProvider) {
    const { arm, at } = cloudProvider;
    const place = {
      managementGroup,
      subnetId: at.subnet,
      location: at.location,
      machines: at.machines,
      ...(options.shared && { within: isOwned }),
    };
    features.push(cloudProviderFeature({ arm: (reconcile) => arm.for(reconcile), ...place }));
  }
  const { drift } = azure;
  const runtime = new Runtime({ client, log, metrics, journal, clock, features, drift });
  const stopMetrics = startOwnMetrics(registry, { runtime, azure, clock, log, management });
  const ending = new AbortController();
  const ran = runtime.run(ending.signal);
  await Promise.race([ran, Promise.all(runtime.caches.all().map((cache) => cache.known))]);
  return {
    client,
    runtime,
    metrics,
    azure,
    async end() {
      stopMetrics();
      ending.abort(new Error("stopping"));
      await ran;
      azure.close();
      client.close();
    },
  };
}
