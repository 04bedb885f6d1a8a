import { afterEach, expect, test } from "vitest";
import { ManualClock, settle } from "../../../test/manual-clock.ts";
import type { Answer, World } from "./call.ts";
import { dispatch } from "./dispatch.ts";
import type { Stored } from "./resource.ts";
import type { Verb } from "./routes.ts";
import { memoryBackend } from "./storage-backend.ts";
import { makeWorld } from "./world.ts";

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

function start(clock = new ManualClock(Date.parse("2026-01-01T00:00:00Z"))) {
  const { world, stop } = makeWorld({ backend: memoryBackend(), clock, tokens: {} });
  stops.push(stop);
  return { world, clock };
}

interface Asked {
  name?: string;
  body?: unknown;
  namespace?: string;
  query?: string;
  group?: string;
}

function ask(
  world: World,
  verb: Exclude<Verb, "watch">,
  plural: string,
  asked: Asked = {},
): Answer {
  const { name, body, namespace, query = "", group = "" } = asked;
  const resource = world.registry.find(group, "v1", plural);
  if (!resource) throw new Error(`no ${plural}`);
  return dispatch(
    verb,
    {
      resource,
      ...(resource.namespaced && { namespace: namespace ?? "default" }),
      ...(name !== undefined && { name }),
      query: new URLSearchParams(query),
      contentType: verb === "patch" ? "application/merge-patch+json" : "application/json",
      userAgent: "test",
      asker: { username: "admin", groups: [] },
      text: "",
      body,
    },
    world,
  );
}

function make(
  world: World,
  name: string,
  over: object = {},
  plural = "configmaps",
  where: Asked = {},
): Stored {
  const answer = ask(world, "create", plural, { ...where, body: { metadata: { name, ...over } } });
  if (!("object" in answer)) throw new Error("no object");
  return answer.object.object;
}

function owner({ kind, metadata }: Stored, over: object = {}) {
  return { apiVersion: "v1", kind, name: metadata.name, uid: metadata.uid, ...over };
}

const names = (world: World, collection = "configmaps") =>
  world.store.list(collection).map(({ key }) => key);

/** Until nothing is due any more: one deletion may lead to the next. */
async function collected(): Promise<void> {
  for (let i = 0; i < 5; i++) await settle();
}

test("what an object owned goes after it, and what that owned", async () => {
  const { world } = start();
  const one = make(world, "one");
  const two = make(world, "two", { ownerReferences: [owner(one)] });
  make(world, "three", { ownerReferences: [owner(two)] });
  make(world, "free");
  await collected();
  ask(world, "delete", "configmaps", { name: "one" });
  expect(names(world)).toEqual(["default/free", "default/three", "default/two"]);
  await collected();
  expect(names(world)).toEqual(["default/free"]);
});

test("who has another owner stays, without the one that is gone", async () => {
  const { world } = start();
  const one = make(world, "one");
  const two = make(world, "two");
  make(world, "child", { ownerReferences: [owner(one), owner(two)] });
  await collected();
  ask(world, "delete", "configmaps", { name: "one" });
  await collected();
  const child = world.store.get("configmaps", "default/child");
  expect(child?.object.metadata.ownerReferences).toEqual([owner(two)]);
});

test("in the foreground the owner goes last", async () => {
  const { world } = start();
  const one = make(world, "one");
  const references = { ownerReferences: [owner(one, { blockOwnerDeletion: true })] };
  make(world, "child", { ...references, finalizers: ["ex.io/f"] });
  await collected();
  ask(world, "delete", "configmaps", { name: "one", query: "propagationPolicy=Foreground" });
  await collected();
  expect(world.store.get("configmaps", "default/child")?.object.metadata).toHaveProperty(
    "deletionTimestamp",
  );
  expect(names(world)).toEqual(["default/child", "default/one"]);
  ask(world, "patch", "configmaps", { name: "child", body: { metadata: { finalizers: null } } });
  await collected();
  expect(names(world)).toEqual([]);
});

test("orphans are left behind, and belong to nobody", async () => {
  const { world } = start();
  const one = make(world, "one");
  make(world, "child", { ownerReferences: [owner(one)] });
  await collected();
  ask(world, "delete", "configmaps", { name: "one", query: "propagationPolicy=Orphan" });
  await collected();
  expect(names(world)).toEqual(["default/child"]);
  const child = world.store.get("configmaps", "default/child");
  expect(child?.object.metadata).not.toHaveProperty("ownerReferences");
});

