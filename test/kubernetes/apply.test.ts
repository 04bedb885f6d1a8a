import { expect, test } from "vitest";
import { configMaps, describeApi, patches, type Thing } from "./api.ts";
import { withWidgets } from "./widgets.ts";

describeApi("server-side apply", (api) => {
  const condition = {
    type: "object",
    required: ["type"],
    properties: { type: { type: "string" }, status: { type: "string" } },
  };
  const text = { type: "string" };
  const widgets = withWidgets(api, {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer" },
        colour: { type: "string", default: "grey" },
        tags: { type: "array", items: text, "x-kubernetes-list-type": "set" },
        steps: { type: "array", items: text },
        options: { type: "object", additionalProperties: text },
        whole: { type: "object", additionalProperties: text, "x-kubernetes-map-type": "atomic" },
      },
    },
    status: {
      type: "object",
      properties: {
        conditions: {
          type: "array",
          items: condition,
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["type"],
        },
      },
    },
  });
  const query = (manager: string, more = "") => `?fieldManager=${manager}${more}`;
  const applying = async () => {
    const namespace = await api.namespace();
    const path = widgets.path(namespace, "a");
    const body = (fields: object) => widgets.widget("a", fields);
    return {
      path,
      namespace,
      apply: (manager: string, fields: object, more = "") =>
        api.ok("PATCH", `${path}${query(manager, more)}`, body(fields), patches.apply),
      refused: (manager: string, fields: object) =>
        api.refused("PATCH", `${path}${query(manager)}`, body(fields), patches.apply),
      status: (manager: string, status: object) =>
        api.ok("PATCH", `${path}/status${query(manager)}`, body({ status }), patches.apply),
    };
  };
  const managed = ({ metadata }: Thing) =>
    (metadata.managedFields ?? []).map(({ manager, operation }) => `${manager} ${operation}`);
  const fieldsOf = ({ metadata }: Thing, manager: string) =>
    metadata.managedFields?.find((each) => each.manager === manager)?.fieldsV1;

  test("makes what is not there", async () => {
    const { path, namespace } = await applying();
    const first = await api.request<Thing>(
      "PATCH",
      `${path}${query("one")}`,
      widgets.widget("a", { spec: { size: 1 } }),
      patches.apply,
    );
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({
      metadata: { name: "a", namespace, generation: 1 },
      spec: { size: 1, colour: "grey" },
    });
  });

  test("answers 200 for what is there, and changes nothing the second time", async () => {
    const { apply, path } = await applying();
    const first = await apply("one", { spec: { size: 1 } });
    const body = widgets.widget("a", { spec: { size: 1 } });
    const second = await api.request<Thing>("PATCH", `${path}${query("one")}`, body, patches.apply);
    expect(second.status).toBe(200);
    expect(second.body.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  test("an apply takes YAML as well as JSON", async () => {
    const { path } = await applying();
    const yaml = `apiVersion: ${widgets.apiVersion}\nkind: Widget\nmetadata:\n  name: a\nspec:\n  size: 3\n`;
    const made = await api.ok("PATCH", `${path}${query("one")}`, yaml, patches.apply);
    expect(made.spec).toMatchObject({ size: 3 });
  });

  test("writes down who said what", async () => {
    const { apply } = await applying();
    const made = await apply("one", { spec: { size: 1, tags: ["x"], options: { k: "v" } } });
    const [entry] = made.metadata.managedFields ?? [];
    expect(entry).toMatchObject({
      manager: "one",
      operation: "Apply",
      apiVersion: widgets.apiVersion,
      fieldsType: "FieldsV1",
      fieldsV1: {
        "f:spec": { "f:size": {}, "f:tags": { 'v:"x"': {} }, "f:options": { "f:k": {} } },
      },
    });
    expect(entry?.time).toMatch(/Z$/);
  });

  test("takes away what its manager no longer says", async () => {
    const { apply } = await applying();
    await apply("one", { spec: { size: 1, options: { a: "1", b: "2" } } });
    const { spec } = await apply("one", { spec: { options: { b: "2" } } });
    expect(spec).toEqual({ colour: "grey", options: { b: "2" } });
  });

  test("leaves what another manager says", async () => {
    const { apply } = await applying();
    await apply("one", { spec: { size: 1 } });
    const both = await apply("two", { spec: { options: { k: "v" } } });
    expect(both.spec).toMatchObject({ size: 1, options: { k: "v" } });
    const left = await apply("two", {});
    expect(left.spec).toEqual({ size: 1, colour: "grey" });
  });

  test("leaves what two say until neither does", async () => {
    const { apply } = await applying();
    await apply("one", { spec: { size: 1 } });
    await apply("two", { spec: { size: 1 } });
    expect((await apply("one", { spec: {} })).spec).toMatchObject({ size: 1 });
    expect((await apply("two", { spec: {} })).spec).not.toHaveProperty("size");
  });

  test("refuses to change what another manager says", async () => {
    const { apply, refused } = await applying();
    await apply("one", { spec: { size: 1 } });
    expect(await refused("two", { spec: { size: 2 } })).toMatchObject({
      code: 409,
      reason: "Conflict",
      message: 'Apply failed with 1 conflict: conflict with "one": .spec.size',
      details: {
        causes: [
          { reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".spec.size" },
        ],
      },
    });
  });

  test("counts all conflicts, with each manager", async () => {
    const { apply, refused } = await applying();
    await apply("one", { spec: { size: 1 } });
    await apply("two", { spec: { options: { k: "1" } } });
    const answer = await refused("three", { spec: { size: 2, options: { k: "2" } } });
    expect(answer.message).toMatch(/^Apply failed with 2 conflicts: conflicts with "/);
    expect(answer.details.causes).toHaveLength(2);
  });

  test("takes a field over by force", async () => {
    const { apply } = await applying();
    await apply("one", { spec: { size: 1, options: { k: "v" } } });
    const forced = await apply("two", { spec: { size: 2 } }, "&force=true");
    expect(forced.spec).toMatchObject({ size: 2, options: { k: "v" } });
    expect(fieldsOf(forced, "one")).toEqual({ "f:spec": { "f:options": { "f:k": {} } } });
  });

  test("conflicts with an update of another client", async () => {
    const { apply, path, refused } = await applying();
    await apply("one", { spec: { size: 1 } });
    await api.ok("PATCH", `${path}${query("editor")}`, { spec: { size: 5 } });
    const answer = await refused("one", { spec: { size: 1 } });
    expect(answer.message).toBe(
      `Apply failed with 1 conflict: conflict with "editor" using ${widgets.apiVersion}: .spec.size`,
    );
  });

  test("does not conflict where both say the same", async () => {
    const { apply } = await applying();
    await apply("one", { spec: { size: 1 } });
    const both = await apply("two", { spec: { size: 1 } });
    expect(managed(both).toSorted()).toEqual(["one Apply", "two Apply"]);
  });

  test("shares a set, entry by entry", async () => {
    const { apply } = await applying();
    await apply("one", { spec: { tags: ["a", "b"] } });
    expect((await apply("two", { spec: { tags: ["b", "c"] } })).spec?.tags).toEqual(
      expect.arrayContaining(["a", "b", "c"]),
    );
    expect((await apply("one", { spec: {} })).spec?.tags).toEqual(["b", "c"]);
  });

  test("owns a plain list whole", async () => {
    const { apply, refused } = await applying();
    const made = await apply("one", { spec: { steps: ["a", "b"] } });
    expect(fieldsOf(made, "one")).toEqual({ "f:spec": { "f:steps": {} } });
    expect((await refused("two", { spec: { steps: ["c"] } })).message).toContain(".spec.steps");
  });

  test("owns an atomic map whole", async () => {
    const { apply, refused } = await applying();
    const made = await apply("one", { spec: { whole: { a: "1" } } });
    expect(fieldsOf(made, "one")).toEqual({ "f:spec": { "f:whole": {} } });
    expect((await refused("two", { spec: { whole: { b: "1" } } })).message).toContain(
      ".spec.whole",
    );
  });

  test("shares a list by its keys: two managers, a condition each", async () => {
    const { apply, status } = await applying();
    await apply("maker", { spec: {} });
    await status("one", { conditions: [{ type: "Ready", status: "False" }] });
    await status("two", { conditions: [{ type: "Tired", status: "True" }] });
    const now = await status("one", { conditions: [{ type: "Ready", status: "True" }] });
    expect(now.status?.conditions).toEqual([
      { type: "Ready", status: "True" },
      { type: "Tired", status: "True" },
    ]);
    expect(fieldsOf(now, "two")).toEqual({
      "f:status": {
        "f:conditions": { 'k:{"type":"Tired"}': { ".": {}, "f:status": {}, "f:type": {} } },
      },
    });
    const gone = await status("one", {});
    expect(gone.status?.conditions).toEqual([{ type: "Tired", status: "True" }]);
  });

  test("keeps what is said of the status apart", async () => {
    const { apply, status } = await applying();
    await apply("one", { spec: { size: 1 } });
    const now = await status("one", { conditions: [{ type: "Ready" }] });
    const entries = now.metadata.managedFields?.map(({ subresource }) => subresource);
    expect(entries).toEqual([undefined, "status"]);
    expect((await apply("one", { spec: {} })).status).toEqual({ conditions: [{ type: "Ready" }] });
  });

  test("does not take the status with the object", async () => {
    const { apply } = await applying();
    const made = await apply("one", { spec: {}, status: { conditions: [{ type: "Ready" }] } });
    expect(made).not.toHaveProperty("status");
  });

  test("needs a manager", async () => {
    const { path } = await applying();
    const answer = await api.refused("PATCH", path, widgets.widget("a"), patches.apply);
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    expect(answer.message).toContain("fieldManager: Required value: is required for apply patch");
  });

  test("needs apiVersion and kind", async () => {
    const { path } = await applying();
    const body = { metadata: { name: "a" } };
    const answer = await api.refused("PATCH", `${path}${query("one")}`, body, patches.apply);
    expect(answer.code).toBe(400);
  });

  test("refuses managed fields in what is applied", async () => {
    const { path } = await applying();
    const managedFields = [
      { manager: "x", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} },
    ];
    const body = { ...widgets.widget("a"), metadata: { name: "a", managedFields } };
    const answer = await api.refused("PATCH", `${path}${query("one")}`, body, patches.apply);
    expect(answer.code).toBe(400);
    expect(answer.message).toContain("metadata.managedFields must be nil");
  });

  test("refuses two entries of one key", async () => {
    const { apply, path } = await applying();
    await apply("one", {});
    const status = { conditions: [{ type: "Ready" }, { type: "Ready" }] };
    const body = widgets.widget("a", { status });
    const answer = await api.refused("PATCH", `${path}/status${query("two")}`, body, patches.apply);
    expect([400, 422, 500]).toContain(answer.code);
  });

  test("checks what comes of it", async () => {
    const { refused } = await applying();
    const answer = await refused("one", { spec: { size: "large" } });
    expect([400, 422, 500]).toContain(answer.code);
  });

  test("changes nothing where an old version is named", async () => {
    const { apply, refused } = await applying();
    const { metadata } = await apply("one", { spec: { size: 1 } });
    await apply("one", { spec: { size: 2 } });
    const { resourceVersion } = metadata;
    const answer = await refused("one", {
      metadata: { name: "a", resourceVersion },
      spec: { size: 3 },
    });
    expect(answer).toMatchObject({ code: 409, reason: "Conflict" });
  });

  test("moves the generation only when something changes", async () => {
    const { apply } = await applying();
    await apply("one", { spec: { size: 1 } });
    expect((await apply("two", { spec: { size: 1 } })).metadata.generation).toBe(1);
    expect((await apply("one", { spec: { size: 2 } }, "&force=true")).metadata.generation).toBe(2);
  });

  test("works on built-in kinds, with their keys", async () => {
    const namespace = await api.namespace();
    const path = `/api/v1/namespaces/${namespace}/services/a`;
    const service = (ports: object[]) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "a" },
      spec: { ports },
    });
    const web = { name: "web", port: 80 };
    const tls = { name: "tls", port: 443 };
    await api.ok("PATCH", `${path}${query("one")}`, service([web]), patches.apply);
    const both = await api.ok("PATCH", `${path}${query("two")}`, service([tls]), patches.apply);
    expect(both.spec?.ports).toHaveLength(2);
    expect(Object.keys((fieldsOf(both, "two")?.["f:spec"] as object) ?? {})).toEqual(["f:ports"]);
    expect(JSON.stringify(fieldsOf(both, "two"))).toContain(
      'k:{\\"port\\":443,\\"protocol\\":\\"TCP\\"}',
    );
  });

  test("owns labels and annotations one by one", async () => {
    const namespace = await api.namespace();
    const path = configMaps(namespace, "a");
    const map = (labels: object) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", labels },
    });
    await api.ok("PATCH", `${path}${query("one")}`, map({ a: "1", b: "1" }), patches.apply);
    const both = await api.ok("PATCH", `${path}${query("two")}`, map({ c: "1" }), patches.apply);
    expect(both.metadata.labels).toEqual({ a: "1", b: "1", c: "1" });
    const left = await api.ok("PATCH", `${path}${query("one")}`, map({ b: "1" }), patches.apply);
    expect(left.metadata.labels).toEqual({ b: "1", c: "1" });
  });
});

