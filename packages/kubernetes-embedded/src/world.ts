import type { Clock } from "@postern/core/clock.ts";
import type { World } from "./call.ts";
import { startCollector } from "./collector.ts";
import { definitions, isEstablished } from "./definitions.ts";
import { firstObjects } from "./first-objects.ts";
import { builtIns } from "./kinds/built-ins.ts";
import { Registry } from "./registry.ts";
import { same } from "./schema/plain.ts";
import { resourcesOf } from "./schema/resources.ts";
import type { StorageBackend } from "./storage-backend.ts";
import { type Change, Store } from "./store.ts";
import { makeTokens } from "./tokens.ts";

/** What a world is made from. */
export interface Parts {
  backend: StorageBackend;
  clock: Clock;
  tokens: Readonly<Record<string, string>>;
  mostLogBytes?: number;
}

/** A world with those who keep it in order. */
export interface Running {
  world: World;
  stop(): void;
}

/** All stored objects, what CRDs add to what is served, and the objects that every cluster has. */
export function makeWorld({ backend, clock, tokens, mostLogBytes }: Parts): Running {
  const store = new Store(backend, mostLogBytes === undefined ? {} : { mostLogBytes });
  const registry = new Registry(builtIns, resourcesOf);
  for (const { object } of store.list(definitions))
    if (isEstablished(object)) registry.define(object);
  const exists = (namespace: string, name: string, uid: string) =>
    store.get("serviceaccounts", `${namespace}/${name}`)?.object.metadata.uid === uid;
  const world: World = {
    store,
    registry,
    clock,
    tokens: makeTokens(tokens, backend.things, clock, exists),
  };
  const stopDefining = store.watch(definitions, (change) => define(registry, change));
  const stopCollecting = startCollector(world);
  firstObjects(world);
  return {
    world,
    stop: () => {
      stopCollecting();
      stopDefining();
    },
  };
}

/** What a CRD says is served from the moment that it is held. */
function define(registry: Registry, { type, entry, before }: Change): void {
  const { object } = entry;
  if (type === "DELETED" || !isEstablished(object)) registry.undefine(object.metadata.name);
  // What its objects were completed by stays what it is while only its status changes.
  else if (!before || !isEstablished(before.object) || !same(object.spec, before.object.spec))
    registry.define(object);
}