test("an owner of a kind that nobody serves is not missed, one of another namespace is", async () => {
  const { world } = start();
  make(world, "kept", {
    ownerReferences: [{ apiVersion: "ex.io/v9", kind: "Other", name: "a", uid: "1" }],
  });
  const far = make(world, "far", {}, "configmaps", { namespace: "kube-system" });
  make(world, "lost", { ownerReferences: [owner(far)] });
  await collected();
  expect(names(world)).toEqual(["default/kept", "kube-system/far"]);
});

test("a namespace goes with all that lies in it, and waits for finalizers", async () => {
  const { world } = start();
  make(world, "n", {}, "namespaces");
  const inside = { namespace: "n" };
  make(world, "a", {}, "configmaps", inside);
  make(world, "b", { finalizers: ["ex.io/f"] }, "secrets", inside);
  ask(world, "delete", "namespaces", { name: "n" });
  await collected();
  const going = world.store.get("namespaces", "n")?.object;
  expect(going?.status).toMatchObject({ phase: "Terminating" });
  const { conditions = [] } = (going?.status ?? {}) as {
    conditions?: { type: string; status: string; message: string }[];
  };
  expect(conditions.find(({ type }) => type === "NamespaceFinalizersRemaining")).toMatchObject({
    status: "True",
    message:
      "Some content in the namespace has finalizers remaining: ex.io/f in 1 resource instances",
  });
  expect(names(world)).toEqual([]);
  expect(() => make(world, "late", {}, "configmaps", inside)).toThrow(/is being terminated/);
  ask(world, "patch", "secrets", {
    ...inside,
    name: "b",
    body: { metadata: { finalizers: null } },
  });
  await collected();
  expect(world.store.get("namespaces", "n")).toBeUndefined();
});

test("a namespace of many objects goes in several turns", async () => {
  const { world } = start();
  make(world, "n", {}, "namespaces");
  for (let i = 0; i < 450; i++) make(world, `a-${i}`, {}, "configmaps", { namespace: "n" });
  ask(world, "delete", "namespaces", { name: "n" });
  await settle();
  await expect.poll(() => world.store.get("namespaces", "n")).toBeUndefined();
  expect(names(world)).toEqual([]);
});

test("a CRD takes its objects with it", async () => {
  const { world } = start();
  const group = "apiextensions.k8s.io";
  const schema = { openAPIV3Schema: { type: "object" } };
  const spec = {
    group: "ex.io",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [{ name: "v1", served: true, storage: true, schema }],
  };
  const body = { metadata: { name: "widgets.ex.io" }, spec };
  ask(world, "create", "customresourcedefinitions", { group, body });
  const widget = { apiVersion: "ex.io/v1", kind: "Widget", metadata: { name: "a" } };
  ask(world, "create", "widgets", { group: "ex.io", body: widget });
  ask(world, "delete", "customresourcedefinitions", { group, name: "widgets.ex.io" });
  await collected();
  expect(names(world, "widgets.ex.io")).toEqual([]);
  expect(names(world, "customresourcedefinitions.apiextensions.k8s.io")).toEqual([]);
  expect(world.registry.find("ex.io", "v1", "widgets")).toBeUndefined();
});

test("Events are forgotten an hour after they were last written", async () => {
  const { world, clock } = start();
  const event = (name: string) => ({
    metadata: { name, namespace: "default" },
    involvedObject: { kind: "ConfigMap", namespace: "default", name: "a" },
    reason: "Seen",
    type: "Normal",
  });
  ask(world, "create", "events", { body: event("early") });
  ask(world, "create", "events", { body: event("renewed") });
  await clock.move(30 * 60_000);
  ask(world, "patch", "events", { name: "renewed", body: { count: 2 } });
  await clock.move(31 * 60_000);
  expect(names(world, "events")).toEqual(["default/renewed"]);
  await clock.move(30 * 60_000);
  expect(names(world, "events")).toEqual([]);
});

test("what was left undone at the end of a process is done by the next", async () => {
  const held = new Map<string, { collection: string; key: string; text: string }>();
  const backend = {
    ...memoryBackend(),
    all: () => [...held.values()],
    put: (collection: string, key: string, text: string) =>
      void held.set(`${collection} ${key}`, { collection, key, text }),
    remove: (collection: string, key: string) => void held.delete(`${collection} ${key}`),
  };
  const first = makeWorld({ backend, clock: new ManualClock(), tokens: {} });
  const one = make(first.world, "one");
  make(first.world, "child", { ownerReferences: [owner(one)] });
  ask(first.world, "delete", "configmaps", { name: "one" });
  first.stop();
  await collected();
  expect([...held.keys()]).toContain("configmaps default/child");
  const second = makeWorld({ backend, clock: new ManualClock(), tokens: {} });
  stops.push(second.stop);
  await collected();
  expect([...held.keys()]).not.toContain("configmaps default/child");
});
