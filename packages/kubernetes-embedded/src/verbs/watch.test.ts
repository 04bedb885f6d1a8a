import { afterEach, expect, test } from "vitest";
import { ManualClock } from "../../../../test/manual-clock.ts";
import type { Call } from "../call.ts";
import { dispatch } from "../dispatch.ts";
import type { Verb } from "../routes.ts";
import { memoryBackend } from "../storage-backend.ts";
import { makeWorld } from "../world.ts";
import { watch } from "./watch.ts";

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

function start(mostLogBytes?: number) {
  const clock = new ManualClock();
  const parts = { backend: memoryBackend(), clock, tokens: {} };
  const { world, stop } = makeWorld({ ...parts, ...(mostLogBytes && { mostLogBytes }) });
  stops.push(stop);
  const resource = world.registry.find("", "v1", "configmaps");
  if (!resource) throw new Error("no config maps");
  const call = (query = "", name?: string, body?: unknown): Call => ({
    resource,
    namespace: "default",
    ...(name !== undefined && { name }),
    query: new URLSearchParams(query),
    contentType: "application/merge-patch+json",
    userAgent: "test",
    asker: { username: "admin", groups: [] },
    text: "",
    body,
  });
  const write = (verb: Exclude<Verb, "watch">, name: string, metadata: object = {}) => {
    const body = { metadata: { ...(verb === "create" && { name }), ...metadata } };
    const named = verb === "create" ? undefined : name;
    const contentType = verb === "create" ? { contentType: "application/json" } : {};
    dispatch(verb, { ...call("", named, body), ...contentType }, world);
  };
  const told: string[] = [];
  const see = (query: string) => {
    const stop = watch(call(query), world).start({
      event: (type, { object }) => told.push(`${type} ${object.metadata.name}`),
      bookmark: ({ metadata }) => told.push(`BOOKMARK ${Object.keys(metadata.annotations ?? {})}`),
      error: ({ code }) => told.push(`ERROR ${code}`),
      end: () => told.push("end"),
    });
    stops.push(stop);
    return told;
  };
  return { world, clock, write, see };
}

test("without a version it begins with what is there", () => {
  const { write, see } = start();
  write("create", "a");
  const told = see("");
  write("create", "b");
  write("delete", "a");
  expect(told).toEqual(["ADDED a", "ADDED b", "DELETED a"]);
});

test("from a version it tells what happened since", () => {
  const { world, write, see } = start();
  write("create", "a");
  const { revision } = world.store;
  write("create", "b");
  write("patch", "a", { labels: { x: "1" } });
  expect(see(`resourceVersion=${revision}`)).toEqual(["ADDED b", "MODIFIED a"]);
});

test("what comes to be picked is new to it, and what is picked no more is gone", () => {
  const { write, see } = start();
  write("create", "a");
  const told = see("labelSelector=x%3D1");
  write("patch", "a", { labels: { x: "1" } });
  write("patch", "a", { labels: { x: "1", y: "1" } });
  write("patch", "a", { labels: { x: "2" } });
  write("delete", "a");
  expect(told).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
});

test("from a version that is forgotten it ends with 410", () => {
  const { world, write, see } = start(5000);
  const { revision } = world.store;
  for (let i = 0; i < 50; i++) write("create", `a-${i}`);
  expect(see(`resourceVersion=${revision}`)).toEqual(["ERROR 410", "end"]);
});

test("the end of what is there is marked for those who ask for it", () => {
  const { write, see } = start();
  write("create", "a");
  const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1";
  expect(see(query)).toEqual(["ADDED a", "BOOKMARK k8s.io/initial-events-end"]);
});

test("it is marked every minute how far it is, and before its end", async () => {
  const { clock, see, write } = start();
  const told = see("allowWatchBookmarks=true&timeoutSeconds=130");
  await clock.move(59_000);
  expect(told).toEqual([]);
  await clock.move(70_000);
  expect(told).toEqual(["BOOKMARK ", "BOOKMARK ", "BOOKMARK "]);
  await clock.move(2000);
  write("create", "late");
  expect(told.slice(3)).toEqual(["end"]);
});
