import { expect, test } from "vitest";
import { configMaps, describeApi, type List, type Thing } from "./api.ts";
import type { WatchEvent } from "./watching.ts";
import { withWidgets } from "./widgets.ts";

describeApi("watches", (api) => {
  const widgets = withWidgets(api);
  const versionOf = async (path: string) =>
    (await api.ok<List>("GET", path)).metadata.resourceVersion;
  const make = (path: string, name: string, labels?: Record<string, string>) =>
    api.ok("POST", path, { metadata: { name, ...(labels && { labels }) } });
  const here = async () => configMaps(await api.namespace());

  test("tell what happens after a version, in order", async () => {
    const path = await here();
    await make(path, "before");
    const from = await versionOf(path);
    const watch = await api.watch(`${path}?watch=true&resourceVersion=${from}`);
    await make(path, "a");
    await api.ok("PATCH", `${path}/a`, { data: { k: "v" } });
    await api.ok("DELETE", `${path}/a`);
    expect(await watch.names(3)).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
    expect(watch).toMatchObject({ status: 200, contentType: "application/json" });
  });

  test("tell what has happened since a version that is past", async () => {
    const path = await here();
    const from = await versionOf(path);
    await make(path, "a");
    await api.ok("DELETE", `${path}/a`);
    const watch = await api.watch(`${path}?watch=1&resourceVersion=${from}`);
    expect(await watch.names(2)).toEqual(["ADDED a", "DELETED a"]);
  });

  test.each(["", "&resourceVersion=0"])("tell of what is there first%s", async (query) => {
    const path = await here();
    await make(path, "a");
    await make(path, "b");
    const watch = await api.watch(`${path}?watch=true${query}`);
    expect((await watch.names(2)).toSorted()).toEqual(["ADDED a", "ADDED b"]);
    await make(path, "c");
    expect(await watch.names(1)).toEqual(["ADDED c"]);
  });

  test("carry the whole object, with its kind", async () => {
    const path = await here();
    const watch = await api.watch(`${path}?watch=true&resourceVersion=${await versionOf(path)}`);
    const made = await make(path, "a", { l: "1" });
    expect((await watch.next()).object).toEqual(made);
  });

  test("carry an object that goes as it was last, in a version of its own", async () => {
    const path = await here();
    await make(path, "a");
    const patched = await api.ok("PATCH", `${path}/a`, { data: { k: "v" } });
    const watch = await api.watch(
      `${path}?watch=true&resourceVersion=${patched.metadata.resourceVersion}`,
    );
    await api.ok("DELETE", `${path}/a`);
    const { type, object } = await watch.next();
    expect(type).toBe("DELETED");
    expect(object.data).toEqual({ k: "v" });
    expect(Number(object.metadata.resourceVersion)).toBeGreaterThan(
      Number(patched.metadata.resourceVersion),
    );
  });

  test("say nothing of a write that changes nothing", async () => {
    const path = await here();
    const made = await make(path, "a");
    const watch = await api.watch(
      `${path}?watch=true&resourceVersion=${made.metadata.resourceVersion}`,
    );
    await api.ok("PUT", `${path}/a`, made);
    await api.ok("PATCH", `${path}/a`, {});
    await make(path, "b");
    expect(await watch.names(1)).toEqual(["ADDED b"]);
  });

  test("tell of the beginning and the end of a deletion that waits", async () => {
    const namespace = await api.namespace();
    const path = widgets.path(namespace);
    const metadata = { name: "a", finalizers: ["example.com/a"] };
    const made = await api.ok("POST", path, { ...widgets.widget("a"), metadata });
    const watch = await api.watch(
      `${path}?watch=true&resourceVersion=${made.metadata.resourceVersion}`,
    );
    await api.ok("DELETE", `${path}/a`);
    const begun = await watch.next();
    expect(begun.type).toBe("MODIFIED");
    expect(begun.object.metadata).toHaveProperty("deletionTimestamp");
    await api.ok("PATCH", `${path}/a`, { metadata: { finalizers: null } });
    const ended = await watch.next();
    expect(ended.type).toBe("DELETED");
    expect(ended.object.metadata).toHaveProperty("deletionTimestamp");
  });

  test("tell of changes of the status", async () => {
    const namespace = await api.namespace();
    const made = await api.ok("POST", widgets.path(namespace), widgets.widget("a"));
    const watch = await api.watch(
      `${widgets.path()}?watch=true&resourceVersion=${made.metadata.resourceVersion}`,
    );
    await api.ok("PATCH", widgets.path(namespace, "a", "status"), { status: { ready: true } });
    expect(await watch.next()).toMatchObject({
      type: "MODIFIED",
      object: { kind: "Widget", status: { ready: true } },
    });
  });

  test("keep to their namespace", async () => {
    const [path, elsewhere] = [await here(), await here()];
    const watch = await api.watch(`${path}?watch=true&resourceVersion=${await versionOf(path)}`);
    await make(elsewhere, "other");
    await make(path, "a");
    expect(await watch.names(1)).toEqual(["ADDED a"]);
  });

  test("see objects come into a label selector and leave it", async () => {
    const path = await here();
    const query = `watch=true&labelSelector=on&resourceVersion=${await versionOf(path)}`;
    const watch = await api.watch(`${path}?${query}`);
    await make(path, "a");
    await api.ok("PATCH", `${path}/a`, { metadata: { labels: { on: "1" } } });
    await api.ok("PATCH", `${path}/a`, { metadata: { labels: { on: "2" } } });
    const left = await api.ok("PATCH", `${path}/a`, { metadata: { labels: { on: null } } });
    await api.ok("DELETE", `${path}/a`);
    await make(path, "b", { on: "1" });
    const events: WatchEvent[] = [];
    while (events.length < 4) events.push(await watch.next());
    expect(events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
      "ADDED a",
      "MODIFIED a",
      "DELETED a",
      "ADDED b",
    ]);
    // One that leaves is told as it last was inside, in the version in which it left.
    expect(events[2]?.object.metadata.labels).toEqual({ on: "2" });
    expect(events[2]?.object.metadata.resourceVersion).toBe(left.metadata.resourceVersion);
  });

  test("follow one object by its name", async () => {
    const path = await here();
    const query = `watch=true&fieldSelector=metadata.name%3Da&resourceVersion=${await versionOf(path)}`;
    const watch = await api.watch(`${path}?${query}`);
    await make(path, "b");
    await make(path, "a");
    expect(await watch.names(1)).toEqual(["ADDED a"]);
  });

  test("end by themselves after the time that is asked for", async () => {
    const path = await here();
    await make(path, "a");
    const watch = await api.watch(`${path}?watch=true&timeoutSeconds=1`);
    expect((await watch.rest()).map(({ type }) => type)).toEqual(["ADDED"]);
  });

  test("begin with all there is and a bookmark, where that is asked for", async () => {
    const path = await here();
    await make(path, "a");
    await make(path, "b");
    const query =
      "watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    const watch = await api.watch(`${path}?${query}`);
    expect((await watch.names(2)).toSorted()).toEqual(["ADDED a", "ADDED b"]);
    const { type, object } = await watch.next();
    expect(type).toBe("BOOKMARK");
    expect(object).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
    expect(object.metadata.annotations).toEqual({ "k8s.io/initial-events-end": "true" });
    expect(object.metadata.resourceVersion).toMatch(/^\d+$/);
    await make(path, "c");
    expect(await watch.names(1)).toEqual(["ADDED c"]);
  });

  test("begin with a bookmark alone where there is nothing", async () => {
    const namespace = await api.namespace();
    const query =
      "watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    const watch = await api.watch(`${widgets.path(namespace)}?${query}`);
    expect(await watch.next()).toMatchObject({
      type: "BOOKMARK",
      object: { kind: "Widget", apiVersion: widgets.apiVersion },
    });
  });

  test("go on from a bookmark without a gap", async () => {
    const path = await here();
    const query =
      "watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    const first = await api.watch(`${path}?${query}`);
    const { object } = await first.next();
    first.close();
    await make(path, "a");
    const second = await api.watch(
      `${path}?watch=true&resourceVersion=${object.metadata.resourceVersion}`,
    );
    expect(await second.names(1)).toEqual(["ADDED a"]);
  });

  test.each([
    ["no match", "sendInitialEvents=true&allowWatchBookmarks=true"],
    ["a match but no wish for initial events", "resourceVersionMatch=NotOlderThan"],
    [
      "an exact match",
      "sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=Exact&resourceVersion=1",
    ],
  ])("refuse %s", async (_what, query) => {
    const path = await here();
    const answer = await api.refused("GET", `${path}?watch=true&${query}`);
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
  });

  test("refuse a selector that makes no sense", async () => {
    const answer = await api.refused("GET", `${await here()}?watch=true&labelSelector=a%3Db%3Dc`);
    expect(answer).toMatchObject({ code: 400, reason: "BadRequest" });
  });

  test("from a version that is forgotten end with 410", async () => {
    const watch = await api.watch(`${widgets.path()}?watch=true&resourceVersion=1`);
    const events = await watch.rest();
    expect(events).toMatchObject([
      {
        type: "ERROR",
        object: { kind: "Status", status: "Failure", reason: "Expired", code: 410 },
      },
    ]);
    expect(events[0]?.object.message).toMatch(/^too old resource version: 1 \(\d+\)$/);
  });

  test("of the same objects tell everyone the same", async () => {
    const path = await here();
    const from = await versionOf(path);
    const watches = await Promise.all(
      Array.from({ length: 5 }, () => api.watch(`${path}?watch=true&resourceVersion=${from}`)),
    );
    for (const name of ["a", "b", "c"]) await make(path, name);
    const told = await Promise.all(watches.map((watch) => watch.names(3)));
    for (const names of told) expect(names).toEqual(["ADDED a", "ADDED b", "ADDED c"]);
  });

  test("lose nothing of many writes at once", async () => {
    const path = await here();
    const watch = await api.watch(`${path}?watch=true&resourceVersion=${await versionOf(path)}`);
    const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
    await Promise.all(names.map((name) => make(path, name)));
    const events: Thing[] = [];
    while (events.length < names.length) events.push((await watch.next()).object);
    expect(events.map(({ metadata }) => metadata.name).toSorted()).toEqual(names.toSorted());
    const versions = events.map(({ metadata }) => Number(metadata.resourceVersion));
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
  });

  test("of the two groups of events tell of the same ones", async () => {
    const namespace = await api.namespace();
    const old = `/api/v1/namespaces/${namespace}/events`;
    const young = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
    const watch = await api.watch(`${young}?watch=true&resourceVersion=${await versionOf(young)}`);
    await api.ok("POST", old, {
      metadata: { name: "a" },
      involvedObject: { kind: "ConfigMap", name: "c", namespace },
      reason: "Tried",
      message: "it was tried",
      type: "Normal",
    });
    expect(await watch.next()).toMatchObject({
      type: "ADDED",
      object: {
        apiVersion: "events.k8s.io/v1",
        kind: "Event",
        regarding: { kind: "ConfigMap", name: "c" },
        note: "it was tried",
      },
    });
  });

  test("of an object that is asked for by get do not exist", async () => {
    const path = await here();
    await make(path, "a");
    expect((await api.ok("GET", `${path}/a?watch=false`)).metadata.name).toBe("a");
  });
});
