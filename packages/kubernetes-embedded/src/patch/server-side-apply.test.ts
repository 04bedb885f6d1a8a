import { describe, expect, test } from "vitest";
import type { ManagedFields, Schema, Stored } from "../resource.ts";
import type { Owned } from "./managers.ts";
import { recordUpdate } from "./record-update.ts";
import type { Refusal } from "./refusal.ts";
import { serverSideApply } from "./server-side-apply.ts";

const text: Schema = { type: "string" };
const number: Schema = { type: "integer" };

const spec: Schema = {
  type: "object",
  properties: {
    size: number,
    color: text,
    options: { type: "object", additionalProperties: text },
    whole: {
      type: "object",
      "x-kubernetes-map-type": "atomic",
      properties: { a: text, b: text },
    },
    ports: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["port", "protocol"],
      items: {
        type: "object",
        properties: { port: number, protocol: { type: "string", default: "TCP" }, name: text },
      },
    },
    zones: { type: "array", "x-kubernetes-list-type": "set", items: text },
    steps: { type: "array", items: text },
    open: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
};

const widgets: Owned & { kind: string } = {
  group: "example.com",
  version: "v1",
  kind: "Widget",
  status: true,
  builtIn: false,
  schema: {
    type: "object",
    properties: { spec, status: { type: "object", properties: { phase: text } } },
  },
};

const metadata = { name: "a", uid: "u", resourceVersion: "1", creationTimestamp: "" };
const start = Date.parse("2026-01-01T00:00:00Z");

/** One object in the hands of several managers; each write is a second after the last. */
class World {
  object: Stored | undefined;
  private clock = start;

  update(manager: string, fields: Record<string, unknown>, more: object = {}): this {
    this.clock += 1000;
    const after = { apiVersion: "example.com/v1", kind: "Widget", metadata, ...fields } as Stored;
    const entries = recordUpdate({
      resource: widgets,
      before: this.object,
      after,
      manager,
      now: this.clock,
      ...more,
    });
    const { managedFields: _, ...rest } = after.metadata;
    this.object = { ...after, metadata: { ...rest, ...(entries && { managedFields: entries }) } };
    return this;
  }

  tryApply(
    manager: string,
    fields: Record<string, unknown>,
    more: object = {},
  ): Refusal | undefined {
    this.clock += 1000;
    const applied = {
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "a" },
      ...fields,
    } as Stored;
    const result = serverSideApply({
      resource: widgets,
      live: this.object,
      applied,
      manager,
      force: false,
      now: this.clock,
      ...more,
    });
    if ("refused" in result) return result.refused;
    this.object = { ...result.object, metadata: { ...metadata, ...result.object.metadata } };
    return undefined;
  }

  apply(manager: string, fields: Record<string, unknown>, more: object = {}): this {
    const refused = this.tryApply(manager, fields, more);
    if (refused) throw new Error(refused.message);
    return this;
  }

  get spec(): unknown {
    return this.object?.spec;
  }

  entry(manager: string): ManagedFields | undefined {
    return this.object?.metadata.managedFields?.find((entry) => entry.manager === manager);
  }

  fields(manager: string): unknown {
    return this.entry(manager)?.fieldsV1;
  }
}

