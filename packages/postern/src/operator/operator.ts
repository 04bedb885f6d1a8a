import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { type Clock, realClock } from "@postern/core/clock.ts";
import { keyOf } from "@postern/core/kind.ts";
import { subscriptionOf } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import type { Limits } from "../azure/limits.ts";
import { KubeClient } from "../kube/client.ts";
import { findConnection } from "../kube/credentials.ts";
import type { Check } from "../kube/health.ts";
import { Journal } from "../kube/journal.ts";
import { type LogFormat, type LogLevel, makeLog } from "../kube/log.ts";
import { Metrics } from "../kube/metrics.ts";
import { Runtime } from "../kube/runtime.ts";
import type { StepPolicy } from "../kube/step-policy.ts";
import { startTracing } from "../kube/trace.ts";
import { surviveUnhandledRejections } from "../kube/unhandled-rejections.ts";
import { azureFromEnvironment } from "./azure.ts";
import { type ClusterApiFlags, clusterApiSettings } from "./cluster-api.ts";
import { startDashboard } from "./dashboard.ts";
import { type ElectionFlags, leaseOf } from "./election.ts";
import { clusterApiFeatures, hostedFeatures } from "./features.ts";
import { installationOf } from "./installation.ts";
import { managementGroupIn, otherLoadBalancerGroupsIn } from "./management-group.ts";
import { startOwnMetrics } from "./own-metrics.ts";
import { type PageFlags, startPages } from "./pages.ts";
import { readTenantPolicy } from "./tenant-policy.ts";

export interface OperatorSettings extends ClusterApiFlags, ElectionFlags, PageFlags {
  kubeconfig?: string;
  context?: string;
  /** Only this namespace; all of them when absent. */
  namespace?: string;
  /** `control-plane` serves the control plane of one namespace, by the credential of the environment. */
  role: "all" | "management" | "control-plane" | "cluster-api";
  natSubnets: "shared" | "per-cluster";
  natPrefixLength: number;
  /** Tags of link services, beside Postern's own. */
  azureTags?: Tags;
  /** The file that says which namespace may use what. */
  tenantPolicy?: string;
  /** What may be written. Default: everything. */
  policy?: StepPolicy;
  /** Azure's limits, where they are not the usual ones. */
  azureLimit?: Partial<Limits>;
  /** The share of the idle read budget that drift checks use. */
  driftShare?: number;
  logFormat: LogFormat;
  logLevel: LogLevel;
  version: string;
}

/** Run the operator until the signal says stop: everything is wired here, and nothing is decided here. */
export async function runOperator(
  settings: OperatorSettings,
  signal: AbortSignal,
  env: NodeJS.ProcessEnv = process.env,
  clock: Clock = realClock,
): Promise<void> {
  const { role, version } = settings;
  const policy = await readTenantPolicy(settings.tenantPolicy);
  const clusterApi = await clusterApiSettings(settings, settings, env);
  const hosted = role !== "cluster-api";
  const managementGroup =
    hosted && role !== "control-plane" ? await managementGroupIn(env) : undefined;
  const lease = leaseOf(settings);
  const log = makeLog({ format: settings.logFormat, level: settings.logLevel });
  const metrics = new Metrics({ processMetrics: true });
  const stopTracing = await startTracing(env);
  const connection = await findConnection(settings, env);
  const client = new KubeClient(connection, {
    userAgent: `postern/${version}`,
    onRequest: metrics.requests(connection.server.host),
  });
  const { registry } = metrics;
  const journal = new Journal();
  const azure = azureFromEnvironment(env, {
    log,
    registry,
    clock,
    version,
    limits: settings.azureLimit,
    driftShare: settings.driftShare,
    onRequest: (request) =>
      journal.request(request.caller, { ...request, expectedMs: azure.arm.expectedMs(request) }),
  });
  const identity = `${env.POD_NAME ?? hostname()}_${randomBytes(4).toString("hex")}`;
  const installation = installationOf(client, { log, clock });
  let runtime: Runtime | undefined;
  const alive: Check = { name: "event-loop", check: () => ({ ok: true }) };
  const pages = await startPages(settings, {
    client,
    log,
    clock,
    registry,
    alive: () => [alive, ...(runtime?.healthChecks() ?? [])],
    ready: () => [
      ...(runtime?.readyChecks() ?? [installation.check]),
      // Each cluster of Cluster API brings its own credential: only its names in DNS need ours.
      ...(hosted || clusterApi?.dns ? azure.checks : []),
    ],
  });
  const dashboard =
    settings.dashboard &&
    (await startDashboard({
      listen: settings.dashboard,
      protection: pages.protectionOf(settings.dashboard),
      version,
      client,
      azure,
      journal,
      log,
      ownClient: env.AZURE_PLS_CLIENT_ID || env.AZURE_CLIENT_ID,
      runtime: () => runtime,
      subscriptions: managementGroup ? [subscriptionOf(managementGroup) ?? ""] : [],
      management: clusterApi && keyOf({ metadata: clusterApi.managementCluster }),
    }).catch((error: unknown) => {
      // It is of use without one.
      log.warn({ err: error }, "no dashboard");
    }));
  const stopSurviving = surviveUnhandledRejections({ log, metrics: () => metrics });
  let stopMetrics = () => {};
  try {
    const number = managementGroup && (await installation.read(signal));
    if (signal.aborted) return;
    const parts = { azure, client, registry, clock, env, policy };
    const management =
      managementGroup && number
        ? {
            managementGroup,
            otherLoadBalancerGroups: otherLoadBalancerGroupsIn(env, managementGroup),
            installation: number,
          }
        : undefined;
    const features = [
      ...(role === "cluster-api"
        ? []
        : hostedFeatures(
            { ...settings, azureTags: settings.azureTags ?? {}, role, management },
            parts,
          )),
      ...(clusterApi ? clusterApiFeatures(clusterApi, parts) : []),
    ];
    runtime = new Runtime({
      client,
      log,
      metrics,
      journal,
      clock,
      features,
      namespace: settings.namespace,
      policy: settings.policy,
      instance: identity,
      lease: lease && { namespace: connection.namespace, ...lease, identity },
      onElected: () => azure.forgetReads(),
      drift: azure.drift,
    });
    stopMetrics = startOwnMetrics(registry, { runtime, azure, clock, log, management });
    log.info(
      {
        version,
        role,
        server: connection.server.host,
        from: connection.source,
        pages: pages.url,
        ...(pages.metricsUrl && { metrics: pages.metricsUrl }),
        ...(dashboard && { dashboard: dashboard.url }),
        controllers: features.length,
        ...(settings.policy && { policy: settings.policy }),
        ...(clusterApi && { clusterApi }),
      },
      "started",
    );
    // Pages that were opened before there were caches begin to listen to them.
    if (dashboard) dashboard.renew();
    await runtime.run(signal);
  } finally {
    stopMetrics();
    if (dashboard) await dashboard.close();
    await pages.close();
    azure.close();
    client.close();
    await stopTracing();
    log.info({}, "stopped");
    stopSurviving();
  }
}
