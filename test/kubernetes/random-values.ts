import type { Schema } from "@postern/kubernetes-embedded/resource.ts";
import { fc } from "../setup/random.ts";

const words = [
  "",
  "a",
  "ab",
  "abcd",
  "abcde",
  "no",
  "nope",
  "late",
  "never",
  "x".repeat(25),
  "Slow",
];

/** Texts that are of a format, almost of it, or of another. */
const formatted: Readonly<Record<string, string[]>> = {
  "date-time": ["2026-01-02T03:04:05Z", "2031-01-02T03:04:05.5+02:00", "2026-13-02T03:04:05Z", "x"],
  date: ["2026-02-28", "2026-02-30", "26-1-1"],
  duration: ["10s", "2h30m", "5 days", "soon"],
  ipv4: ["10.0.0.1", "010.0.0.1", "10.0.0.256", "::1"],
  ipv6: ["::1", "fd00::4", "10.0.0.1", "fe80::1%eth0"],
  cidr: ["10.0.0.0/8", "10.0.0.1/33", "fd00::/64", "10.0.0.0"],
  uri: ["https://a.example/b?c=d", "/path", "a b", "example.com", "mailto:x@y"],
  email: ["a@b.example", "A <a@b.example>", "a@", "a b@c"],
  hostname: ["a.example.com", "a_b", "-a", "a"],
  mac: ["00:11:22:33:44:55", "00-11-22-33-44-55", "0011.2233.4455", "00:11"],
  uuid: ["550e8400-e29b-41d4-a716-446655440000", "550e8400e29b41d4a716446655440000", "550e"],
  byte: ["YWJj", "YWI=", "a", ""],
  "k8s-short-name": ["abc", "Abc", "-a"],
};

const scalar = fc.oneof(
  fc.constantFrom<unknown>(...words),
  fc.integer({ min: -2, max: 12 }),
  fc.constantFrom<unknown>(1.5, 0.25, true, false, null, 2 ** 31, 1e9, 2 ** 40),
);

const loose: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  {
    weight: 1,
    arbitrary: fc.dictionary(fc.constantFrom("a", "b", "known"), scalar, { maxKeys: 3 }),
  },
);

/** Values of a schema, most of them near to what it wants. */
export function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 14, arbitrary: fittingOf(schema) },
    { weight: 1, arbitrary: loose },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}

function fittingOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom<unknown>(...schema.enum, ...schema.enum, "other");
  switch (schema.type) {
    case "object":
      return objectsOf(schema);
    case "array":
      return fc.array(valuesOf(schema.items ?? {}), { maxLength: 4 });
    case "string":
      return fc.constantFrom(...(formatted[schema.format ?? ""] ?? words));
    case "integer":
      return fc.oneof(fc.integer({ min: -2, max: 12 }), fc.constantFrom(5, 50, 2 ** 31, 2 ** 40));
    case "number":
      return fc.constantFrom(0, 0.5, 1, 1.25, 1e9, 2e8 + 0.5, -1, 1e39);
    case "boolean":
      return fc.boolean();
    default:
      return loose;
  }
}

function objectsOf(schema: Schema): fc.Arbitrary<unknown> {
  const others = schema.additionalProperties;
  if (typeof others === "object") {
    return fc.dictionary(fc.constantFrom("a", "b", "c", "d"), valuesOf(others), { maxKeys: 4 });
  }
  if (schema["x-kubernetes-embedded-resource"]) return embedded;
  const names = Object.keys(schema.properties ?? {});
  const fields = names.map((name) => valuesOf(schema.properties?.[name] ?? {}));
  const known = fc.subarray(names, { maxLength: Math.min(8, names.length) }).chain((chosen) => {
    const values = chosen.map((name) => fields[names.indexOf(name)] as fc.Arbitrary<unknown>);
    return fc.tuple(...values).map((all) => Object.fromEntries(chosen.map((n, i) => [n, all[i]])));
  });
  const stray = fc.oneof(
    { weight: 5, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.dictionary(fc.constantFrom("stray", "toString"), loose) },
  );
  return fc.tuple(known, stray).map(([one, other]) => ({ ...one, ...other }));
}

const embedded = fc.record(
  {
    apiVersion: fc.constantFrom("v1", "apps/v1", ""),
    kind: fc.constantFrom("Pod", "Config-Map", "", "9"),
    metadata: fc.record({ name: fc.constantFrom("a", "b") }),
    more: loose,
  },
  { requiredKeys: [] },
);
