import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@postern/core/clock.ts";
import { crdOf, standInLabel } from "@postern/core/crd.ts";
import { definitions } from "@postern/core/definitions.ts";
import { memoryKeyValue } from "@postern/core/test-bed/key-value.ts";
import type { World } from "@postern/kubernetes-embedded/call.ts";
import { FrontDoor } from "@postern/kubernetes-embedded/front-door.ts";
import { pagesOf } from "@postern/kubernetes-embedded/pages.ts";
import type { StorageBackend, StoredRecord } from "@postern/kubernetes-embedded/storage-backend.ts";
import { makeWorld, type Running } from "@postern/kubernetes-embedded/world.ts";
import type { Connection } from "postern/kube/credentials.ts";
import type { Variant } from "./variant.ts";

/** A Kubernetes API on loopback that every run gets as new, with the kinds of the product installed. */
export interface Kubernetes {
  connection: Connection;
  /** Told of every request when it arrives. */
  requested: (request: IncomingMessage) => void;
  /** Begin a run: nothing of the run before is left. */
  reset(clock: Clock, variant: Variant): Promise<World>;
  close(): Promise<void>;
}

const token = "admin-of-the-test";

/** Start it once; installing the kinds is the slow part, so what is stored then is the beginning of every run. */
export async function startKubernetes(): Promise<Kubernetes> {
  const things = memoryKeyValue();
  let running: Running | undefined;
  let front: FrontDoor | undefined;
  const server = createServer(
    { keepAliveTimeout: 120_000, requestTimeout: 0 },
    (request, response) => {
      kubernetes.requested(request);
      void front?.receive(request, response);
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const authority = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connection: Connection = {
    server: new URL(`http://${authority}`),
    namespace: "default",
    source: "the test",
    proof: async () => ({ authorization: `Bearer ${token}` }),
  };

  const kubernetes = { connection, requested: () => undefined } as unknown as Kubernetes;
  const begin = (clock: Clock, objects: readonly StoredRecord[]) => {
    running?.stop();
    running = makeWorld({ backend: backendFrom(objects, things), clock, tokens: { admin: token } });
    front = new FrontDoor(running.world, undefined);
    front.pages = pagesOf(running.world, authority);
    return running.world;
  };

  const first = begin(withoutTimers({ now: () => Date.UTC(2026, 0, 1) }), []);
  for (const each of definitions) await post(connection, "customresourcedefinitions", crdOf(each));
  for (const { group, version, plural } of definitions)
    while (
      (await fetch(new URL(`/apis/${group}/${version}/${plural}`, connection.server), auth))
        .status !== 200
    )
      await new Promise((resolve) => setImmediate(resolve));
  const template = first.store
    .collections()
    .flatMap((collection) =>
      first.store.list(collection).map(({ key, text }) => ({ collection, key, text })),
    );
  Object.assign(kubernetes, {
    reset: async (clock: Clock, { hyperShift }: Variant) => {
      server.closeAllConnections();
      return begin(withoutTimers(clock), hyperShift ? template.map(withoutLabel) : template);
    },
    close: async () => {
      running?.stop();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  });
  return kubernetes;
}

/** HyperShift's own CRDs do not have the label by which Postern knows that HyperShift is absent. */
function withoutLabel(object: StoredRecord): StoredRecord {
  return { ...object, text: object.text.replace(`"${standInLabel}":"true"`, "") };
}

const auth = { headers: { authorization: `Bearer ${token}` } };

async function post({ server }: Connection, plural: string, body: object): Promise<void> {
  const url = new URL(`/apis/apiextensions.k8s.io/v1/${plural}`, server);
  const headers = { ...auth.headers, "content-type": "application/json" };
  const { status } = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (status !== 201) throw new Error(`${plural} refused with ${status}`);
}

/** Bookmarks and the ends of watches prove nothing here, and each would cost a step of the clock. */
function withoutTimers(clock: Pick<Clock, "now">): Clock {
  return { now: () => clock.now(), after: () => () => undefined };
}

function backendFrom(
  objects: readonly StoredRecord[],
  things: StorageBackend["things"],
): StorageBackend {
  return {
    revision: () => 0,
    all: () => objects,
    put: () => undefined,
    remove: () => undefined,
    things,
    close: () => undefined,
  };
}
