import { beforeAll, expect, test } from "vitest";
import { configMaps, describeApi, type List, type Thing } from "./api.ts";
import { withWidgets } from "./widgets.ts";

const namesOf = (list: List) => list.items.map(({ metadata }) => metadata.name);

describeApi("lists", (api) => {
  const widgets = withWidgets(api, {
    version: { selectableFields: [{ jsonPath: ".spec.colour" }] },
    spec: { type: "object", properties: { colour: { type: "string" } } },
  });
  let namespace: string;
  let maps: string;
  const list = (query: string) => api.ok<List>("GET", `${maps}?${query}`);

  beforeAll(async () => {
    namespace = await api.namespace();
    maps = configMaps(namespace);
    const labelled = {
      a: { tier: "front", colour: "red" },
      b: { tier: "back", colour: "blue" },
      c: { tier: "back" },
      d: undefined,
      e: { colour: "" },
    };
    // Not in the order of their names: a list is.
    for (const [name, labels] of Object.entries(labelled).toReversed())
      await api.ok("POST", maps, { metadata: { name, ...(labels && { labels }) } });
    for (const [name, colour] of [
      ["a", "red"],
      ["b", "blue"],
    ] as const)
      await api.ok("POST", widgets.path(namespace), widgets.widget(name, { spec: { colour } }));
  }, 30_000);

  test("are in the order of names, and say what they are", async () => {
    const all = await list("");
    expect(all).toMatchObject({ apiVersion: "v1", kind: "ConfigMapList" });
    expect(all.metadata.resourceVersion).toMatch(/^\d+$/);
    expect(namesOf(all)).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("of a CRD's kind have its list kind, and each item its kind", async () => {
    const all = await api.ok<List>("GET", widgets.path(namespace));
    expect(all).toMatchObject({ apiVersion: widgets.apiVersion, kind: "WidgetList" });
    expect(all.items[0]).toMatchObject({ apiVersion: widgets.apiVersion, kind: "Widget" });
  });

  test("of a built-in kind leave the kind of each item out", async () => {
    expect((await list("")).items[0]).not.toHaveProperty("kind");
  });

  test("of nothing have no items, and not null", async () => {
    expect((await api.ok<List>("GET", configMaps(await api.namespace()))).items).toEqual([]);
  });

  test("of all namespaces are in the order of namespaces and names", async () => {
    const { items } = await api.ok<List>("GET", "/api/v1/configmaps");
    const keys = items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    expect(keys).toEqual(keys.toSorted());
    expect(keys).toContain(`${namespace}/a`);
  });

  test.each([
    ["colour=red", ["a"]],
    ["colour==red", ["a"]],
    ["colour!=red", ["b", "c", "d", "e"]],
    ["colour in (red,blue)", ["a", "b"]],
    ["colour notin (red)", ["b", "c", "d", "e"]],
    ["colour", ["a", "b", "e"]],
    ["!colour", ["c", "d"]],
    ["colour=", ["e"]],
    ["tier=back,colour", ["b"]],
    ["tier=back,!colour", ["c"]],
    ["tier in (back),colour notin (blue)", ["c"]],
    ["", ["a", "b", "c", "d", "e"]],
  ])("take the label selector %j", async (selector, names) => {
    expect(namesOf(await list(`labelSelector=${encodeURIComponent(selector)}`))).toEqual(names);
  });

  test.each(["a=b=c", "a in b", "a,", "-a=b"])("refuse the label selector %j", async (selector) => {
    const path = `${maps}?labelSelector=${encodeURIComponent(selector)}`;
    expect(await api.refused("GET", path)).toMatchObject({ code: 400, reason: "BadRequest" });
  });

  test.each([
    ["metadata.name=b", ["b"]],
    ["metadata.name==b", ["b"]],
    ["metadata.name!=b", ["a", "c", "d", "e"]],
    ["metadata.name!=a,metadata.name!=b", ["c", "d", "e"]],
    ["metadata.name=a,metadata.name=b", []],
  ])("take the field selector %j", async (selector, names) => {
    expect(namesOf(await list(`fieldSelector=${encodeURIComponent(selector)}`))).toEqual(names);
  });

  test("of all namespaces are narrowed to one by a field selector", async () => {
    const { items } = await api.ok<List>(
      "GET",
      `/api/v1/configmaps?fieldSelector=metadata.namespace%3D${namespace}`,
    );
    expect(items).toHaveLength(5);
  });

  test("take a field selector of a field that the CRD names", async () => {
    const path = `${widgets.path(namespace)}?fieldSelector=spec.colour%3Dblue`;
    expect(namesOf(await api.ok<List>("GET", path))).toEqual(["b"]);
  });

  test("refuse a field selector of a field that the CRD does not name", async () => {
    const path = `${widgets.path(namespace)}?fieldSelector=spec.size%3D1`;
    expect(await api.refused("GET", path)).toMatchObject({
      code: 400,
      reason: "BadRequest",
      message: "field label not supported: spec.size",
    });
  });

  test("take field selectors of a Secret's type and of an Event's object", async () => {
    const secrets = `/api/v1/namespaces/${namespace}/secrets`;
    await api.ok("POST", secrets, { metadata: { name: "plain" } });
    await api.ok("POST", secrets, { metadata: { name: "own" }, type: "example.com/own" });
    const own = await api.ok<List>("GET", `${secrets}?fieldSelector=type%3Dexample.com/own`);
    expect(namesOf(own)).toEqual(["own"]);

    const events = `/api/v1/namespaces/${namespace}/events`;
    for (const name of ["x", "y"])
      await api.ok("POST", events, {
        metadata: { name },
        involvedObject: { kind: "ConfigMap", name, namespace },
        reason: name.toUpperCase(),
        type: "Normal",
      });
    const of = encodeURIComponent("involvedObject.kind=ConfigMap,involvedObject.name=y");
    expect(namesOf(await api.ok<List>("GET", `${events}?fieldSelector=${of}`))).toEqual(["y"]);
    const reason = await api.ok<List>("GET", `${events}?fieldSelector=reason%3DX`);
    expect(namesOf(reason)).toEqual(["x"]);
  });

  test("come in pages", async () => {
    const first = await list("limit=2");
    expect(namesOf(first)).toEqual(["a", "b"]);
    expect(first.metadata.remainingItemCount).toBe(3);
    const second = await list(`limit=2&continue=${first.metadata.continue}`);
    expect(namesOf(second)).toEqual(["c", "d"]);
    const third = await list(`limit=2&continue=${second.metadata.continue}`);
    expect(namesOf(third)).toEqual(["e"]);
    expect(third.metadata).not.toHaveProperty("continue");
    expect(third.metadata).not.toHaveProperty("remainingItemCount");
    const versions = [first, second, third].map(({ metadata }) => metadata.resourceVersion);
    expect(new Set(versions).size).toBe(1);
  });

  test("come in pages with a selector, where nobody says how many remain", async () => {
    const query = `limit=1&labelSelector=${encodeURIComponent("tier")}`;
    const first = await list(query);
    expect(namesOf(first)).toEqual(["a"]);
    expect(first.metadata).not.toHaveProperty("remainingItemCount");
    expect(namesOf(await list(`${query}&continue=${first.metadata.continue}`))).toEqual(["b"]);
  });

  test("in pages stay as they were when the first page was read", async () => {
    const own = configMaps(await api.namespace());
    for (const name of ["a", "b", "c"]) await api.ok("POST", own, { metadata: { name } });
    const first = await api.ok<List>("GET", `${own}?limit=1`);
    await api.ok("DELETE", `${own}/b`);
    await api.ok("POST", own, { metadata: { name: "bb" } });
    const rest = await api.ok<List>("GET", `${own}?limit=9&continue=${first.metadata.continue}`);
    expect(namesOf(rest)).toEqual(["b", "c"]);
  });

  test("refuse to go on from a place that nobody gave", async () => {
    const answer = await api.refused("GET", `${maps}?limit=1&continue=nonsense`);
    expect(answer).toMatchObject({ code: 400, reason: "BadRequest" });
  });

  test("may be as old as the server likes", async () => {
    expect(namesOf(await list("resourceVersion=0"))).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("are not older than asked", async () => {
    const { metadata } = await api.ok("POST", maps, { metadata: { name: "z" } });
    const query = `resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=NotOlderThan`;
    expect(namesOf(await list(query))).toContain("z");
    await api.ok("DELETE", `${maps}/z`);
  });

  test("are exactly as old as asked", async () => {
    const own = configMaps(await api.namespace());
    const made = await api.ok("POST", own, { metadata: { name: "a" } });
    await api.ok("POST", own, { metadata: { name: "b" } });
    const { resourceVersion } = made.metadata;
    const then = await api.ok<List>(
      "GET",
      `${own}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`,
    );
    expect(namesOf(then)).toEqual(["a"]);
    expect(then.metadata.resourceVersion).toBe(resourceVersion);
  });

  test.each([
    ["a match without a version", "resourceVersionMatch=Exact"],
    ["an exact version of 0", "resourceVersion=0&resourceVersionMatch=Exact"],
    ["a match that nobody knows", "resourceVersion=1&resourceVersionMatch=Nearly"],
    ["a version that is no number", "resourceVersion=x"],
  ])("refuse %s", async (_what, query) => {
    const { status } = await api.request("GET", `${maps}?${query}`);
    expect([400, 422]).toContain(status);
  });

  test("that do not yet exist are asked for again later", async () => {
    const now = Number((await list("")).metadata.resourceVersion);
    const answer = await api.refused("GET", `${maps}?resourceVersion=${now + 1_000_000}`);
    expect(answer).toMatchObject({ code: 504, reason: "Timeout" });
    expect(answer.message).toContain("Too large resource version");
    expect(answer.details).toMatchObject({
      retryAfterSeconds: 1,
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    });
  });

  test("of one object by name are like the object itself", async () => {
    const [only] = (await list("fieldSelector=metadata.name%3Da")).items;
    const { kind: _kind, apiVersion: _version, ...read } = await api.ok<Thing>("GET", `${maps}/a`);
    expect(only).toEqual(read);
  });
});
