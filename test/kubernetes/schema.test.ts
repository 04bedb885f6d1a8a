import { expect, test } from "vitest";
import { describeApi, patches } from "./api.ts";
import { withWidgets } from "./widgets.ts";

describeApi("schemas", (api) => {
  const text = { type: "string" };
  const widgets = withWidgets(api, {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer", minimum: 1, maximum: 9 },
        share: { type: "number", exclusiveMinimum: true, minimum: 0 },
        step: { type: "integer", multipleOf: 5 },
        name: { type: "string", minLength: 2, maxLength: 4, pattern: "^[a-z]+$" },
        mode: { type: "string", enum: ["Slow", "Fast"] },
        on: { type: "boolean" },
        port: { "x-kubernetes-int-or-string": true },
        when: { type: "string", format: "date-time" },
        address: { type: "string", format: "ipv4" },
        range: { type: "string", format: "cidr" },
        link: { type: "string", format: "uri" },
        bytes: { type: "string", format: "byte" },
        small: { type: "integer", format: "int32" },
        empty: { type: "string", nullable: true },
        list: { type: "array", items: text, minItems: 1, maxItems: 3 },
        set: { type: "array", items: text, "x-kubernetes-list-type": "set" },
        keyed: {
          type: "array",
          items: {
            type: "object",
            required: ["key"],
            properties: { key: text, value: { type: "string", default: "none" } },
          },
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["key"],
        },
        map: { type: "object", additionalProperties: { type: "integer" }, maxProperties: 2 },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        nested: {
          type: "object",
          required: ["must"],
          properties: { must: text, filled: { type: "integer", default: 5 } },
        },
        whole: {
          type: "object",
          default: { a: 1 },
          properties: { a: { type: "integer" }, b: { type: "integer", default: 2 } },
        },
        one: {
          type: "object",
          properties: { left: text, right: text },
          oneOf: [{ required: ["left"] }, { required: ["right"] }],
        },
        embedded: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
      },
    },
  });
  const make = async (spec: object) =>
    (await api.ok("POST", widgets.path(await api.namespace()), widgets.widget("a", { spec }))).spec;
  const refuse = async (spec: object) =>
    api.refused("POST", widgets.path(await api.namespace()), widgets.widget("a", { spec }));

  test.each<[string, object, string, string, string]>([
    [
      "a wrong type",
      { size: "x" },
      "spec.size",
      "FieldValueTypeInvalid",
      'Invalid value: "string": spec.size in body must be of type integer: "string"',
    ],
    [
      "a fraction",
      { size: 1.5 },
      "spec.size",
      "FieldValueTypeInvalid",
      'Invalid value: "number": spec.size in body must be of type integer: "number"',
    ],
    [
      "too little",
      { size: 0 },
      "spec.size",
      "FieldValueInvalid",
      "Invalid value: 0: spec.size in body should be greater than or equal to 1",
    ],
    [
      "too much",
      { size: 10 },
      "spec.size",
      "FieldValueInvalid",
      "Invalid value: 10: spec.size in body should be less than or equal to 9",
    ],
    [
      "what must be more",
      { share: 0 },
      "spec.share",
      "FieldValueInvalid",
      "Invalid value: 0: spec.share in body should be greater than 0",
    ],
    [
      "no multiple",
      { step: 7 },
      "spec.step",
      "FieldValueInvalid",
      "Invalid value: 7: spec.step in body should be a multiple of 5",
    ],
    [
      "a text that is too short",
      { name: "a" },
      "spec.name",
      "FieldValueInvalid",
      'Invalid value: "a": spec.name in body should be at least 2 chars long',
    ],
    [
      "a text that is too long",
      { name: "abcde" },
      "spec.name",
      "FieldValueTooLong",
      "Too long: may not be more than 4 bytes",
    ],
    [
      "a text of another pattern",
      { name: "AB" },
      "spec.name",
      "FieldValueInvalid",
      "Invalid value: \"AB\": spec.name in body should match '^[a-z]+$'",
    ],
    [
      "a word that is not listed",
      { mode: "Medium" },
      "spec.mode",
      "FieldValueNotSupported",
      'Unsupported value: "Medium": supported values: "Slow", "Fast"',
    ],
    [
      "no list",
      { list: "a" },
      "spec.list",
      "FieldValueTypeInvalid",
      'Invalid value: "string": spec.list in body must be of type array: "string"',
    ],
    [
      "too few items",
      { list: [] },
      "spec.list",
      "FieldValueInvalid",
      "Invalid value: 0: spec.list in body should have at least 1 items",
    ],
    [
      "too many items",
      { list: ["a", "b", "c", "d"] },
      "spec.list",
      "FieldValueTooMany",
      "Too many: 4: must have at most 3 items",
    ],
    [
      "a wrong item",
      { list: ["a", 1] },
      "spec.list[1]",
      "FieldValueTypeInvalid",
      'Invalid value: "integer": spec.list[1] in body must be of type string: "integer"',
    ],
    [
      "one item twice",
      { set: ["a", "a"] },
      "spec.set[1]",
      "FieldValueDuplicate",
      'Duplicate value: "a"',
    ],
    [
      "one key twice",
      { keyed: [{ key: "a" }, { key: "a" }] },
      "spec.keyed[1]",
      "FieldValueDuplicate",
      'Duplicate value: {"key":"a"}',
    ],
    [
      "a wrong value of a map",
      { map: { a: "x" } },
      "spec.map.a",
      "FieldValueTypeInvalid",
      'Invalid value: "string": spec.map.a in body must be of type integer: "string"',
    ],
    [
      "a map that is too large",
      { map: { a: 1, b: 2, c: 3 } },
      "spec.map",
      "FieldValueTooMany",
      "Too many: 3: must have at most 2 items",
    ],
    ["what is missing", { nested: {} }, "spec.nested.must", "FieldValueRequired", "Required value"],
    [
      "a time that is none",
      { when: "yesterday" },
      "spec.when",
      "FieldValueTypeInvalid",
      'Invalid value: "yesterday": spec.when in body must be of type date-time: "yesterday"',
    ],
    [
      "an address that is none",
      { address: "10.0.0" },
      "spec.address",
      "FieldValueTypeInvalid",
      'Invalid value: "10.0.0": spec.address in body must be of type ipv4: "10.0.0"',
    ],
    [
      "a range that is none",
      { range: "10.0.0.0/99" },
      "spec.range",
      "FieldValueTypeInvalid",
      'Invalid value: "10.0.0.0/99": spec.range in body must be of type cidr: "10.0.0.0/99"',
    ],
    [
      "a boolean in quotes",
      { on: "true" },
      "spec.on",
      "FieldValueTypeInvalid",
      'Invalid value: "string": spec.on in body must be of type boolean: "string"',
    ],
    [
      "a list for a number or a text",
      { port: [1] },
      "spec.port",
      "FieldValueTypeInvalid",
      'Invalid value: "array": spec.port in body must be of type integer,string: "array"',
    ],
  ])("refuse %s", async (_what, spec, field, reason, message) => {
    const answer = await refuse(spec);
    expect(answer).toMatchObject({
      code: 422,
      reason: "Invalid",
      details: { name: "a", group: widgets.group, kind: "Widget" },
    });
    expect(answer.details.causes).toContainEqual({ reason, message, field });
    expect(answer.message).toContain(`Widget.${widgets.group} "a" is invalid: `);
  });

  test("refuse neither and both of what must be one", async () => {
    expect((await refuse({ one: {} })).code).toBe(422);
    expect((await refuse({ one: { left: "a", right: "b" } })).code).toBe(422);
    expect(await make({ one: { left: "a" } })).toMatchObject({ one: { left: "a" } });
  });

  test("tell of all that is wrong at once", async () => {
    const answer = await refuse({ size: 0, mode: "x", nested: {} });
    expect(answer.details.causes?.map(({ field }) => field).toSorted()).toEqual([
      "spec.mode",
      "spec.nested.must",
      "spec.size",
    ]);
    expect(answer.message).toContain(" is invalid: [");
  });

  test.each<[string, object]>([
    ["a number for a number or a text", { port: 80 }],
    ["a text for a number or a text", { port: "80%" }],
    ["the end of a range", { size: 9 }],
    ["null where it may be null", { empty: null }],
    ["times with a zone", { when: "2026-01-01T00:00:00+02:00" }],
    ["whole numbers that are written as fractions", { share: 1.0 }],
  ])("take %s", async (_what, spec) => {
    expect(await make(spec)).toMatchObject(spec);
  });

  test("drop null where it may not be null, and fill in what that leaves", async () => {
    expect(await make({ nested: { must: "x", filled: null } })).toMatchObject({
      nested: { must: "x", filled: 5 },
    });
  });

  test("fill in what is left out, at any depth", async () => {
    expect(await make({ nested: { must: "x" }, keyed: [{ key: "k" }] })).toEqual({
      whole: { a: 1, b: 2 },
      nested: { must: "x", filled: 5 },
      keyed: [{ key: "k", value: "none" }],
    });
  });

  test("fill in nothing where the parent is left out", async () => {
    expect(await make({})).toEqual({ whole: { a: 1, b: 2 } });
  });

  test("keep what is given instead of the default", async () => {
    expect(await make({ nested: { must: "x", filled: 0 }, whole: {} })).toEqual({
      nested: { must: "x", filled: 0 },
      whole: { b: 2 },
    });
  });

  test("drop fields that they do not know, at any depth", async () => {
    expect(
      await make({ stray: 1, nested: { must: "x", stray: 1 }, keyed: [{ key: "k", stray: 1 }] }),
    ).toEqual({
      whole: { a: 1, b: 2 },
      nested: { must: "x", filled: 5 },
      keyed: [{ key: "k", value: "none" }],
    });
  });

  test("keep any field where that is said", async () => {
    const free = { any: { thing: [1, { deep: true }] } };
    expect(await make({ free })).toMatchObject({ free });
  });

  test("check an embedded object's apiVersion and kind", async () => {
    expect((await refuse({ embedded: { spec: {} } })).code).toBe(422);
    const embedded = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { any: 1 } };
    expect(await make({ embedded })).toMatchObject({ embedded });
  });

  test("check a patch like the whole", async () => {
    const namespace = await api.namespace();
    await api.ok("POST", widgets.path(namespace), widgets.widget("a", { spec: { size: 1 } }));
    const path = widgets.path(namespace, "a");
    const answer = await api.refused("PATCH", path, { spec: { size: 10 } });
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    const operations = [{ op: "add", path: "/spec/list", value: [] }];
    expect((await api.refused("PATCH", path, operations, patches.json)).code).toBe(422);
  });

  test("drop unknown fields beside the spec", async () => {
    const object = { ...widgets.widget("a"), stray: 1 };
    const made = await api.ok("POST", widgets.path(await api.namespace()), object);
    expect(made).not.toHaveProperty("stray");
  });
});
