// A packet appliance that puts itself behind a Gateway load balancer: it joins the backend pool "inspect" when it starts, answers
// the health probes by its own health, and leaves on SIGTERM, or when Azure ends the machine. Run it with Node 24 on an Azure
// machine whose identity has the role in docs/guides/appliances.md: node main.mts
import type { RequestListener } from "node:http";
import {
  ApplianceError,
  type ApplianceLog,
  AzureError,
  applianceContext,
  apply,
  customCloud,
  defaultCredential,
  stayInBackendPool,
} from "postern/appliance";

const { env } = process;
// To try it on the simulator: where its metadata service and its Resource Manager answer.
const { IMDS_HOST: imdsHost, RESOURCE_MANAGER: resourceManager } = env;
const isSimulated = resourceManager !== undefined;

const print = (line: string) => process.stdout.write(`${line}\n`);
const log: ApplianceLog = {
  debug: () => undefined,
  info: (fields, message) => print(`info: ${message} ${JSON.stringify(fields)}`),
  warn: (fields, message) => print(`warning: ${message} ${JSON.stringify(fields)}`),
};

// In place of this: what moves packets from one tunnel to the other, and knows whether it still does.
const firewall = { device: "", isHealthy: () => true };

// Gets every health probe once the machine has joined. Only 200 is healthy.
const answerProbe: RequestListener = (_request, response) => {
  response.writeHead(firewall.isHealthy() ? 200 : 503, { connection: "close" }).end();
};

const stopping = new AbortController();
process.once("SIGTERM", () => stopping.abort(new Error("SIGTERM")));

const ctx = applianceContext({
  imdsHost,
  ...(isSimulated && { cloud: customCloud({ resourceManager }) }),
  // The environment, else workload identity, else the machine's managed identity.
  credential: defaultCredential({ env }),
  signal: stopping.signal,
  log,
});

try {
  const applied = await apply(ctx, "inspect", {
    health: { port: Number(env.HEALTH_PORT ?? 8080), handOver: answerProbe },
    tunnel: isSimulated ? "none" : "find",
  });
  firewall.device = applied.interface?.name ?? "";
  const { config, registration } = applied;
  print(`joined ${config.backendPoolName} by ${registration.by} as ${config.privateIP}`);

  const left = await stayInBackendPool(ctx, applied, { leaveMs: 20_000 });
  print(`left: ${left.because === "event" ? left.event.type : left.because}`);
} catch (error) {
  if (!(error instanceof ApplianceError || error instanceof AzureError)) throw error;
  // A code to decide by, the HTTP status if there was an answer, and what to do.
  print(`${error.code} (status ${error.status}): ${error.hint}`);
  process.exitCode = stopping.signal.aborted ? 0 : 1;
} finally {
  ctx.close();
}
