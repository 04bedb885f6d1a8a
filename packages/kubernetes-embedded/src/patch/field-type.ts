import type { Schema } from "../resource.ts";
import { keyElement, valueElement } from "./field-path.ts";
import { isMap } from "./refusal.ts";

/** How the values of a field are merged and owned. A field with an open schema may be more than one of these. */
export interface FieldType {
  scalar?: "string" | "numeric" | "boolean" | "untyped";
  list?: ListType;
  map?: MapType;
}

export interface ListType {
  /** An atomic list is owned as a whole; the items of any other one by one. */
  atomic: boolean;
  /** The fields that tell items apart; without any, items are their own keys. */
  keys: readonly string[];
  item: FieldType;
}

export interface MapType {
  atomic: boolean;
  /** The fields that the schema names, with the values that stand in for them where they are absent. */
  fields: ReadonlyMap<string, FieldType>;
  defaults: ReadonlyMap<string, unknown>;
  /** All other fields; undefined where there may be none. */
  rest?: FieldType;
}

/** What a value is taken for. */
export type Kind = "map" | "scalar" | "list";

/** As what a value is handled. Of several possibilities an unfit value, such as null, is handled as the first. */
export function kindOf(type: FieldType, value: unknown): Kind {
  if (type.map && (isMap(value) || !(type.scalar || type.list))) return "map";
  if (type.list && (Array.isArray(value) || !(type.scalar || type.map))) return "list";
  const simple = typeof value !== "object" && value !== undefined;
  if (type.scalar && (simple || !type.map)) return "scalar";
  return type.map ? "map" : "list";
}

/** The type of a field of a map. A field that the schema does not know is taken as it comes. */
export function fieldType(map: MapType, name: string): FieldType {
  return map.fields.get(name) ?? map.rest ?? deduced;
}

/** The step from a list to one of its items; undefined where the item has none of the keys. */
export function itemElement(list: ListType, item: unknown): string | undefined {
  if (list.keys.length === 0) {
    return typeof item === "object" ? undefined : valueElement(item);
  }
  if (!isMap(item)) return undefined;
  const keys: [string, unknown][] = [];
  for (const name of list.keys) {
    const value = item[name] !== undefined ? item[name] : list.item.map?.defaults.get(name);
    if (value !== undefined) keys.push([name, value]);
  }
  return keys.length === 0 ? undefined : keyElement(keys);
}

const untyped: FieldType = { scalar: "untyped" };
untyped.list = { atomic: true, keys: [], item: untyped };
untyped.map = { atomic: true, fields: new Map(), defaults: new Map(), rest: untyped };

/** A field without a schema: maps are merged, lists are not. */
const deduced: FieldType = { scalar: "untyped", list: untyped.list };
deduced.map = { atomic: false, fields: new Map(), defaults: new Map(), rest: deduced };

const known = new WeakMap<Schema, FieldType>();

/** The type of the objects of a schema. */
export function objectType(schema: Schema): FieldType {
  let type = known.get(schema);
  if (type === undefined) {
    type = typed(withObjectFields(schema), false);
    known.set(schema, type);
  }
  return type;
}

/** The schema of a field, whether it is named or one of many. */
export function fieldSchema(schema: Schema | undefined, name: string): Schema | undefined {
  if (schema?.properties && Object.hasOwn(schema.properties, name)) return schema.properties[name];
  return isMap(schema?.additionalProperties) ? schema.additionalProperties : undefined;
}

/** A schema that knows what every object has. */
export function withObjectFields(schema: Schema): Schema {
  return { ...schema, type: "object", properties: { ...schema.properties, ...objectFields } };
}

function typed(given: Schema, open: boolean): FieldType {
  const schema = given["x-kubernetes-embedded-resource"] ? withObjectFields(given) : given;
  // An open schema opens all that is in it, as in the API server.
  const opened = open || schema["x-kubernetes-preserve-unknown-fields"] === true;
  switch (schema.type) {
    case "object":
      return { map: mapOf(schema, opened) };
    case "array":
      return { list: listOf(schema, opened) };
    case "string":
      return { scalar: schema.format && schema.format !== "byte" ? "untyped" : "string" };
    case "integer":
    case "number":
      return { scalar: "numeric" };
    case "boolean":
      return { scalar: "boolean" };
    default:
      return { scalar: "untyped", list: listOf(schema, opened), map: mapOf(schema, opened) };
  }
}

function listOf(schema: Schema, open: boolean): ListType {
  const item = schema.items ? typed(schema.items, open) : untyped;
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (listType !== undefined) {
    return { atomic: listType === "atomic", keys: listType === "map" ? keys.toSorted() : [], item };
  }
  const mergeKey = schema["x-kubernetes-patch-merge-key"];
  const merged = schema["x-kubernetes-patch-strategy"]?.split(",").includes("merge") ?? false;
  return { atomic: !merged, keys: merged && mergeKey !== undefined ? [mergeKey] : [], item };
}

function mapOf(schema: Schema, open: boolean): MapType {
  const properties = Object.entries(schema.properties ?? {});
  const rest = restOf(schema, open);
  return {
    atomic: schema["x-kubernetes-map-type"] === "atomic",
    fields: new Map(properties.map(([name, field]) => [name, typed(field, open)])),
    defaults: new Map(
      properties.flatMap(([name, field]) =>
        field.default === undefined ? [] : [[name, field.default]],
      ),
    ),
    ...(rest && { rest }),
  };
}

function restOf(schema: Schema, open: boolean): FieldType | undefined {
  const more = schema.additionalProperties;
  if (isMap(more)) return typed(more as Schema, open);
  if (more !== undefined) return more ? deduced : undefined;
  const named = Object.keys(schema.properties ?? {}).length > 0;
  return open || !named ? deduced : undefined;
}

const text: Schema = { type: "string" };
const texts: Schema = { type: "object", additionalProperties: text };
const time: Schema = { type: "string", format: "date-time" };
const number: Schema = { type: "integer" };
const flag: Schema = { type: "boolean" };

/** What every object has, whatever its own schema says of it. */
const objectFields: Record<string, Schema> = {
  apiVersion: text,
  kind: text,
  metadata: {
    type: "object",
    properties: {
      annotations: texts,
      creationTimestamp: time,
      deletionGracePeriodSeconds: number,
      deletionTimestamp: time,
      finalizers: {
        type: "array",
        "x-kubernetes-list-type": "set",
        "x-kubernetes-patch-strategy": "merge",
        items: text,
      },
      generateName: text,
      generation: number,
      labels: texts,
      managedFields: {
        type: "array",
        "x-kubernetes-list-type": "atomic",
        items: { type: "object" },
      },
      name: text,
      namespace: text,
      ownerReferences: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["uid"],
        "x-kubernetes-patch-strategy": "merge",
        "x-kubernetes-patch-merge-key": "uid",
        items: {
          type: "object",
          "x-kubernetes-map-type": "atomic",
          properties: {
            apiVersion: text,
            blockOwnerDeletion: flag,
            controller: flag,
            kind: text,
            name: text,
            uid: text,
          },
        },
      },
      resourceVersion: text,
      selfLink: text,
      uid: text,
    },
  },
};
