import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuMs } from "./cpu.ts";

/** What one run of `postern local` took. */
export interface Run {
  readySeconds: number;
  /** What it had used by then: time says little where others use the machine too. */
  readyCpuSeconds: number;
  /** From the ready file until everything was available. */
  availableSeconds: number;
  /** The most that it had at any time. */
  memoryMB: number;
  kubernetesRequests: number;
  azureRequests: number;
  stopSeconds: number;
}

const bin = join(import.meta.dirname, "../../packages/postern/bin/postern.js");
const limitMs = 900_000;

/** Run it until everything is available, and stop it. With `cache`, compiled sources are found and left there. */
export async function runLocal(args: readonly string[], cache: string): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), "postern-bench-"));
  const readyFile = join(folder, "ready.json");
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [bin, "local", "--port-base", "0", "--ready-file", readyFile, ...args],
    { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, NODE_COMPILE_CACHE: cache } },
  );
  try {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (more: string) => {
      text += more;
    });
    await until(child, () => existsSync(readyFile));
    const ready = performance.now();
    const readyCpuSeconds = cpuMs([child.pid ?? 0]) / 1000;
    await until(child, () => text.includes("Everything is available"));
    const available = performance.now();
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    child.kill("SIGINT");
    await once(child, "exit");
    const [, kubernetes, azure] = /(\d+) requests to Kubernetes, (\d+) to Azure/.exec(text) ?? [];
    return {
      readySeconds: (ready - started) / 1000,
      readyCpuSeconds,
      availableSeconds: (available - ready) / 1000,
      memoryMB: Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024,
      kubernetesRequests: Number(kubernetes),
      azureRequests: Number(azure),
      stopSeconds: (performance.now() - available) / 1000,
    };
  } finally {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

async function until(child: ChildProcess, holds: () => boolean): Promise<void> {
  const end = performance.now() + limitMs;
  while (!holds()) {
    if (child.exitCode !== null) throw new Error("postern local ended");
    if (performance.now() > end) throw new Error("it did not come about");
    await sleep(10);
  }
}
