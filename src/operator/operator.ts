import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { KubeClient } from "../kube/client.ts";
import { findConnection } from "../kube/credentials.ts";
import { type Check, serveHealth } from "../kube/health.ts";
import { type LogFormat, type LogLevel, makeLog } from "../kube/log.ts";
import { Metrics } from "../kube/metrics.ts";
import { Runtime } from "../kube/runtime.ts";
import { startTracing } from "../kube/trace.ts";
import { realClock } from "../model/clock.ts";
import { azureFromEnvironment } from "./azure.ts";
import { controllers } from "./controllers.ts";

export interface OperatorSettings {
  kubeconfig?: string;
  context?: string;
  /** Only this namespace; all of them when absent. */
  namespace?: string;
  listen: { host: string; port: number };
  leaderElect: boolean;
  leaseNamespace?: string;
  leaseName: string;
  logFormat: LogFormat;
  logLevel: LogLevel;
  version: string;
}

/** Run the operator until the signal says stop: everything is wired here, and nothing is decided here. */
export async function runOperator(
  settings: OperatorSettings,
  signal: AbortSignal,
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const clock = realClock;
  const log = makeLog({ format: settings.logFormat, level: settings.logLevel });
  const metrics = new Metrics({ processMetrics: true });
  const stopTracing = await startTracing(env);
  const connection = await findConnection(settings, env);
  const client = new KubeClient(connection, {
    userAgent: `postern/${settings.version}`,
    onRequest: metrics.requests(connection.server.host),
  });
  const azure = azureFromEnvironment(env, {
    log,
    registry: metrics.registry,
    clock,
    version: settings.version,
  });
  const identity = `${env.POD_NAME ?? hostname()}_${randomBytes(4).toString("hex")}`;
  const namespace = settings.leaseNamespace ?? connection.namespace;
  const features = controllers({ arm: azure.arm });
  const runtime = new Runtime({
    client,
    log,
    metrics,
    clock,
    features,
    namespace: settings.namespace,
    instance: identity,
    lease: settings.leaderElect ? { namespace, name: settings.leaseName, identity } : undefined,
  });
  const alive: Check = { name: "event-loop", check: () => ({ ok: true }) };
  const pages = await serveHealth({
    listen: settings.listen,
    health: () => [alive, ...runtime.healthChecks()],
    ready: () => [...runtime.readyChecks(), ...azure.checks],
    metrics: metrics.registry,
  });
  log.info(
    {
      version: settings.version,
      server: connection.server.host,
      from: connection.source,
      pages: pages.url,
      controllers: features.length,
    },
    "started",
  );
  try {
    await runtime.run(signal);
  } finally {
    await pages.close();
    azure.arm.close();
    client.close();
    await stopTracing();
    log.info({}, "stopped");
  }
}
