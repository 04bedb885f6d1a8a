import { describe, expect, test } from "vitest";
import type { Schema, Stored } from "../resource.ts";
import { asGoReads } from "./as-go-reads.ts";

const text: Schema = { type: "string" };
const schema: Schema = {
  type: "object",
  properties: {
    data: { type: "object", additionalProperties: text },
    spec: {
      type: "object",
      properties: {
        list: { type: "array", items: { type: "object", properties: { a: text } } },
        texts: { type: "array", items: text },
        a: text,
      },
    },
  },
};

const metadata = { name: "a", uid: "u", resourceVersion: "1", creationTimestamp: "" };

function read(builtIn: boolean, fields: Record<string, unknown>): unknown {
  const object: Stored = { apiVersion: "v1", kind: "Thing", metadata, ...fields };
  return asGoReads({ schema, builtIn }, object);
}

describe("as Go reads it", () => {
  test("an object has no empty metadata, and its managers as they were sent", () => {
    const given = { labels: {}, annotations: { a: "1" }, finalizers: [], ownerReferences: null };
    for (const builtIn of [true, false]) {
      const sent = { metadata: { ...metadata, ...given, managedFields: [] } };
      expect(read(builtIn, sent)).toMatchObject({
        metadata: { ...metadata, annotations: { a: "1" }, managedFields: [] },
      });
      expect(read(builtIn, sent)).not.toHaveProperty("metadata.labels");
      expect(read(builtIn, sent)).not.toHaveProperty("metadata.finalizers");
      expect(read(builtIn, sent)).not.toHaveProperty("metadata.ownerReferences");
    }
  });

  test("a built-in has no empty maps or lists and nothing that is null, but empty structures", () => {
    expect(read(true, { data: {}, spec: { list: [], a: null } })).toEqual({
      apiVersion: "v1",
      kind: "Thing",
      metadata,
      spec: {},
    });
  });

  test("null is an empty value where something has to be", () => {
    const given = { data: { a: null }, spec: { list: [null, { a: "1" }], texts: [null] } };
    expect(read(true, given)).toMatchObject({
      data: { a: "" },
      spec: { list: [{}, { a: "1" }], texts: [""] },
    });
  });

  test("a custom resource is otherwise as it was sent", () => {
    const given = { data: { a: null }, spec: { list: [] } };
    expect(read(false, given)).toMatchObject(given);
  });
});
