import { expect, test } from "vitest";
import { fc } from "../../../../test/setup/random.ts";
import { resourceBody } from "./resource-body.ts";

test("what is null is absent, at every level, and a resource in a list has properties", () => {
  const body = {
    id: "/a",
    etag: null,
    tags: { owner: "blue", cost: null, count: 3 },
    sku: null,
    properties: {
      subnet: null,
      frontendIPConfigurations: [
        null,
        { id: "/a/f", name: "f" },
        { id: "/a/g", properties: null },
        { name: "h", properties: { privateIPAddress: null, zones: ["1", null] } },
      ],
      loadBalancingRules: [{ id: "/a/r" }],
    },
  };
  expect(resourceBody(body)).toStrictEqual({
    id: "/a",
    tags: { owner: "blue" },
    properties: {
      frontendIPConfigurations: [
        { id: "/a/f", name: "f", properties: {} },
        { id: "/a/g", properties: {} },
        { name: "h", properties: { zones: ["1"] } },
      ],
      loadBalancingRules: [{ id: "/a/r" }],
    },
  });
});

test.each([{}, { properties: null }, { properties: "text" }, { properties: [] }])(
  "%j has properties",
  (body) => {
    expect(resourceBody(body)).toStrictEqual({ properties: {} });
  },
);

test.each([undefined, null, "x", 7, true, []])("%j is no resource", (body) => {
  expect(resourceBody(body)).toBeUndefined();
});

test("a body that is nested without end does not exhaust the stack", () => {
  const body = JSON.parse(`{"properties":${'{"a":'.repeat(50_000)}1${"}".repeat(50_001)}`);
  expect(resourceBody(body)).toHaveProperty("properties.a.a");
});

const item = fc.record(
  {
    id: fc.oneof(fc.string(), fc.jsonValue()),
    name: fc.oneof(fc.string(), fc.jsonValue()),
    etag: fc.jsonValue(),
    location: fc.jsonValue(),
    tags: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
    properties: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
  },
  { requiredKeys: [] },
);

function hasNull(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === null;
  return Object.values(value).some(hasNull);
}

test("whatever a body holds, the types of what every resource has are as declared", () => {
  fc.assert(
    fc.property(item, (given) => {
      const body = resourceBody(given);
      expect(hasNull(body)).toBe(false);
      for (const name of ["id", "name", "etag", "location"] as const)
        expect(["string", "undefined"]).toContain(typeof body?.[name]);
      for (const value of Object.values(body?.tags ?? {})) expect(typeof value).toBe("string");
      expect(Object.getPrototypeOf(body?.properties)).toBe(Object.prototype);
    }),
  );
});

test("a body that is normalised stays as it is, and one without nulls keeps every field", () => {
  fc.assert(
    fc.property(item, (given) => {
      const once = resourceBody(given);
      expect(resourceBody(once)).toStrictEqual(once);
    }),
  );
  const whole = {
    id: "/a",
    name: "a",
    extra: { x: [1, "", false, {}] },
    properties: {
      n: 0,
      empty: [],
      nested: { list: [{ id: "/b" }, { name: "c", properties: {} }] },
    },
  };
  expect(resourceBody(whole)).toStrictEqual(whole);
});
