import type { ServerResponse } from "node:http";
import type { Kind, KubeObject } from "@postern/core/kind.ts";
import { Caches } from "postern/kube/caches.ts";
import { KubeClient } from "postern/kube/client.ts";
import { silentLog } from "postern/kube/log.ts";
import { onTestFinished } from "vitest";
import { serve } from "../loopback.ts";

type WithKind = KubeObject & { kind: string };

/** Caches that watch an API server with these objects, and what sends them a change. */
export async function watchedCaches(
  kinds: readonly Kind[],
  objects: readonly WithKind[],
  namespace?: string,
) {
  const watches = new Map<string, ServerResponse>();
  const { url } = await serve(({ url: path }, response) => {
    const kind = kinds.find(({ plural }) => path.includes(`/${plural}?`));
    const events = objects
      .filter((each) => each.kind === kind?.kind)
      .map((each) => ({ type: "ADDED", object: each }));
    const annotations = { "k8s.io/initial-events-end": "true" };
    const end = { type: "BOOKMARK", object: { metadata: { resourceVersion: "1", annotations } } };
    const text = [...events, end].map((each) => `${JSON.stringify(each)}\n`).join("");
    response.writeHead(200, { "content-type": "application/json" }).write(text);
    watches.set(kind?.kind ?? "", response);
  });
  const server = new URL(url);
  const proof = async () => ({});
  const client = new KubeClient({ server, namespace: "default", source: "the test", proof });
  const caches = new Caches({ client, log: silentLog, namespace });
  const stop = new AbortController();
  const running = kinds.map((kind) => {
    const cache = caches.of<KubeObject>(kind);
    return { cache, end: cache.run(stop.signal) };
  });
  onTestFinished(async () => {
    stop.abort();
    await Promise.all(running.map(({ end }) => end));
    client.close();
  });
  await Promise.all(running.map(({ cache }) => cache.filled));
  const send = (type: "ADDED" | "MODIFIED" | "DELETED", object: WithKind) =>
    watches.get(object.kind)?.write(`${JSON.stringify({ type, object })}\n`);
  return { caches, send };
}
