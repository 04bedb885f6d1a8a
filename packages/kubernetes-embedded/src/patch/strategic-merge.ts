import type { Schema, Stored } from "../resource.ts";
import { own } from "./compare.ts";
import { fieldSchema, withObjectFields } from "./field-type.ts";
import { isMap, type Patched, Unpatchable, unexplained, unreadable } from "./refusal.ts";
import {
  checkOrder,
  type ItemRules,
  mergeList,
  ordered,
  unknownDirective,
} from "./strategic-list.ts";

type Map = Record<string, unknown>;

const deletePrefix = "$deleteFromPrimitiveList";
const orderPrefix = "$setElementOrder";

/**
 * The object after a strategic merge patch: a merge patch that merges lists by the keys that the schema names, and that
 * says what a merge cannot say by fields that begin with `$`.
 */
export function strategicMerge(schema: Schema, object: Stored, patch: unknown): Patched {
  if (!isMap(patch)) return unreadable("a strategic merge patch is an object");
  try {
    return { object: mergeMap(withObjectFields(schema), object, patch) as Stored };
  } catch (error) {
    if (error instanceof Unpatchable) return { refused: error.refusal };
    throw error;
  }
}

function mergeMap(schema: Schema | undefined, old: Map, patch: Map): Map {
  if ("$patch" in patch) return directed(patch);
  const result = retained(old, patch);
  const inOrder = new Set<string>();
  for (const [name, order] of Object.entries(patch)) {
    if (!name.startsWith(orderPrefix)) continue;
    const field = namedBy(name, orderPrefix, "invalid patch format of setElementOrder list");
    inOrder.add(field);
    setOrder(schema, result, patch, field, order);
  }
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith(orderPrefix) || name === "$retainKeys" || inOrder.has(name)) continue;
    if (name.startsWith(deletePrefix)) {
      const field = namedBy(name, deletePrefix, "invalid patch format of primitive list");
      deleteItems(result, field, value);
    } else {
      setField(schema, result, name, value);
    }
  }
  return result;
}

/** A map that says by `$patch` what becomes of it as a whole. */
function directed(patch: Map): Map {
  const { $patch: directive, ...rest } = patch;
  if (directive === "replace") return rest;
  if (directive === "delete") return {};
  throw new Unpatchable(unexplained(unknownDirective(patch)));
}

/** A copy of a map, without the fields that `$retainKeys` leaves out. */
function retained(old: Map, patch: Map): Map {
  if (!("$retainKeys" in patch)) return { ...old };
  const keys: unknown = patch.$retainKeys;
  const sent = Object.entries(patch).filter(
    ([name, value]) => value !== null && !name.startsWith("$"),
  );
  if (!Array.isArray(keys) || sent.some(([name]) => !keys.includes(name))) {
    throw new Unpatchable(unreadable("invalid patch format of retainKeys").refused);
  }
  return Object.fromEntries(Object.entries(old).filter(([name]) => keys.includes(name)));
}

function namedBy(directive: string, prefix: string, message: string): string {
  if (!directive.startsWith(`${prefix}/`)) throw new Unpatchable(unreadable(message).refused);
  return directive.slice(prefix.length + 1);
}

function setField(schema: Schema | undefined, result: Map, name: string, value: unknown): void {
  if (name === "__proto__") return;
  const old = own(result, name);
  const field = fieldSchema(schema, name);
  if (value === null) delete result[name];
  else if (isMap(old) && isMap(value)) result[name] = mergeMap(field, old, value);
  else if (Array.isArray(old) && Array.isArray(value)) result[name] = listAfter(field, old, value);
  else {
    const plain = withoutDirectives(value);
    if (plain === undefined) delete result[name];
    else result[name] = plain;
  }
}

function deleteItems(result: Map, name: string, items: unknown): void {
  const old = own(result, name);
  if (items === null) delete result[name];
  else if (Array.isArray(old) && Array.isArray(items)) {
    result[name] = old.filter((item) => !items.includes(item));
  }
}

function setOrder(
  schema: Schema | undefined,
  result: Map,
  patch: Map,
  name: string,
  order: unknown,
): void {
  const [old, sent] = [own(result, name), own(patch, name)];
  const lists = [order, old ?? [], sent ?? []];
  if (!lists.every(Array.isArray)) {
    throw new Unpatchable(unexplained("expected a []interface {}, but received something else"));
  }
  const [wanted, before, changes] = lists as [unknown[], unknown[], unknown[]];
  if (old === undefined && sent === undefined) return;
  const field = fieldSchema(schema, name);
  const rules = itemRules(field);
  checkOrder(rules, changes, wanted);
  const merged =
    sent === undefined
      ? before
      : old === undefined
        ? withoutDirectives(changes)
        : listAfter(field, before, changes);
  result[name] = ordered(rules, merged as unknown[], wanted, before);
}

function listAfter(field: Schema | undefined, old: unknown[], patch: unknown[]): unknown[] {
  const strategies = field?.["x-kubernetes-patch-strategy"]?.split(",") ?? [];
  return strategies.includes("merge") ? mergeList(itemRules(field), old, patch) : patch;
}

function itemRules(field: Schema | undefined): ItemRules {
  return {
    key: field?.["x-kubernetes-patch-merge-key"],
    merge: (old, patch) => mergeMap(field?.items, old, patch),
  };
}

/** A new value without what only makes sense beside an old one; undefined where nothing is left to set. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(withoutDirectives).filter((item) => item !== undefined);
  }
  if (!isMap(value)) return value;
  if ("$patch" in value) return undefined;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== null)
      .map(([name, field]) => [name, withoutDirectives(field)] as const)
      .filter(([, field]) => field !== undefined),
  );
}
