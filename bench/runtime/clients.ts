import { spawn } from "node:child_process";
import type { GoPrograms } from "./programs.ts";

/** What a client says when all its work is done. */
export interface Done {
  /** From the start of the runtime, before its first list, until every write was answered and seen again. */
  seconds: number;
  /** The part of it before the first reconcile. */
  listed: number;
  cpuSeconds: number;
  peakBytes: number;
  written: number;
  /** Writes that ended in an error. */
  failed: number;
  passes: number;
}

/** The same work for both. */
export interface Work {
  kubeconfig: string;
  namespace: string;
  n: number;
  concurrency: number;
}

export type Client = (work: Work) => Promise<Done>;

/** The flags that we recommend for the operator; bench/README.md has what each of them was seen to do. */
export const nodeFlags = ["--max-semi-space-size=2", "--heap-growing-percent=20"];

/** What memory is compared at: half of Go's default, so that it is not Go's garbage that is measured. */
export const goGc = "50";

const longestMs = 15 * 60_000;
let runs = 0;

export function ourClient(path: string): Client {
  return (work) => run(process.execPath, [...nodeFlags, path], "--", work, {});
}

export function goClient(programs: GoPrograms): Client {
  return (work) => run(programs.controller, [], "-", work, { GOGC: goGc });
}

function run(
  program: string,
  first: string[],
  dash: string,
  work: Work,
  env: Record<string, string>,
): Promise<Done> {
  const args = Object.entries({
    n: work.n,
    namespace: work.namespace,
    concurrency: work.concurrency,
    // A lease of its own for each run: nobody waits for that of the run before.
    lease: `bench-${process.pid}-${++runs}`,
  }).flatMap(([name, value]) => [`${dash}${name}`, String(value)]);
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...first, ...args], {
      env: { ...process.env, KUBECONFIG: work.kubeconfig, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: longestMs,
    });
    let out = "";
    let log = "";
    child.stdout.on("data", (text: Buffer) => {
      out += text;
    });
    child.stderr.on("data", (text: Buffer) => {
      log = (log + text).slice(-4000);
    });
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code !== 0) return reject(new Error(`${program} ended: ${code ?? signal}\n${log}`));
      const done = JSON.parse(out) as Done;
      if (done.written < work.n) return reject(new Error(`${program} wrote ${done.written}`));
      resolve(done);
    });
  });
}