describeApi("managed fields", (api) => {
  const widgets = withWidgets(api);

  test("name the client of an update by its user agent", async () => {
    const namespace = await api.namespace();
    const made = await api.ok(
      "POST",
      configMaps(namespace),
      { metadata: { name: "a", labels: { l: "1" } }, data: { k: "v" } },
      { headers: { "user-agent": "thing/v1.2 (linux)" } },
    );
    expect(made.metadata.managedFields).toMatchObject([
      {
        manager: "thing",
        operation: "Update",
        apiVersion: "v1",
        fieldsV1: {
          "f:data": { ".": {}, "f:k": {} },
          "f:metadata": { "f:labels": { ".": {}, "f:l": {} } },
        },
      },
    ]);
  });

  test("name the manager that is given", async () => {
    const namespace = await api.namespace();
    const made = await api.ok(
      "POST",
      `${widgets.path(namespace)}?fieldManager=mine`,
      widgets.widget("a", { spec: { a: 1 } }),
    );
    expect(made.metadata.managedFields).toMatchObject([
      { manager: "mine", operation: "Update", fieldsV1: { "f:spec": { ".": {}, "f:a": {} } } },
    ]);
  });

  test("move a field to the one who changed it last", async () => {
    const namespace = await api.namespace();
    const path = widgets.path(namespace, "a");
    await api.ok(
      "POST",
      `${widgets.path(namespace)}?fieldManager=one`,
      widgets.widget("a", { spec: { a: 1, b: 1 } }),
    );
    const changed = await api.ok("PATCH", `${path}?fieldManager=two`, { spec: { b: 2 } });
    const of = (manager: string) =>
      changed.metadata.managedFields?.find((each) => each.manager === manager)?.fieldsV1["f:spec"];
    expect(of("one")).toEqual({ ".": {}, "f:a": {} });
    expect(of("two")).toEqual({ "f:b": {} });
  });

  test("are thrown away by an empty list", async () => {
    const namespace = await api.namespace();
    const path = widgets.path(namespace, "a");
    await api.ok("POST", widgets.path(namespace), widgets.widget("a", { spec: { a: 1 } }));
    const cleared = await api.ok("PATCH", path, { metadata: { managedFields: [{}] } });
    expect(cleared.metadata).not.toHaveProperty("managedFields");
  });

  test("have a manager of at most 128 characters", async () => {
    const namespace = await api.namespace();
    const path = `${configMaps(namespace)}?fieldManager=${"m".repeat(129)}`;
    const answer = await api.refused("POST", path, { metadata: { name: "a" } });
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
  });
});
