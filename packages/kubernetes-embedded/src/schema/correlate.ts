import type { Schema } from "../resource.ts";
import { isFields, same } from "./plain.ts";
import { schemaOfField } from "./prune.ts";

/**
 * A value and the one that it replaces. What an update leaves as it was is not held against it, and a rule
 * about a change sees both: fields go by name, items of a list by their keys where the list has keys.
 */
export interface Pair {
  value: unknown;
  old: unknown;
  schema: Schema;
  /** Whether the two are equal, once somebody asked. */
  equal?: boolean;
  items?: OldItems;
}

/** The pair of a field, where both have it and the schema knows it. */
export function pairOfField(pair: Pair | undefined, name: string): Pair | undefined {
  if (pair === undefined || !isFields(pair.value) || !isFields(pair.old)) return undefined;
  const { value, old } = pair;
  const schema = schemaOfField(pair.schema, name);
  if (schema === undefined || !Object.hasOwn(value, name) || !Object.hasOwn(old, name)) {
    return undefined;
  }
  return { value: value[name], old: old[name], schema };
}

/** The pair of an item, where the list tells its items apart by keys. */
export function pairOfItem(pair: Pair | undefined, index: number): Pair | undefined {
  if (pair === undefined || !Array.isArray(pair.value) || !Array.isArray(pair.old)) {
    return undefined;
  }
  const schema = pair.schema.items;
  if (schema === undefined) return undefined;
  pair.items ??= oldItems(pair.schema, pair.old);
  const value: unknown = pair.value[index];
  const old = pair.items(value);
  return old === undefined ? undefined : { value, old, schema };
}

/** Whether an update leaves a value as it was. Fields that no schema knows are never taken for equal. */
export function isUnchanged(pair: Pair | undefined): boolean {
  if (pair === undefined) return false;
  pair.equal ??= compare(pair);
  return pair.equal;
}

function compare(pair: Pair): boolean {
  const { value, old } = pair;
  if (Array.isArray(value) && Array.isArray(old)) return compareItems(pair, value, old);
  if (!isFields(value) || !isFields(old)) return same(value, old);
  const names = Object.keys(value);
  if (names.length !== Object.keys(old).length) return false;
  return names.every((name) => isUnchanged(pairOfField(pair, name)));
}

function compareItems(pair: Pair, value: unknown[], old: unknown[]): boolean {
  if (value.length !== old.length) return false;
  if (pair.schema["x-kubernetes-list-type"] !== "map") return same(value, old);
  return value.every((_, index) => isUnchanged(pairOfItem(pair, index)));
}

/** Finds the old item that has the keys of a new one. */
export type OldItems = (item: unknown) => unknown;

/** The old items of a list by their keys; none where the list has no keys. */
export function oldItems(schema: Schema, items: readonly unknown[]): OldItems {
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (schema["x-kubernetes-list-type"] !== "map" || keys.length === 0) return () => undefined;
  const byKey = new Map<string, unknown>();
  for (const item of items) {
    const key = keyOf(item, keys);
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item);
  }
  return (item) => {
    const key = keyOf(item, keys);
    return key === undefined ? undefined : byKey.get(key);
  };
}

function keyOf(item: unknown, keys: readonly string[]): string | undefined {
  if (!isFields(item)) return undefined;
  const values = keys.map((key) => (Object.hasOwn(item, key) ? item[key] : undefined));
  const scalar = values.every((value) => ["string", "number", "boolean"].includes(typeof value));
  return scalar ? JSON.stringify(values) : undefined;
}
