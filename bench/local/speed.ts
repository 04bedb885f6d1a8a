import { randomBytes } from "node:crypto";
import { collectionPath, KubeClient } from "postern/kube/client.ts";
import { fromKubeconfigText } from "postern/kube/credentials.ts";
import { median } from "../report.ts";
import { cpuMs } from "./cpu.ts";
import type { Sample } from "./samples.ts";

/** What an API server did in one round. */
export interface Speed {
  /** Creations and patches answered in a second. */
  writesPerSecond: number;
  listSeconds: number;
  /** What the server used for one write and for one list: this tells more than time where others use the machine too. */
  writeCpuMs: number;
  listCpuMs: number;
}

/** An API server and its processes. */
export interface Server {
  kubeconfig: string;
  pids: readonly number[];
}

const atOnce = 16;

/** Make so many objects, change each, and list them. */
export async function speedOf(
  { kubeconfig, pids }: Server,
  { kind, object, change, subresource }: Sample,
  count: number,
  lists: number,
): Promise<Speed> {
  const client = new KubeClient(await fromKubeconfigText(kubeconfig, "the bench"));
  const namespace = `bench-${randomBytes(4).toString("hex")}`;
  const body = JSON.stringify({ metadata: { name: namespace } });
  await client.request("POST", "/api/v1/namespaces", { body });
  const started = performance.now();
  const cpuBefore = cpuMs(pids);
  const metadata = (n: number) => ({ namespace, name: `c-${n}` });
  await inTurns(count, (n) => client.create(kind, { metadata: metadata(n), ...object }));
  const where = subresource ? { subresource } : {};
  await inTurns(count, (n) => client.patch({ kind, ...metadata(n) }, "merge", change, where));
  const writesPerSecond = (2 * count) / ((performance.now() - started) / 1000);
  const cpuWritten = cpuMs(pids);
  const path = collectionPath(kind, namespace);
  const times: number[] = [];
  for (let i = 0; i < lists; i++) {
    const before = performance.now();
    await client.request("GET", path);
    times.push((performance.now() - before) / 1000);
  }
  client.close();
  return {
    writesPerSecond,
    listSeconds: median(times),
    writeCpuMs: (cpuWritten - cpuBefore) / (2 * count),
    listCpuMs: (cpuMs(pids) - cpuWritten) / lists,
  };
}

async function inTurns(count: number, act: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const one = async () => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}
