import { expect, test } from "vitest";
import { fc } from "../../../test/setup/random.ts";
import type { Stored } from "./resource.ts";
import { memoryBackend } from "./storage-backend.ts";
import { Store } from "./store.ts";

function object(name: string, data = ""): Stored {
  const metadata = { name, namespace: "n", uid: name, resourceVersion: "", creationTimestamp: "" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data };
}

test("every write has a revision of its own, which its object carries", () => {
  const store = new Store(memoryBackend());
  const one = store.put("a", object("one"));
  const two = store.put("b", object("two"));
  const gone = store.remove("a", "n/one");
  expect([two.revision, gone?.revision]).toEqual([one.revision + 1, one.revision + 2]);
  expect(JSON.parse(two.text).metadata.resourceVersion).toBe(String(two.revision));
  expect(gone?.object.metadata.resourceVersion).toBe(String(gone?.revision));
  expect(store.revision).toBe(gone?.revision);
  expect(store.remove("a", "n/one")).toBeUndefined();
});

test("changes since a revision come in order, with what was before", () => {
  const store = new Store(memoryBackend());
  const first = store.put("a", object("one"));
  store.put("a", object("one", "2"));
  store.remove("a", "n/one");
  const since = store.since(first.revision);
  expect(since?.map(({ type, before }) => [type, before?.object.data])).toEqual([
    ["MODIFIED", ""],
    ["DELETED", "2"],
  ]);
  expect(store.since(store.revision)).toEqual([]);
});

test("a list can be had as it was at any revision that is remembered", () => {
  const names = fc.constantFrom("a", "b", "c");
  const steps = fc.array(fc.tuple(fc.boolean(), names, fc.string({ maxLength: 2 })));
  fc.assert(
    fc.property(steps, (all) => {
      const store = new Store(memoryBackend());
      const seen = new Map<number, unknown[]>();
      const now = () => store.list("c").map((entry) => entry.text);
      seen.set(store.revision, now());
      for (const [put, name, data] of all) {
        if (put) store.put("c", object(name, data));
        else store.remove("c", `n/${name}`);
        store.put("other", object(name));
        seen.set(store.revision, now());
      }
      for (const [revision, texts] of seen)
        expect(store.listAt("c", revision)?.map((entry) => entry.text)).toEqual(texts);
    }),
  );
});

test("the log is bounded by bytes, and what it forgot cannot be asked for", () => {
  const store = new Store(memoryBackend(), { mostLogBytes: 20_000 });
  const begin = store.revision;
  for (let i = 0; i < 100; i++) store.put("a", object("one", "x".repeat(1000)));
  expect(store.since(begin)).toBeUndefined();
  expect(store.listAt("a", begin)).toBeUndefined();
  const left = store.since(store.forgotten) ?? [];
  expect(left.length).toBeGreaterThan(5);
  expect(left.reduce((sum, { entry }) => sum + entry.text.length, 0)).toBeLessThanOrEqual(20_000);
  expect(left.at(-1)?.revision).toBe(store.revision);
});

test("who watches is told of a collection, or of all, until they stop", () => {
  const store = new Store(memoryBackend());
  const told: string[] = [];
  const stop = store.watch("a", ({ entry }) => told.push(`a: ${entry.key}`));
  store.watch(undefined, ({ entry }) => told.push(`all: ${entry.key}`));
  store.put("a", object("one"));
  store.put("b", object("two"));
  stop();
  store.put("a", object("three"));
  expect(told).toEqual(["all: n/one", "a: n/one", "all: n/two", "all: n/three"]);
});
