import { setTimeout as sleep } from "node:timers/promises";
import { collectionPath, KubeClient } from "postern/kube/client.ts";
import { fromKubeconfig } from "postern/kube/credentials.ts";
import { findOrBuild } from "../../test/setup/binaries.ts";
import { startControlPlane } from "../../test/setup/control-plane.ts";
import type { Client, Done } from "./clients.ts";
import { numberOf, probe, probeDefinition, probeKind } from "./probes.ts";

/** A real API server with the bench's kind, and runs on it. */
export interface RealServer {
  /** One run on new objects in a namespace of its own, which are removed afterwards. */
  run(client: Client, n: number, concurrency: number): Promise<Done>;
  /** How many watches the server has ended because their client was too slow. */
  endedWatches(): Promise<number>;
  stop(): Promise<void>;
}

const seeders = 16;

export async function startReal(
  tell: (line: string) => void,
  flags: string[] = [],
): Promise<RealServer> {
  const found = await findOrBuild(tell);
  if ("missing" in found) throw new Error(found.missing);
  const plane = await startControlPlane(found.binaries, { flags });
  const kubeconfig = plane.address.kubeconfig;
  const client = new KubeClient(await fromKubeconfig(kubeconfig), {
    maxSockets: seeders,
    requestTimeoutMs: 120_000,
  });
  const post = (path: string, body: unknown) =>
    client.request("POST", path, {
      body: JSON.stringify(body),
      contentType: "application/json",
    });
  await post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", probeDefinition);
  await untilServed(client);
  let runs = 0;
  return {
    async run(runClient, n, concurrency) {
      const namespace = `bench-${++runs}`;
      await post("/api/v1/namespaces", { metadata: { name: namespace } });
      let next = 0;
      const seed = async () => {
        while (next < n) await client.create(probeKind, probe(namespace, numberOf(next++)));
      };
      await Promise.all(Array.from({ length: seeders }, seed));
      try {
        return await runClient({ kubeconfig, namespace, n, concurrency });
      } finally {
        await client.request("DELETE", collectionPath(probeKind, namespace));
      }
    },
    async endedWatches() {
      const text = await client.request("GET", "/metrics", { accept: "text/plain" });
      let sum = 0;
      for (const [, value] of text.matchAll(/^apiserver_terminated_watchers_total\{.*\} (\S+)$/gm))
        sum += Number(value);
      return sum;
    },
    async stop() {
      client.close();
      await plane.stop();
    },
  };
}

/** The kind is served a moment after it is made, and the first create in the two seconds after that is held. */
async function untilServed(client: KubeClient): Promise<void> {
  const give = Date.now() + 30_000;
  for (;;) {
    try {
      await client.request("GET", collectionPath(probeKind, "default"));
      return;
    } catch (error) {
      if (Date.now() > give) throw error;
      await sleep(100);
    }
  }
}
