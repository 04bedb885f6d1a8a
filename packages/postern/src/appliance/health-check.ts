import type { Clock } from "@postern/core/clock.ts";
import { http, https } from "../azure/http.ts";
import { type Broken, type Received, send } from "../azure/transport.ts";

/** What knows whether the appliance is healthy: an address of HTTP, HTTPS or TCP, or a command for the shell. */
export type HealthSource = URL | { command: string };

/** The health of the appliance: the status for a probe, which counts as healthy with 200 only, and what was observed. */
export interface Health {
  status: number;
  why: string;
}

/** Ask for the health of the appliance. What goes wrong is an answer too: 503. */
export type HealthCheck = () => Promise<Health>;

/** Half of what Azure gives a probe at its shortest interval, so that one that hangs is reported in time. */
export const answerMs = 2_500;
/** How long the result of a command counts. Whoever connects often must not start a process each time. */
const freshMs = 1_000;
const longestWhy = 200;

const healthy: Health = { status: 200, why: "healthy" };
const inTime = `no answer within ${answerMs / 1_000} s`;

/** The check of a source. It ends with the signal, and so does a command that is running. */
export function healthCheck(clock: Clock, source: HealthSource, signal: AbortSignal): HealthCheck {
  if (!(source instanceof URL)) return commandCheck(clock, source.command, signal);
  if (source.protocol === "tcp:") return () => connectTo(clock, source, signal);
  return () => ask(clock, source, signal);
}

async function ask(clock: Clock, url: URL, signal: AbortSignal): Promise<Health> {
  // Like a probe, it does not verify the certificate of the appliance.
  const agent =
    url.protocol === "http:"
      ? new http.Agent({ keepAlive: false })
      : new (https().Agent)({ keepAlive: false, rejectUnauthorized: false });
  const headers = { "user-agent": "postern-agent" };
  const sending = { method: "GET", url, headers, agent, clock, timeoutMs: answerMs, signal };
  const answer = await send(sending);
  if (!("status" in answer)) return unhealthy(reasonOf(answer));
  return { status: answer.status, why: `it answers ${answer.status}` };
}

function reasonOf({ broken, cause }: Exclude<Received | Broken, Received>): string {
  const { code } = cause as NodeJS.ErrnoException;
  return code ?? (broken === "lost" || broken === "cut" ? "the connection was closed" : inTime);
}

function connectTo(clock: Clock, { hostname, port }: URL, signal: AbortSignal): Promise<Health> {
  return new Promise((resolve) => {
    const net = process.getBuiltinModule("node:net");
    const host = hostname.replace(/^\[(.*)\]$/, "$1");
    const socket = net.connect({ host, port: Number(port) });
    const end = (health: Health) => {
      cancel();
      signal.removeEventListener("abort", stop);
      socket.destroy();
      resolve(health);
    };
    const stop = () => end(unhealthy("stopped"));
    const cancel = clock.after(answerMs, () => end(unhealthy(inTime)), { limit: true });
    signal.addEventListener("abort", stop, { once: true });
    socket.once("connect", () => end(healthy));
    socket.once("error", (error: NodeJS.ErrnoException) =>
      end(unhealthy(error.code ?? error.message)),
    );
  });
}

/** At most one process at a time: those who ask while it runs share its result. */
function commandCheck(clock: Clock, command: string, signal: AbortSignal): HealthCheck {
  let last: { health: Health; at: number } | undefined;
  let running: Promise<Health> | undefined;
  let exited = true;
  return () => {
    if (running !== undefined) return running;
    if (last !== undefined && clock.now() - last.at < freshMs) return Promise.resolve(last.health);
    // One that cannot be killed, such as for a disk that hangs, must not become many.
    if (!exited) return Promise.resolve(unhealthy("the command still runs"));
    exited = false;
    const exit = () => {
      exited = true;
    };
    running = runCommand(clock, command, signal, exit).then((health) => {
      last = { health, at: clock.now() };
      running = undefined;
      return health;
    });
    return running;
  };
}

function runCommand(
  clock: Clock,
  command: string,
  signal: AbortSignal,
  exited: () => void,
): Promise<Health> {
  return new Promise((resolve) => {
    // Loaded here: most agents have no command.
    const { spawn } = process.getBuiltinModule("node:child_process");
    // In a process group of its own, so that what the shell has started ends with it.
    const child = spawn("/bin/sh", ["-c", command], {
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    });
    let output = "";
    child.stderr.on("data", (chunk: Buffer) => {
      output = `${output}${chunk}`.slice(-longestWhy);
    });
    const kill = () => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended already.
      }
    };
    const end = (health: Health) => {
      cancel();
      signal.removeEventListener("abort", stop);
      child.stderr.destroy();
      kill();
      resolve(health);
    };
    const stop = () => end(unhealthy("stopped"));
    const late = () => end(unhealthy(`the command did not end within ${answerMs / 1_000} s`));
    const cancel = clock.after(answerMs, late, { limit: true });
    signal.addEventListener("abort", stop, { once: true });
    child.once("error", (error: NodeJS.ErrnoException) => {
      exited();
      end(unhealthy(error.code ?? error.message));
    });
    child.once("exit", (code, killedBy) => {
      exited();
      const line = output.trim().split("\n").at(-1);
      const how = `the command ended with ${code ?? killedBy}${line ? `: ${line}` : ""}`;
      end(code === 0 ? healthy : unhealthy(how));
    });
  });
}

function unhealthy(why: string): Health {
  return { status: 503, why };
}
