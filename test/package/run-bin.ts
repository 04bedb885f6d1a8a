import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

export const root = join(import.meta.dirname, "../..");

export interface Ended {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  /** The bin to run, where it is not the one of this checkout. */
  bin?: string;
  /** What Node is told before the bin. */
  node?: string[];
  /** Where it runs, where that is not here. */
  cwd?: string;
  /** Called with the process id when the process has printed something. */
  onOutput?: (pid: number) => void;
}

/** Runs the real bin as a person would, and gives back all that it left. */
export async function runBin(args: string[], options: RunOptions = {}): Promise<Ended> {
  const bin = options.bin ?? join(root, "packages/postern/bin/postern.js");
  const child = spawn(process.execPath, [...(options.node ?? []), bin, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  });
  child.stdout.once("data", () => options.onOutput?.(child.pid ?? 0));
  const [stdout, stderr, [exitCode, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { exitCode, signal, stdout, stderr };
}

/** Makes the Node that runs the bin say that it is an old one. The Node that the bin starts tells the truth. */
export const oldNode = [
  "--import",
  `data:text/javascript,${encodeURIComponent(
    `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } });`,
  )}`,
];

/** Makes Node name every file that it loads, on standard error. */
export const namingEachLoad = [
  "--import",
  `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from "node:module";
    registerHooks({ load(url, context, next) { console.error(url); return next(url, context); } });
  `)}`,
];
