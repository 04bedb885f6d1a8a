import type { Schema } from "../resource.ts";
import { type Fields, fieldOf, isFields, setField } from "./plain.ts";
import { pruned, schemaOfField } from "./prune.ts";

/**
 * The value with defaults filled in, at every depth; itself where there are none to fill in. A default
 * takes the place of a field that is absent, and of a null that the schema does not allow.
 */
export function filled(value: unknown, schema: Schema | undefined): unknown {
  if (schema === undefined) return value;
  if (Array.isArray(value)) return filledItems(value, schema.items);
  if (isFields(value)) return filledFields(value, schema);
  return value;
}

function filledItems(items: unknown[], schema: Schema | undefined): unknown[] {
  if (schema === undefined) return items;
  let copy: unknown[] | undefined;
  for (const [index, item] of items.entries()) {
    const next = filled(orDefault(item, schema), schema);
    if (next === item) continue;
    copy ??= [...items];
    copy[index] = next;
  }
  return copy ?? items;
}

function filledFields(fields: Fields, schema: Schema): Fields {
  let copy: Fields | undefined;
  for (const name of Object.keys(fields)) {
    const own = schemaOfField(schema, name);
    if (own === undefined) continue;
    const next = filled(orDefault(fields[name], own), own);
    if (next === fields[name]) continue;
    copy ??= { ...fields };
    setField(copy, name, next);
  }
  for (const name of defaultedFields(schema)) {
    if (Object.hasOwn(fields, name)) continue;
    const own = fieldOf(schema.properties, name);
    copy ??= { ...fields };
    setField(copy, name, filled(own?.default, own));
  }
  return copy ?? fields;
}

function orDefault(value: unknown, schema: Schema): unknown {
  if (value !== null || schema.nullable === true) return value;
  return schema.default ?? null;
}

const namesBySchema = new WeakMap<Schema, readonly string[]>();

/** The fields of a schema that have a default: few, and asked for with every write. */
function defaultedFields(schema: Schema): readonly string[] {
  const known = namesBySchema.get(schema);
  if (known !== undefined) return known;
  const properties = Object.entries(schema.properties ?? {});
  const names = properties
    .filter(([, { default: value }]) => value !== undefined && value !== null)
    .map(([name]) => name);
  namesBySchema.set(schema, names);
  return names;
}

/** The schema with defaults that hold nothing which it would itself drop. */
export function withPrunedDefaults(schema: Schema): Schema {
  const result: Schema = { ...schema };
  if (schema.default !== undefined) {
    result.default = pruned({ of: schema.default }, { properties: { of: schema } }, []).of;
  }
  if (schema.items) result.items = withPrunedDefaults(schema.items);
  if (typeof schema.additionalProperties === "object") {
    result.additionalProperties = withPrunedDefaults(schema.additionalProperties);
  }
  if (schema.properties) {
    const properties = Object.entries(schema.properties);
    result.properties = Object.fromEntries(
      properties.map(([name, own]) => [name, withPrunedDefaults(own)]),
    );
  }
  return result;
}
