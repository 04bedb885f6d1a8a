import type { Schema } from "../resource.ts";
import { prunedMetadata } from "./embedded.ts";
import { type Fields, fieldOf, isFields, setField } from "./plain.ts";

/** What every object has, whether its schema says so or not; metadata is checked elsewhere. */
export const typeFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** The schema of a field: its own, or that of all others. `undefined` where there is none. */
export function schemaOfField(schema: Schema | undefined, name: string): Schema | undefined {
  if (schema === undefined) return undefined;
  const own = fieldOf(schema.properties, name);
  if (own !== undefined) return own;
  const others = schema.additionalProperties;
  return typeof others === "object" ? others : undefined;
}

/** The object without what its schema does not know; `unknown` gets the path of each field that went. */
export function pruned(object: Fields, schema: Schema, unknown: string[]): Fields {
  const root = { ...schema, "x-kubernetes-embedded-resource": true };
  const result = prunedValue(object, root, "", unknown) as Fields;
  unknown.sort();
  return result;
}

/**
 * Nothing below a value without a schema is known. Where unknown fields are kept, the known ones among
 * them are looked at all the same.
 */
function prunedValue(
  value: unknown,
  schema: Schema | undefined,
  path: string,
  unknown: string[],
): unknown {
  if (Array.isArray(value)) return prunedItems(value, schema, path, unknown);
  if (!isFields(value)) return value;
  return prunedFields(value, schema, path, unknown);
}

function prunedItems(
  items: unknown[],
  schema: Schema | undefined,
  path: string,
  unknown: string[],
): unknown[] {
  const keeps = schema?.["x-kubernetes-preserve-unknown-fields"] === true;
  // Items are kept with the list that holds them, though their own schema does not say so.
  const item = keeps ? keeping(schema.items) : schema?.items;
  if (keeps && item === undefined) return items;
  let copy: unknown[] | undefined;
  for (const [index, value] of items.entries()) {
    const next = prunedValue(value, item, `${path}[${index}]`, unknown);
    if (next === value) continue;
    copy ??= [...items];
    copy[index] = next;
  }
  return copy ?? items;
}

function keeping(schema: Schema | undefined): Schema | undefined {
  return schema && { ...schema, "x-kubernetes-preserve-unknown-fields": true };
}

function prunedFields(
  fields: Fields,
  schema: Schema | undefined,
  path: string,
  unknown: string[],
): Fields {
  const keeps = schema?.["x-kubernetes-preserve-unknown-fields"] === true;
  const isResource = schema?.["x-kubernetes-embedded-resource"] === true;
  let copy: Fields | undefined;
  for (const name of Object.keys(fields)) {
    // The metadata of the object itself is looked at elsewhere.
    if (isResource && (path === "" || name !== "metadata") && typeFields.has(name)) continue;
    const at = path === "" ? name : `${path}.${name}`;
    const known = fieldOf(schema?.properties, name);
    const isMetadata = isResource && name === "metadata";
    if (known === undefined && !schema?.additionalProperties && !isMetadata) {
      if (keeps) continue;
      copy ??= { ...fields };
      delete copy[name];
      unknown.push(at);
      continue;
    }
    const value = fields[name];
    const next = isMetadata
      ? prunedMetadata(value, at, unknown)
      : prunedValue(value, known ?? schemaOfField(schema, name), at, unknown);
    if (next === value) continue;
    copy ??= { ...fields };
    setField(copy, name, next);
  }
  return copy ?? fields;
}

/**
 * The value without nulls that its schema neither allows nor replaces by a default. Items of a list stay
 * where they are, null or not.
 */
export function withoutNulls(value: unknown, schema: Schema | undefined): unknown {
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (const [index, item] of value.entries()) {
      const next = withoutNulls(item, schema?.items);
      if (next === item) continue;
      copy ??= [...value];
      copy[index] = next;
    }
    return copy ?? value;
  }
  if (!isFields(value)) return value;
  let copy: Fields | undefined;
  for (const name of Object.keys(value)) {
    const own = schemaOfField(schema, name);
    const old = value[name];
    if (old === null && own !== undefined && own.nullable !== true && own.default == null) {
      copy ??= { ...value };
      delete copy[name];
      continue;
    }
    const next = withoutNulls(old, own);
    if (next === old) continue;
    copy ??= { ...value };
    setField(copy, name, next);
  }
  return copy ?? value;
}