describe("an update", () => {
  test("owns all that it creates, but not what the API server says of an object", () => {
    const world = new World().update("one", {
      metadata: { ...metadata, labels: { l: "1" }, finalizers: ["x/y"] },
      spec: { size: 1, zones: ["b", "a"], ports: [{ port: 80, name: "web" }], steps: ["x"] },
    });
    expect(world.object?.metadata.managedFields).toEqual([
      {
        manager: "one",
        operation: "Update",
        apiVersion: "example.com/v1",
        time: "2026-01-01T00:00:01Z",
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:metadata": {
            "f:finalizers": { ".": {}, 'v:"x/y"': {} },
            "f:labels": { ".": {}, "f:l": {} },
          },
          "f:spec": {
            ".": {},
            "f:ports": {
              ".": {},
              'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:name": {}, "f:port": {} },
            },
            "f:size": {},
            "f:steps": {},
            "f:zones": { ".": {}, 'v:"a"': {}, 'v:"b"': {} },
          },
        },
      },
    ]);
  });

  test("takes over what it changes and lets go of what it removes", () => {
    const world = new World()
      .update("one", { spec: { size: 1, color: "red", steps: ["x"] } })
      .update("two", { spec: { size: 2, color: "red" } });
    expect(world.fields("one")).toEqual({ "f:spec": { ".": {}, "f:color": {} } });
    expect(world.fields("two")).toEqual({ "f:spec": { "f:size": {} } });
  });

  test("that changes nothing keeps its old time", () => {
    const world = new World()
      .update("one", { spec: { size: 1 } })
      .update("one", { spec: { size: 1 } });
    expect(world.entry("one")?.time).toBe("2026-01-01T00:00:01Z");
  });

  test("by two versions is two entries", () => {
    const older = { ...widgets, version: "v1beta1" };
    const world = new World()
      .update("one", { spec: { size: 1, color: "red" } }, { resource: older })
      .update("one", { spec: { size: 2, color: "red" } }, { others: [older] });
    const entries = world.object?.metadata.managedFields?.map((entry) => [
      entry.apiVersion,
      entry.fieldsV1,
    ]);
    expect(entries).toEqual([
      ["example.com/v1beta1", { "f:spec": { ".": {}, "f:color": {} } }],
      ["example.com/v1", { "f:spec": { "f:size": {} } }],
    ]);
  });

  test("drops who manages by a version that is no longer served", () => {
    const world = new World()
      .update("one", { spec: { size: 1 } }, { resource: { ...widgets, version: "v1beta1" } })
      .update("two", { spec: { size: 1, color: "red" } });
    expect(world.entry("one")).toBeUndefined();
  });

  test("of the object does not own its status, and one of the status owns nothing else", () => {
    const world = new World()
      .update("one", { spec: { size: 1 }, status: { phase: "x" } })
      .update("two", { spec: { size: 2 }, status: { phase: "y" } }, { subresource: "status" });
    expect(world.fields("one")).toEqual({ "f:spec": { ".": {}, "f:size": {} } });
    expect(world.entry("two")).toMatchObject({
      subresource: "status",
      fieldsV1: { "f:status": { "f:phase": {} } },
    });
  });

  test("with one empty manager has none, until somebody applies", () => {
    const world = new World().update("one", { spec: { size: 1 } });
    const managedFields = [{}];
    world.update("two", { metadata: { ...metadata, managedFields }, spec: { size: 2 } });
    expect(world.object?.metadata.managedFields).toBeUndefined();
    world.update("two", { spec: { size: 3 } });
    expect(world.object?.metadata.managedFields).toBeUndefined();
    world.apply("three", { spec: { color: "red" } });
    expect(world.fields("before-first-apply")).toEqual({ "f:spec": { ".": {}, "f:size": {} } });
    expect(world.fields("three")).toEqual({ "f:spec": { "f:color": {} } });
  });

  test("with an empty list of managers throws those of a built-in away, of no other", () => {
    const given = { metadata: { ...metadata, managedFields: [] }, spec: { size: 2 } };
    const world = () => new World().update("one", { spec: { size: 1 } });
    expect(world().update("two", given).fields("two")).toEqual({ "f:spec": { "f:size": {} } });
    const builtIn = { resource: { ...widgets, builtIn: true } };
    expect(world().update("two", given, builtIn).object?.metadata.managedFields).toBeUndefined();
  });

  test("by an eleventh manager puts the oldest together", () => {
    const world = new World();
    const options: Record<string, string> = {};
    for (let index = 0; index < 12; index++) {
      options[`o${index}`] = "x";
      world.update(`m${index}`, { spec: { options: { ...options } } });
    }
    expect(world.object?.metadata.managedFields).toHaveLength(10);
    expect(world.entry("ancient-changes")).toMatchObject({
      time: "2026-01-01T00:00:03Z",
      fieldsV1: { "f:spec": { "f:options": { "f:o0": {}, "f:o1": {}, "f:o2": {} } } },
    });
  });
});

