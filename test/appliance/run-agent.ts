import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { realClock } from "@postern/core/clock.ts";
import { onTestFinished } from "vitest";
import { type GatewayWorld, gatewayBody, gatewayWorld, withProbe } from "./gateway-world.ts";

const bin = join(import.meta.dirname, "../../packages/postern/bin/postern.js");

/** A world on the real clock, because the program has no other. One failed probe is enough for its load balancer. */
export function realWorld(
  probe: { port?: number; protocol?: string; intervalInSeconds?: number } = {},
): Promise<GatewayWorld> {
  const lb = withProbe(gatewayBody(), { probeThreshold: 1, ...probe });
  return gatewayWorld({ clock: realClock, lb });
}

/** What an agent on a machine of a world is told. */
export async function wordsFor({ simulator }: GatewayWorld, id: string): Promise<string[]> {
  const imds = await simulator.machines.find(id);
  const where = ["--imds", imds?.url ?? "", "--resource-manager", simulator.url];
  return ["--pool", "inspect", ...where, "--output", "json"];
}

/** Where a test's agent answers probes, for an appliance that is always healthy. */
export const healthy = ["--health-listen", "127.0.0.1:0", "--health-command", "true"];

/** How the real program is started. */
export interface StartOptions {
  env?: Record<string, string>;
  /** What stands before it, such as `ip netns exec NAME`. */
  before?: readonly string[];
}

/** Start the real program; it ends with the test. */
export function start(args: readonly string[], { env = {}, before = [] }: StartOptions = {}) {
  const [program = "", ...words] = [...before, process.execPath, bin, "agent", ...args];
  const child = spawn(program, words, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** All that it left. */
export async function endOf(child: ReturnType<typeof start>) {
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { stdout, stderr, exitCode: exitCode as number | null };
}

/** Run it to its end. */
export function ran(args: readonly string[], options: StartOptions = {}) {
  return endOf(start(args, options));
}

/** The next line of the output, as JSON. */
export async function lineOf(child: ReturnType<typeof start>): Promise<Record<string, unknown>> {
  let read = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    read += String(chunk);
    if (read.includes("\n")) return JSON.parse(read);
  }
  throw new Error("it ended without a word");
}
