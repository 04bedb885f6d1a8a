import { describe, expect, test } from "vitest";
import type { Schema, Stored } from "../resource.ts";
import { strategicMerge } from "./strategic-merge.ts";

const schema: Schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        ports: {
          type: "array",
          "x-kubernetes-patch-strategy": "merge",
          "x-kubernetes-patch-merge-key": "port",
          items: { type: "object" },
        },
        addresses: { type: "array", items: { type: "string" } },
      },
    },
  },
};

const metadata = { name: "a", uid: "u", resourceVersion: "1", creationTimestamp: "" };

function object(fields: Record<string, unknown>): Stored {
  return { apiVersion: "v1", kind: "Service", metadata, ...fields };
}

function patched(fields: Record<string, unknown>, patch: unknown): Record<string, unknown> {
  const result = strategicMerge(schema, object(fields), patch);
  if ("refused" in result) throw new Error(result.refused.message);
  return result.object;
}

const ports = [
  { port: 1, name: "one" },
  { port: 2, name: "two" },
  { port: 3, name: "three" },
];

describe("a strategic merge patch", () => {
  test("merges maps, and removes what is null", () => {
    const before = { metadata: { ...metadata, labels: { a: "1", b: "2" } }, spec: { type: "x" } };
    const patch = {
      metadata: { labels: { a: null, c: "3" } },
      spec: { type: "y", new: { z: null } },
    };
    expect(patched(before, patch)).toMatchObject({
      metadata: { labels: { b: "2", c: "3" } },
      spec: { type: "y", new: {} },
    });
  });

  test("merges lists by the key of the schema, those that it names first", () => {
    const patch = { spec: { ports: [{ port: 4 }, { port: 2, name: null, more: 1 }] } };
    expect(patched({ spec: { ports } }, patch).spec).toEqual({
      ports: [
        { port: 4 },
        { port: 1, name: "one" },
        { port: 2, more: 1 },
        { port: 3, name: "three" },
      ],
    });
  });

  test("replaces a list for which the schema names no strategy", () => {
    const before = { spec: { addresses: ["a", "b"] } };
    expect(patched(before, { spec: { addresses: ["c"] } }).spec).toEqual({ addresses: ["c"] });
  });

  test("adds to a list of plain values, and deletes from it by name", () => {
    const before = { metadata: { ...metadata, finalizers: ["a", "b"] } };
    expect(patched(before, { metadata: { finalizers: ["c", "a"] } }).metadata).toMatchObject({
      finalizers: ["c", "a", "b"],
    });
    const patch = { metadata: { "$deleteFromPrimitiveList/finalizers": ["a", "z"] } };
    expect(patched(before, patch).metadata).toMatchObject({ finalizers: ["b"] });
  });

  test("deletes items and maps by directive", () => {
    const patch = { spec: { ports: [{ port: 2, $patch: "delete" }, { port: 5 }] } };
    expect(patched({ spec: { ports } }, patch).spec).toEqual({
      ports: [{ port: 5 }, ports[0], ports[2]],
    });
    expect(patched({ spec: { ports } }, { spec: { $patch: "delete" } }).spec).toEqual({});
  });

  test("replaces lists and maps by directive", () => {
    const patch = { spec: { ports: [{ $patch: "replace" }, { port: 9 }] } };
    expect(patched({ spec: { ports } }, patch).spec).toEqual({ ports: [{ port: 9 }] });
    const whole = { spec: { $patch: "replace", type: "x" } };
    expect(patched({ spec: { ports } }, whole).spec).toEqual({ type: "x" });
  });

  test("puts items in the order that it asks for", () => {
    const patch = {
      spec: {
        "$setElementOrder/ports": [{ port: 3 }, { port: 4 }, { port: 1 }],
        ports: [{ port: 4, name: "four" }],
      },
    };
    expect(patched({ spec: { ports } }, patch).spec).toEqual({
      ports: [ports[1], ports[2], { port: 4, name: "four" }, ports[0]],
    });
  });

  test("keeps only the fields that it retains", () => {
    const before = { spec: { type: "a", rolling: { x: 1 }, other: 1 } };
    const patch = { spec: { $retainKeys: ["type", "other"], type: "b" } };
    expect(patched(before, patch).spec).toEqual({ type: "b", other: 1 });
  });

  test("drops directives from what is new", () => {
    const patch = {
      spec: {
        ports: [
          { port: 1, $patch: "delete" },
          { port: 2, name: null },
        ],
      },
    };
    expect(patched({}, patch).spec).toEqual({ ports: [{ port: 2 }] });
  });

  test("leaves the object that it was given as it is", () => {
    const before = object({ spec: { ports: structuredClone(ports) } });
    const copy = structuredClone(before);
    strategicMerge(schema, before, { spec: { ports: [{ port: 1, name: "new" }, { port: 9 }] } });
    expect(before).toEqual(copy);
  });

  test.each([
    [[], 400],
    [{ spec: { $patch: "merge" } }, 500],
    [{ spec: { ports: [{ port: 1, $patch: "merge" }] } }, 500],
    [{ spec: { ports: [{ name: "x" }] } }, 500],
    [{ spec: { ports: [{ name: "x", $patch: "delete" }] } }, 500],
    [{ spec: { $retainKeys: ["type"], other: 1 } }, 400],
    [{ spec: { $deleteFromPrimitiveList: [1] } }, 400],
    [{ spec: { $setElementOrder: [1] } }, 400],
    [{ spec: { "$setElementOrder/ports": [{ port: 1 }], ports: [{ port: 2 }] } }, 500],
    [{ spec: { ports: [[1]] } }, 422],
  ])("%j is refused with %i", (patch, code) => {
    expect(strategicMerge(schema, object({ spec: { ports } }), patch)).toMatchObject({
      refused: { code },
    });
  });
});