describe("an apply", () => {
  test("creates an object and owns what it said", () => {
    const world = new World().apply("one", { spec: { size: 1, options: { a: "1" } } });
    expect(world.spec).toEqual({ size: 1, options: { a: "1" } });
    expect(world.entry("one")).toEqual({
      manager: "one",
      operation: "Apply",
      apiVersion: "example.com/v1",
      time: "2026-01-01T00:00:01Z",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:spec": { "f:options": { "f:a": {} }, "f:size": {} } },
    });
  });

  test("removes what it said before and no longer says", () => {
    const world = new World()
      .apply("one", { spec: { size: 1, color: "red", ports: [{ port: 80 }, { port: 81 }] } })
      .apply("one", { spec: { size: 1, ports: [{ port: 81 }] } });
    expect(world.spec).toEqual({ size: 1, ports: [{ port: 81 }] });
  });

  test("leaves what others say too", () => {
    const world = new World()
      .apply("one", { spec: { size: 1, options: { a: "1", b: "2" } } })
      .apply("two", { spec: { size: 1, options: { a: "1" } } })
      .apply("one", { spec: {} });
    expect(world.spec).toEqual({ size: 1, options: { a: "1" } });
    expect(world.fields("two")).toEqual({ "f:spec": { "f:options": { "f:a": {} }, "f:size": {} } });
  });

  test("leaves what nobody applied", () => {
    const world = new World()
      .update("one", { spec: { size: 1 } })
      .apply("two", { spec: { color: "red" } })
      .apply("two", {});
    expect(world.spec).toEqual({ size: 1 });
    expect(world.entry("two")).toBeUndefined();
  });

  test("shares a field with others where the value is equal, without a time of its own", () => {
    const world = new World()
      .update("one", { spec: { size: 1 } })
      .apply("two", { spec: { size: 1 } });
    expect(world.fields("one")).toEqual({ "f:spec": { ".": {}, "f:size": {} } });
    expect(world.entry("two")).toMatchObject({ fieldsV1: { "f:spec": { "f:size": {} } } });
    expect(world.entry("two")).not.toHaveProperty("time");
  });

  test("is refused where it would change what others say, in the words of the API server", () => {
    const world = new World().update("one", { spec: { size: 1, color: "red" } });
    expect(world.tryApply("two", { spec: { size: 2 } })).toEqual({
      code: 409,
      reason: "Conflict",
      message: 'Apply failed with 1 conflict: conflict with "one" using example.com/v1: .spec.size',
      causes: [
        {
          reason: "FieldManagerConflict",
          message: 'conflict with "one" using example.com/v1',
          field: ".spec.size",
        },
      ],
    });
    world.apply("three", { spec: { color: "red" } });
    expect(world.tryApply("two", { spec: { size: 2, color: "blue" } })?.message).toBe(
      'Apply failed with 3 conflicts: conflicts with "one" using example.com/v1:\n- .spec.color\n- .spec.size\nconflicts with "three":\n- .spec.color',
    );
  });

  test("by force takes fields over", () => {
    const world = new World()
      .update("one", { spec: { size: 1, color: "red" } })
      .apply("two", { spec: { size: 2 } }, { force: true });
    expect(world.spec).toEqual({ size: 2, color: "red" });
    expect(world.fields("one")).toEqual({ "f:spec": { ".": {}, "f:color": {} } });
  });

  test("owns an atomic map or list as a whole", () => {
    const world = new World()
      .update("one", { spec: { whole: { a: "1" }, steps: ["x"] } })
      .apply("two", { spec: { whole: { b: "2" }, steps: ["y"] } }, { force: true });
    expect(world.spec).toEqual({ whole: { b: "2" }, steps: ["y"] });
    expect(world.fields("two")).toEqual({ "f:spec": { "f:steps": {}, "f:whole": {} } });
    expect(world.fields("one")).toEqual({ "f:spec": {} });
  });

  test("merges lists by their keys, in the order in which it says them", () => {
    const world = new World()
      .update("one", {
        spec: { ports: [{ port: 1 }, { port: 2 }, { port: 3 }], zones: ["a", "b"] },
      })
      .apply("two", { spec: { ports: [{ port: 3, name: "c" }, { port: 1 }], zones: ["c", "a"] } });
    expect(world.spec).toEqual({
      ports: [{ port: 2 }, { port: 3, name: "c" }, { port: 1 }],
      zones: ["c", "a", "b"],
    });
  });

  test("merges maps without a schema, and takes their lists whole", () => {
    const world = new World()
      .update("one", { spec: { open: { a: { b: 1 }, list: [1] } } })
      .apply("two", { spec: { open: { a: { c: 2 }, list: [2] } } }, { force: true });
    expect(world.spec).toEqual({ open: { a: { b: 1, c: 2 }, list: [2] } });
    expect(world.fields("two")).toEqual({
      "f:spec": { "f:open": { "f:a": { ".": {}, "f:c": {} }, "f:list": {} } },
    });
  });

  test("of nothing new changes nothing at all", () => {
    const world = new World().apply("one", { spec: { size: 1 } });
    const before = structuredClone(world.object);
    world.apply("one", { spec: { size: 1 } });
    expect(world.object).toEqual(before);
  });

  test("by kubectl goes on where kubectl was before it applied on the server", () => {
    const key = "kubectl.kubernetes.io/last-applied-configuration";
    const type = { apiVersion: "example.com/v1", kind: "Widget" };
    const last = JSON.stringify({
      ...type,
      metadata: { name: "a" },
      spec: { size: 1, color: "red" },
    });
    const before = {
      metadata: { ...metadata, annotations: { [key]: last } },
      spec: { size: 1, color: "blue" },
    };
    const world = () => new World().update("kubectl-client-side-apply", before);
    expect(world().tryApply("other", { spec: { size: 2 } })?.code).toBe(409);
    // Somebody changed this one since.
    expect(world().tryApply("kubectl", { spec: { size: 2, color: "red" } })?.message).toBe(
      'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using example.com/v1: .spec.color',
    );
    const after = world().apply("kubectl", { spec: { size: 2 } });
    expect(after.spec).toEqual({ size: 2, color: "blue" });
    expect(JSON.parse(after.object?.metadata.annotations?.[key] ?? "")).toEqual({
      ...type,
      metadata: { name: "a" },
      spec: { size: 2 },
    });
    expect(after.fields("kubectl")).toEqual({ "f:spec": { "f:size": {} } });
  });

  test("of the status is another entry, and resets nothing of the object", () => {
    const world = new World()
      .apply("one", { spec: { size: 1 }, status: { phase: "x" } })
      .apply("one", { spec: { size: 1 }, status: { phase: "y" } }, { subresource: "status" });
    const entries = world.object?.metadata.managedFields?.map((entry) => [
      entry.subresource,
      entry.fieldsV1,
    ]);
    expect(entries).toEqual([
      [undefined, { "f:spec": { "f:size": {} } }],
      ["status", { "f:status": { "f:phase": {} } }],
    ]);
  });

  test.each([
    [{ kind: "Gadget" }, 400, "invalid object type: example.com/v1, Kind=Gadget"],
    [{ metadata: { name: "a", managedFields: [] } }, 400, "metadata.managedFields must be nil"],
    [
      { spec: { ports: [{ port: 1 }, { port: 1, protocol: "TCP" }] } },
      500,
      'failed to create typed patch object (/a; example.com/v1, Kind=Widget): .spec.ports: duplicate entries for key [port=1,protocol="TCP"]',
    ],
    [
      { spec: { size: "x", weight: 1 } },
      500,
      "failed to create typed patch object (/a; example.com/v1, Kind=Widget): errors:\n  .spec.size: expected numeric (int or float), got string\n  .spec.weight: field not declared in schema",
    ],
  ])("of %j is refused with %i", (fields, code, message) => {
    expect(new World().tryApply("one", fields)).toMatchObject({ code, message });
  });
});
