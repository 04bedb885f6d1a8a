import type { Schema } from "@postern/kubernetes-embedded/resource.ts";

/** Values for a schema, from small pools, so that those of different managers meet. */
export interface Values {
  /** True once in so many times. */
  rarely(times: number): boolean;
  pick<T>(from: readonly T[]): T;
  some<T>(from: readonly T[]): T[];
  /** Whether lists may hold the same twice, which only an apply looks at. */
  twice: boolean;
  /** A value that fits; now and then null or empty. */
  valueFor(schema: Schema): unknown;
  /** Some fields of an object. */
  fieldsOf(properties: Record<string, Schema>, oneIn: number): Record<string, unknown>;
}

const words = ["red", "green", "blue", "a<b"];

export function randomValues(chance: () => number): Values {
  const rarely = (times: number) => chance() * times < 1;
  const pick = <T>(from: readonly T[]): T => from[Math.floor(chance() * from.length)] as T;
  const some = <T>(from: readonly T[]): T[] =>
    from
      .map((value) => [chance(), value] as const)
      .sort(([a], [b]) => a - b)
      .slice(0, Math.floor(chance() * (from.length + 1)))
      .map(([, value]) => value);

  const fieldsOf = (properties: Record<string, Schema>, oneIn: number) =>
    Object.fromEntries(
      Object.entries(properties)
        .filter(() => rarely(oneIn))
        .map(([name, schema]) => [name, valueFor(schema)]),
    );

  function listOf(schema: Schema): unknown[] {
    const items = schema.items as Schema;
    const keys = schema["x-kubernetes-list-map-keys"];
    if (keys === undefined) {
      const pool: unknown[] = items.type === "integer" ? [1, 2, 3, 10] : (items.enum ?? words);
      const list = items.type === "object" ? [valueFor(items), valueFor(items)] : some(pool);
      return values.twice && rarely(25) ? [...list, ...list.slice(0, 1)] : list;
    }
    const required = items.required ?? [];
    const names: unknown[] =
      items.properties?.[required[0] as string]?.type === "integer" ? [80, 443, 8080] : words;
    return (values.twice && rarely(25) ? [...some(names), ...some(names)] : some(names)).map(
      (name) => ({
        ...(valueFor({ ...items, required: [] }) as object),
        [required[0] as string]: name,
      }),
    );
  }

  function anything(depth: number): unknown {
    if (depth === 0 || rarely(3)) return pick([1, 2, "red", true, false, null]);
    if (rarely(3)) return some(["red", 1, { a: 1 }]);
    return Object.fromEntries(some(["a", "b", "c"]).map((name) => [name, anything(depth - 1)]));
  }

  function objectOf(schema: Schema): unknown {
    if (schema["x-kubernetes-embedded-resource"]) {
      const metadata = { name: pick(["n", "m"]), labels: { l: pick(words) } };
      return { apiVersion: "v1", kind: pick(["Pod", "Job"]), metadata, open: anything(2) };
    }
    const known = fieldsOf(schema.properties ?? {}, 2);
    if (typeof schema.additionalProperties === "object") {
      const field = schema.additionalProperties;
      return Object.fromEntries(some(["k", "l", "m"]).map((name) => [name, valueFor(field)]));
    }
    if (!schema["x-kubernetes-preserve-unknown-fields"]) return known;
    const more = anything(3);
    return typeof more === "object" && !Array.isArray(more) ? { ...more, ...known } : known;
  }

  function valueFor(schema: Schema): unknown {
    if (rarely(40)) return null;
    if (schema.default !== undefined && rarely(2)) return schema.default;
    switch (schema.type) {
      case "object":
        return objectOf(schema);
      case "array":
        return listOf(schema);
      case "integer":
        return pick([1, 2, 3]);
      case "boolean":
        return pick([true, false]);
      case "string":
        return pick(schema.enum ?? words);
      default:
        return schema["x-kubernetes-int-or-string"] ? pick([1, "50%"]) : anything(2);
    }
  }

  const values: Values = { rarely, pick, some, twice: false, valueFor, fieldsOf };
  return values;
}
