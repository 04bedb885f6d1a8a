import type { AddressInfo } from "node:net";
import { isExplained } from "@postern/core/failure.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { limitConnections, serverLimits } from "@postern/core/server-limits.ts";
import type { ApplianceContext } from "../appliance/context.ts";
import { type Applied, type ApplyOptions, apply } from "../appliance/lifecycle.ts";
import type { agentMetrics } from "../appliance/metrics-text.ts";
import { type StayOptions, stayInBackendPool } from "../appliance/stay.ts";
import { reportPackets } from "../appliance/tunnel-links.ts";
import { http } from "../azure/http.ts";
import { notifier } from "./notify.ts";

/** The options of `postern agent run` beside the pool. */
export interface RunSettings extends ApplyOptions, StayOptions {
  metricsListen?: { host: string; port: number } | undefined;
}

/** What happened, for whoever reads the output: one when it has joined, one when it has left. */
export type RunEvent =
  | { event: "joined"; applied: Applied; metricsPort?: number }
  | { event: "left"; because: string };

/** Join, stay and leave, and tell systemd and the reader of the output. */
export async function runAgent(
  ctx: ApplianceContext,
  metrics: ReturnType<typeof agentMetrics>,
  pool: string,
  settings: RunSettings,
  report: (event: RunEvent) => void,
): Promise<void> {
  const notify = notifier(ctx.log);
  let applied: Applied | undefined;
  const text = async () => {
    await reportPackets(ctx, applied?.links);
    return metrics.text();
  };
  // An appliance must not leave its pool for a bug elsewhere in the agent.
  const survive = (error: unknown) => {
    metrics.unhandledRejection();
    const known = error instanceof Error ? error.stack : String(error);
    ctx.log.warn({ error: known }, "unhandled rejection");
  };
  const served = settings.metricsListen && (await serveMetrics(settings.metricsListen, text));
  process.on("unhandledRejection", survive);
  try {
    applied = await apply(ctx, pool, settings).catch((error: unknown) => {
      // Asked to stop before it had joined, it has undone what it did, and that is no failure.
      if (!ctx.signal.aborted || !isExplained(error)) throw error;
      ctx.log.info({ code: error.explain().reason }, "stopped before it was registered");
      return undefined;
    });
    if (applied === undefined) return report({ event: "left", because: "stopped" });
    report({ event: "joined", applied, ...(served && { metricsPort: served.port }) });
    const [left] = await Promise.all([
      stayInBackendPool(ctx, applied, { ...settings, leaving: () => notify.stopping() }),
      notify.ready(`member of ${applied.config.backendPoolName}`),
    ]);
    report({ event: "left", because: left.because === "event" ? left.event.type : left.because });
  } finally {
    process.off("unhandledRejection", survive);
    notify.close();
    served?.close();
  }
}

async function serveMetrics(
  { host, port }: { host: string; port: number },
  text: () => Promise<string>,
): Promise<{ port: number; close(): void }> {
  const server = http.createServer(serverLimits, (request, response) => {
    if (request.url !== "/metrics") return response.writeHead(404).end();
    text()
      .then((body) =>
        response.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(body),
      )
      .catch(() => response.destroy());
  });
  limitConnections(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(new UsageError(`--metrics-listen ${host}:${port} is not available: ${error.code}`)),
    );
    server.listen(port, host, resolve);
  });
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { port: (server.address() as AddressInfo).port, close };
}
