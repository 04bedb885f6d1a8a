import { isExplained } from "@postern/core/failure.ts";
import { fastClock } from "@postern/local/fast-clock.ts";
import { runAgent } from "postern/agent/run.ts";
import { applianceContext } from "postern/appliance/context.ts";
import { agentMetrics } from "postern/appliance/metrics-text.ts";
import { customCloud } from "postern/azure/clouds.ts";

/** What a storm gives the agent of one appliance. */
export interface GivenAgent {
  name: string;
  imdsHost: string;
  resourceManager: string;
  pool: string;
  speed: number;
}

const { name, imdsHost, resourceManager, pool, speed } = JSON.parse(
  process.argv[2] ?? "",
) as GivenAgent;
const write = (level: string) => (fields: object, msg: string) =>
  void process.stderr.write(`${JSON.stringify({ level, ...fields, msg })}\n`);
const metrics = agentMetrics();
const ctx = applianceContext({
  imdsHost,
  cloud: customCloud({ resourceManager }),
  clock: fastClock(speed),
  log: { debug: () => undefined, info: write("info"), warn: write("warn") },
  metrics,
  userAgent: name,
});
try {
  await runAgent(ctx, metrics, pool, { tunnel: "none" }, ({ event }) => write("info")({}, event));
} catch (error) {
  // systemd starts an agent again that has failed, and so does the storm.
  if (!isExplained(error)) throw error;
  write("warn")(error.explain(), "failed");
  process.exitCode = 1;
} finally {
  ctx.close();
}
