import { expect, test } from "vitest";
import { fc } from "../../../../test/setup/random.ts";
import { Lines, withoutManagedFields } from "./lines.ts";

test("lines come out whole however the bytes are cut", () => {
  const line = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", ""));
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.integer({ min: 1, max: 9 })), (expected, cuts) => {
      const bytes = Buffer.from(expected.map((each) => `${each}\n`).join(""));
      const lines = new Lines();
      const got: string[] = [];
      let at = 0;
      for (let i = 0; at < bytes.length; i++) {
        const size = cuts[i % cuts.length] ?? 7;
        lines.push(bytes.subarray(at, at + size), (each) => got.push(each));
        at += size;
      }
      expect(got).toEqual(expected);
      expect(lines.isPartial).toBe(false);
    }),
  );
});

test("a line without its end is reported as half written", () => {
  const lines = new Lines();
  lines.push(Buffer.from('{"a":1}\n{"b"'), () => {});
  expect(lines.isPartial).toBe(true);
});

const word = fc.string({ maxLength: 8 });
const nasty = fc.constantFrom(
  '}],"name":"',
  "}]},",
  '"managedFields":[',
  '"metadata":{',
  '],"',
  "\\",
  '"',
);
const text = fc.oneof(
  word,
  nasty,
  fc.tuple(word, nasty, word).map((parts) => parts.join("")),
);
const fields = fc.dictionary(text, fc.dictionary(text, fc.constant({}), { maxKeys: 2 }), {
  maxKeys: 3,
});
const managedFields = fc.array(
  fc.record({
    apiVersion: text,
    fieldsType: fc.constant("FieldsV1"),
    fieldsV1: fields,
    manager: text,
    operation: fc.constant("Apply"),
    time: text,
  }),
  { minLength: 1, maxLength: 3 },
);
const parts = fc.record({
  annotations: fc.dictionary(text, text, { maxKeys: 2 }),
  managedFields,
  name: text,
  spec: fc.dictionary(text, text, { maxKeys: 3 }),
  status: fc.jsonValue(),
});

test.each([
  [
    "custom resource, keys in order",
    (o: Parts) => ({
      apiVersion: "v1",
      kind: "A",
      metadata: { annotations: o.annotations, managedFields: o.managedFields, name: o.name },
      spec: o.spec,
      status: o.status,
    }),
  ],
  [
    "built-in kind, managed fields last",
    (o: Parts) => ({
      kind: "B",
      apiVersion: "v1",
      metadata: { name: o.name, annotations: o.annotations, managedFields: o.managedFields },
      spec: { containers: [{ ports: [{}], name: o.name }] },
      status: o.status,
    }),
  ],
  [
    "object with managed fields in the middle",
    (o: Parts) => ({
      kind: "C",
      apiVersion: "v1",
      metadata: { name: o.name, managedFields: o.managedFields, generation: 1 },
      spec: { subnets: [{ links: [{}], name: o.name }] },
      status: o.status,
    }),
  ],
])("cutting managed fields out of a %s leaves everything else as it was", (_what, shape) => {
  fc.assert(
    fc.property(parts, (object) => {
      const whole = JSON.stringify({ type: "MODIFIED", object: shape(object) });
      const expected = JSON.parse(whole);
      const cut = JSON.parse(withoutManagedFields(whole));
      delete expected.object.metadata.managedFields;
      delete cut.object.metadata.managedFields;
      expect(cut).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test("managed fields really are cut out of what the API server sends", () => {
  const sorted =
    '{"metadata":{"generation":1,"managedFields":[{"fieldsV1":{"f:spec":{}},"manager":"m"}],"name":"x"},"spec":{}}';
  const last = '{"metadata":{"name":"x","managedFields":[{"manager":"m"}]},"spec":{}}';
  expect(withoutManagedFields(sorted)).toBe('{"metadata":{"generation":1,"name":"x"},"spec":{}}');
  expect(withoutManagedFields(last)).toBe('{"metadata":{"name":"x"},"spec":{}}');
});

test("managed fields of an object within the object are left alone", () => {
  const nested =
    '{"data":{"metadata":{"managedFields":[{"a":1}],"name":"in"}},"metadata":{"name":"out"}}';
  expect(JSON.parse(withoutManagedFields(nested))).toBeTypeOf("object");
  const template =
    '{"metadata":{"name":"x"},"spec":{"metadata":{"managedFields":[{"a":1}],"name":"in"}}}';
  expect(withoutManagedFields(template)).toBe(template);
});

type Parts = {
  annotations: unknown;
  managedFields: unknown;
  name: string;
  spec: unknown;
  status: unknown;
};
