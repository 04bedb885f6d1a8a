import { expect, test } from "vitest";
import type { Schema, Stored } from "../resource.ts";
import { shapeOf } from "./shape.ts";

const metadata = {
  name: "a",
  uid: "u",
  resourceVersion: "1",
  creationTimestamp: "2026-01-01T00:00:00Z",
};

function object(spec: unknown, more: object = {}): Stored {
  return { apiVersion: "test.io/v1", kind: "Thing", metadata, spec, ...more };
}

function schemaOf(spec: Schema, more: Schema = {}): Schema {
  return { type: "object", properties: { spec }, ...more };
}

const text: Schema = { type: "string" };

test.each<[string, Schema, unknown, unknown, string[]]>([
  [
    "drops fields that the schema does not know, and tells their paths in order",
    { type: "object", properties: { a: text, list: { type: "array", items: { type: "object" } } } },
    { z: { y: 1 }, a: "x", list: [{}, { b: 1 }] },
    { a: "x", list: [{}, {}] },
    ["spec.list[1].b", "spec.z"],
  ],
  [
    "keeps every name of a map, and looks into its values",
    { type: "object", additionalProperties: { type: "object", properties: { a: text } } },
    { one: { a: "x", b: 1 }, constructor: { a: "y" } },
    { one: { a: "x" }, constructor: { a: "y" } },
    ["spec.one.b"],
  ],
  [
    "keeps unknown fields where it is told to, but not those of a known field among them",
    {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      properties: { known: { type: "object", properties: { a: text } } },
    },
    { free: { b: [1] }, known: { a: "x", c: 1 } },
    { free: { b: [1] }, known: { a: "x" } },
    ["spec.known.c"],
  ],
  [
    "keeps what items of a kept list hold",
    {
      type: "array",
      "x-kubernetes-preserve-unknown-fields": true,
      items: { type: "object", properties: { a: { type: "object" } } },
    },
    [{ a: { x: 1 }, b: 1 }],
    [{ a: {}, b: 1 }],
    ["spec[0].a.x"],
  ],
  [
    "leaves kind, version and metadata of an embedded object",
    { type: "object", "x-kubernetes-embedded-resource": true },
    { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec: {} },
    { apiVersion: "v1", kind: "Pod", metadata: { name: "a" } },
    ["spec.spec"],
  ],
  [
    "knows nothing below the values of a map of anything",
    { type: "object", additionalProperties: true },
    { a: 1, b: { c: 1 } },
    { a: 1, b: {} },
    ["spec.b.c"],
  ],
  [
    "drops a null that is not allowed, unless a default is to replace it",
    {
      type: "object",
      properties: { a: text, b: { ...text, nullable: true }, c: { ...text, default: "x" } },
    },
    { a: null, b: null, c: null },
    { b: null, c: null },
    [],
  ],
  [
    "does not take a field of a JavaScript object for one of the schema",
    { type: "object", properties: { a: text } },
    JSON.parse('{"toString": {"a": 1}, "__proto__": {"a": 1}}'),
    {},
    ["spec.__proto__", "spec.toString"],
  ],
])("pruning %s", (_name, schema, given, wanted, unknown) => {
  const got = shapeOf(schemaOf(schema)).prune(object(given));
  expect(got).toEqual({ object: object(wanted), unknown });
});

test("pruning gives back the object itself when nothing is to go, and never changes it", () => {
  const schema = schemaOf({ type: "object", properties: { a: text } });
  const fine = object({ a: "x" });
  expect(shapeOf(schema).prune(fine).object).toBe(fine);
  const other = object({ a: "x", b: "y" });
  shapeOf(schema).prune(other);
  expect(other).toEqual(object({ a: "x", b: "y" }));
});

test("metadata is left alone, whatever the schema says of it", () => {
  const schema = schemaOf({ type: "object" });
  schema.properties = { ...schema.properties, metadata: { type: "object", properties: {} } };
  const given = object({}, { metadata: { ...metadata, labels: null } });
  expect(shapeOf(schema).prune(given)).toEqual({ object: given, unknown: [] });
});

test.each<[string, Schema, unknown, unknown]>([
  [
    "at every depth, below defaults as well",
    {
      type: "object",
      properties: {
        inner: {
          type: "object",
          default: {},
          properties: { size: { type: "integer", default: 3 }, name: text },
        },
      },
    },
    {},
    { inner: { size: 3 } },
  ],
  [
    "in lists and maps",
    {
      type: "object",
      properties: {
        list: { type: "array", items: { type: "object", properties: { a: { default: 1 } } } },
        map: {
          type: "object",
          additionalProperties: { type: "object", properties: { b: { default: false } } },
        },
      },
    },
    { list: [{}, { a: 2 }], map: { x: {} } },
    { list: [{ a: 1 }, { a: 2 }], map: { x: { b: false } } },
  ],
  [
    "in the place of a null that is not allowed",
    {
      type: "object",
      properties: {
        a: { type: "string", default: "x" },
        b: { type: "string", default: "x", nullable: true },
        list: { type: "array", items: { type: "string", default: "y" } },
        map: { type: "object", additionalProperties: { type: "string", default: "z" } },
      },
    },
    { a: null, b: null, list: [null, "k"], map: { m: null } },
    { a: "x", b: null, list: ["y", "k"], map: { m: "z" } },
  ],
  [
    "without what the schema would drop of them",
    {
      type: "object",
      properties: { a: { type: "object", default: { b: "x", c: 1 }, properties: { b: text } } },
    },
    {},
    { a: { b: "x" } },
  ],
])("defaults are filled in %s", (_name, schema, given, wanted) => {
  expect(shapeOf(schemaOf(schema)).fill(object(given))).toEqual(object(wanted));
});

test("filling gives back the object itself when there is nothing to fill in", () => {
  const schema = schemaOf({ type: "object", properties: { a: { type: "string", default: "x" } } });
  const full = object({ a: "y" });
  expect(shapeOf(schema).fill(full)).toBe(full);
});
