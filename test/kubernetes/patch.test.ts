import { expect, test } from "vitest";
import { configMaps, describeApi, patches } from "./api.ts";
import { withWidgets } from "./widgets.ts";

describeApi("patches", (api) => {
  const widgets = withWidgets(api);
  const withWidget = async (spec: object) => {
    const namespace = await api.namespace();
    const made = await api.ok("POST", widgets.path(namespace), widgets.widget("a", { spec }));
    return { made, path: widgets.path(namespace, "a") };
  };
  const withService = async (spec: object = {}) => {
    const path = `/api/v1/namespaces/${await api.namespace()}/services`;
    const ports = [
      { name: "web", port: 80 },
      { name: "tls", port: 443 },
    ];
    await api.ok("POST", path, { metadata: { name: "a" }, spec: { ports, ...spec } });
    return `${path}/a`;
  };
  const portsOf = ({ spec = {} }: { spec?: Record<string, unknown> }) =>
    (spec.ports as { name: string; port: number; targetPort: number }[]).map(
      ({ name, port, targetPort }) => `${name} ${port} ${targetPort}`,
    );

  test.each([
    ["add a field", [{ op: "add", path: "/spec/b", value: 2 }], { a: 1, l: ["x", "y"], b: 2 }],
    ["replace a field", [{ op: "replace", path: "/spec/a", value: 5 }], { a: 5, l: ["x", "y"] }],
    [
      "replace a field that is not there",
      [{ op: "replace", path: "/spec/b", value: 5 }],
      { a: 1, b: 5, l: ["x", "y"] },
    ],
    ["remove a field", [{ op: "remove", path: "/spec/a" }], { l: ["x", "y"] }],
    [
      "append to a list",
      [{ op: "add", path: "/spec/l/-", value: "z" }],
      { a: 1, l: ["x", "y", "z"] },
    ],
    [
      "insert into a list",
      [{ op: "add", path: "/spec/l/1", value: "z" }],
      { a: 1, l: ["x", "z", "y"] },
    ],
    ["remove from a list", [{ op: "remove", path: "/spec/l/0" }], { a: 1, l: ["y"] }],
    ["move a field", [{ op: "move", from: "/spec/a", path: "/spec/b" }], { b: 1, l: ["x", "y"] }],
    [
      "copy a field",
      [{ op: "copy", from: "/spec/a", path: "/spec/b" }],
      { a: 1, b: 1, l: ["x", "y"] },
    ],
    [
      "change what passes a test",
      [
        { op: "test", path: "/spec/a", value: 1 },
        { op: "replace", path: "/spec/a", value: 2 },
      ],
      { a: 2, l: ["x", "y"] },
    ],
    [
      "reach names with a slash",
      [{ op: "add", path: "/spec/x~1y~0z", value: 1 }],
      { a: 1, l: ["x", "y"], "x/y~z": 1 },
    ],
  ])("in JSON %s", async (_what, operations, spec) => {
    const { path } = await withWidget({ a: 1, l: ["x", "y"] });
    expect((await api.ok("PATCH", path, operations, patches.json)).spec).toEqual(spec);
  });

  test.each([
    ["whose test fails", [{ op: "test", path: "/spec/a", value: 2 }]],
    ["that remove what is not there", [{ op: "remove", path: "/spec/none" }]],
    ["whose parent is not there", [{ op: "add", path: "/spec/none/b", value: 1 }]],
    ["beyond the end of a list", [{ op: "add", path: "/spec/l/9", value: 1 }]],
  ])("in JSON %s are refused whole", async (_what, operations) => {
    const { made, path } = await withWidget({ a: 1, l: [] });
    const first = { op: "add", path: "/spec/b", value: 1 };
    const answer = await api.refused("PATCH", path, [first, ...operations], patches.json);
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    expect((await api.ok("GET", path)).metadata.resourceVersion).toBe(
      made.metadata.resourceVersion,
    );
  });

  test("in JSON that are no list are refused", async () => {
    const { path } = await withWidget({});
    const answer = await api.refused("PATCH", path, { op: "add" }, patches.json);
    expect(answer).toMatchObject({ code: 400, reason: "BadRequest" });
  });

  test.each([
    ["set fields and leave others", { b: 2 }, { a: 1, l: [1, 2], m: { x: 1 }, b: 2 }],
    ["take fields away by null", { a: null }, { l: [1, 2], m: { x: 1 } }],
    ["go deep", { m: { y: 2 } }, { a: 1, l: [1, 2], m: { x: 1, y: 2 } }],
    ["replace lists whole", { l: [3] }, { a: 1, l: [3], m: { x: 1 } }],
    ["replace a map by a text", { m: "x" }, { a: 1, l: [1, 2], m: "x" }],
    ["do not mind what is not there", { none: null }, { a: 1, l: [1, 2], m: { x: 1 } }],
  ])("by merging %s", async (_what, change, spec) => {
    const { path } = await withWidget({ a: 1, l: [1, 2], m: { x: 1 } });
    expect((await api.ok("PATCH", path, { spec: change })).spec).toEqual(spec);
  });

  test("by merging take a label away by null", async () => {
    const namespace = await api.namespace();
    const metadata = { name: "a", labels: { one: "1", two: "2" } };
    await api.ok("POST", configMaps(namespace), { metadata });
    const change = { metadata: { labels: { one: null, three: "3" } } };
    const patched = await api.ok("PATCH", configMaps(namespace, "a"), change);
    expect(patched.metadata.labels).toEqual({ two: "2", three: "3" });
  });

  test("that change nothing leave the version", async () => {
    const { made, path } = await withWidget({ a: 1 });
    const patched = await api.ok("PATCH", path, { spec: { a: 1 } });
    expect(patched.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  test("of what is not there are refused", async () => {
    const path = configMaps(await api.namespace(), "none");
    for (const options of [patches.merge, patches.json, patches.strategic]) {
      const body = options === patches.json ? [] : {};
      expect(await api.refused("PATCH", path, body, options)).toMatchObject({
        code: 404,
        reason: "NotFound",
        message: 'configmaps "none" not found',
      });
    }
  });

  test("cannot give another name", async () => {
    const { path } = await withWidget({});
    const answer = await api.refused("PATCH", path, { metadata: { name: "b" } });
    expect(answer.code).toBe(400);
    expect(answer.message).toContain("the name of the object (b) does not match");
  });

  test("cannot give another uid", async () => {
    const { path } = await withWidget({});
    const uid = "00000000-0000-0000-0000-000000000000";
    const answer = await api.refused("PATCH", path, { metadata: { uid } });
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
  });

  test("of a form that nobody knows are refused, with the forms that are known", async () => {
    const { path } = await withWidget({});
    const answer = await api.refused("PATCH", path, {}, { contentType: "application/json" });
    expect(answer).toMatchObject({ code: 415, reason: "UnsupportedMediaType" });
    expect(answer.message).toContain("application/merge-patch+json");
  });

  test("that merge by strategy are refused for custom resources", async () => {
    const { path } = await withWidget({});
    const answer = await api.refused("PATCH", path, { spec: {} }, patches.strategic);
    expect(answer).toMatchObject({ code: 415, reason: "UnsupportedMediaType" });
  });

  test("by strategy merge a list by its key", async () => {
    const path = await withService();
    const change = {
      spec: {
        ports: [
          { port: 443, targetPort: 8443 },
          { name: "dns", port: 53 },
        ],
      },
    };
    const patched = await api.ok("PATCH", path, change, patches.strategic);
    expect(portsOf(patched).toSorted()).toEqual(["dns 53 53", "tls 443 8443", "web 80 80"]);
  });

  test("by merging replace the same list", async () => {
    const path = await withService();
    const patched = await api.ok("PATCH", path, { spec: { ports: [{ name: "dns", port: 53 }] } });
    expect(portsOf(patched)).toEqual(["dns 53 53"]);
  });

  test("by strategy delete an entry of a list", async () => {
    const path = await withService();
    const change = { spec: { ports: [{ port: 80, $patch: "delete" }] } };
    const patched = await api.ok("PATCH", path, change, patches.strategic);
    expect(portsOf(patched)).toEqual(["tls 443 443"]);
  });

  test("by strategy replace a list where they say so", async () => {
    const path = await withService();
    const change = { spec: { ports: [{ name: "dns", port: 53 }, { $patch: "replace" }] } };
    const patched = await api.ok("PATCH", path, change, patches.strategic);
    expect(portsOf(patched)).toEqual(["dns 53 53"]);
  });

  test("by strategy put a list in the order they say", async () => {
    const path = await withService();
    const change = {
      spec: {
        "$setElementOrder/ports": [{ port: 53 }, { port: 443 }, { port: 80 }],
        ports: [{ name: "dns", port: 53 }],
      },
    };
    const patched = await api.ok("PATCH", path, change, patches.strategic);
    expect(portsOf(patched)).toEqual(["dns 53 53", "tls 443 443", "web 80 80"]);
  });

  test("by strategy add to finalizers and take from them", async () => {
    const namespace = await api.namespace();
    const path = configMaps(namespace, "a");
    const metadata = { name: "a", finalizers: ["example.com/one"] };
    await api.ok("POST", configMaps(namespace), { metadata });
    const add = { metadata: { finalizers: ["example.com/two"] } };
    const added = await api.ok("PATCH", path, add, patches.strategic);
    expect(added.metadata.finalizers?.toSorted()).toEqual(["example.com/one", "example.com/two"]);
    const take = { metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/one"] } };
    const taken = await api.ok("PATCH", path, take, patches.strategic);
    expect(taken.metadata.finalizers).toEqual(["example.com/two"]);
  });

  test("by strategy merge owners by their uid", async () => {
    const namespace = await api.namespace();
    const owner = async (name: string) => {
      const { metadata } = await api.ok("POST", configMaps(namespace), { metadata: { name } });
      return { apiVersion: "v1", kind: "ConfigMap", name, uid: metadata.uid };
    };
    const [one, two] = [await owner("one"), await owner("two")];
    const metadata = { name: "a", ownerReferences: [one] };
    await api.ok("POST", configMaps(namespace), { metadata });
    const change = { metadata: { ownerReferences: [two] } };
    const patched = await api.ok("PATCH", configMaps(namespace, "a"), change, patches.strategic);
    const names = patched.metadata.ownerReferences?.map(({ name }) => name);
    expect(names?.toSorted()).toEqual(["one", "two"]);
  });

  test("by strategy delete a map and set fields to null", async () => {
    const namespace = await api.namespace();
    const path = configMaps(namespace, "a");
    await api.ok("POST", configMaps(namespace), {
      metadata: { name: "a", labels: { l: "1" } },
      data: { one: "1", two: "2" },
    });
    const change = { metadata: { labels: { $patch: "delete" } }, data: { one: null } };
    const patched = await api.ok("PATCH", path, change, patches.strategic);
    expect(patched.data).toEqual({ two: "2" });
    expect(patched.metadata).not.toHaveProperty("labels");
  });

  test("of the conditions of a Node merge by type", async () => {
    const name = `node-${await api.namespace()}`;
    await api.ok("POST", "/api/v1/nodes", { metadata: { name } });
    const path = `/api/v1/nodes/${name}/status`;
    const condition = (type: string, status: string) => ({
      type,
      status,
      reason: "R",
      message: "m",
    });
    await api.ok(
      "PATCH",
      path,
      { status: { conditions: [condition("Ready", "False")] } },
      patches.strategic,
    );
    const change = {
      status: { conditions: [condition("Ready", "True"), condition("Tired", "False")] },
    };
    const { status } = await api.ok("PATCH", path, change, patches.strategic);
    const conditions = status?.conditions as { type: string; status: string }[];
    expect(conditions.map(({ type, status }) => `${type} ${status}`).toSorted()).toEqual([
      "Ready True",
      "Tired False",
    ]);
    await api.ok("DELETE", `/api/v1/nodes/${name}`);
  });
});
