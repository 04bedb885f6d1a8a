import type { Cause, Schema } from "../resource.ts";
import { duplicate, goJson, invalid } from "./causes.ts";
import { type Fields, fieldOf, isFields } from "./plain.ts";

/** Items that are there twice, in lists that are sets or that tell their items apart by keys. */
export function repeated(value: unknown, schema: Schema | undefined, path = ""): Cause[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) return repeatedItems(value, schema, path);
  if (!isFields(value)) return [];
  return Object.keys(value).flatMap((name) => {
    const own = fieldOf(schema.properties, name);
    if (own) return repeated(value[name], own, path === "" ? name : `${path}.${name}`);
    const others = schema.additionalProperties;
    return typeof others === "object" ? repeated(value[name], others, `${path}[${name}]`) : [];
  });
}

function repeatedItems(items: unknown[], schema: Schema, path: string): Cause[] {
  const below = schema.items
    ? items.flatMap((item, index) => repeated(item, schema.items, `${path}[${index}]`))
    : [];
  return [...repeatedHere(items, schema, path), ...below];
}

function repeatedHere(items: unknown[], schema: Schema, path: string): Cause[] {
  const type = schema["x-kubernetes-list-type"];
  if (type === "set") return second(items).map((at) => duplicate(`${path}[${at}]`, items[at]));
  if (type !== "map") return [];
  const strange = items.findIndex((item) => item !== null && !isFields(item));
  if (strange !== -1) {
    const detail = "must be an object for an array of list-type map";
    return [invalid(`${path}[${strange}]`, items[strange], detail)];
  }
  const names = schema["x-kubernetes-list-map-keys"] ?? [];
  const keys = items.map((item) => keysOf(item as Fields | null, names));
  return second(keys).map((at) => duplicate(`${path}[${at}]`, keys[at]));
}

function keysOf(item: Fields | null, names: readonly string[]): Fields {
  const own = names.filter((name) => item !== null && Object.hasOwn(item, name));
  return Object.fromEntries(own.map((name) => [name, item?.[name]]));
}

/** Where a value comes for the second time; a third is not told of. */
function second(values: readonly unknown[]): number[] {
  const seen = new Map<string, number>();
  const result: number[] = [];
  for (const [index, value] of values.entries()) {
    const text = goJson(value);
    const times = seen.get(text) ?? 0;
    if (times === 1) result.push(index);
    seen.set(text, times + 1);
  }
  return result;
}
