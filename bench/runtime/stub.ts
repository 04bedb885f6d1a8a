import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client, Done } from "./clients.ts";
import { stubTemplate } from "./probes.ts";

/** What the stub did in one run. */
export interface Served {
  cpuSeconds: number;
  requests: number;
  patches: number;
}

const namespace = "default";

/** One run on a stub of its own: the same objects in the same state every time. */
export async function onStub(
  program: string,
  client: Client,
  n: number,
  concurrency: number,
): Promise<Done & { served: Served }> {
  const folder = await mkdtemp(join(tmpdir(), "postern-stub-"));
  const kubeconfig = join(folder, "kubeconfig");
  const stub = spawn(program, ["-n", String(n), "-kubeconfig", kubeconfig], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(stub, "close");
  let out = "";
  const ready = new Promise<void>((resolve, reject) => {
    stub.once("error", reject);
    stub.stdout.on("data", (text: Buffer) => {
      out += text;
      if (out.startsWith("ready\n")) resolve();
    });
    ended.then(() => reject(new Error("the stub did not start")), reject);
  });
  try {
    stub.stdin.end(stubTemplate(namespace));
    await ready;
    const done = await client({ kubeconfig, namespace, n, concurrency });
    stub.kill("SIGTERM");
    await ended;
    return { ...done, served: JSON.parse(out.slice("ready\n".length)) as Served };
  } finally {
    stub.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
}
