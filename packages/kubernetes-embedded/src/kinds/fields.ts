import type { Schema } from "../resource.ts";

// The words in which the schemas of the built-in kinds are written.

/** A text. */
export function text(description: string, words: Schema = {}): Schema {
  return { type: "string", description, ...words };
}

/** One of some words. */
export function oneOf(words: readonly string[], description: string): Schema {
  return { type: "string", description, enum: [...words] };
}

/** A time of day and date, to the second. */
export function time(description: string): Schema {
  return { type: "string", format: "date-time", description };
}

/** A time that is told to the microsecond, with six digits and no fewer. */
export function microTime(description: string): Schema {
  return { type: "string", format: "go-micro-time", description };
}

/** Base64, of which an empty text is one. */
export function bytes(description: string): Schema {
  return { type: "string", format: "go-bytes", description };
}

/** The formats above as OpenAPI knows them. */
export const publishedFormats: Readonly<Record<string, string>> = {
  "go-micro-time": "date-time",
  "go-bytes": "byte",
};

/** A whole number of 32 bits. */
export function int32(description: string, words: Schema = {}): Schema {
  return { type: "integer", format: "int32", description, ...words };
}

/** A whole number of 64 bits. */
export function int64(description: string): Schema {
  return { type: "integer", format: "int64", description };
}

/** True or false. */
export function flag(description: string): Schema {
  return { type: "boolean", description };
}

/** A port's number or its name, a count or a percentage. */
export function intOrString(description: string): Schema {
  return { "x-kubernetes-int-or-string": true, description };
}

/** An amount, such as `500m` or `2Gi`; a plain number is one too. */
export function quantity(description: string): Schema {
  return { "x-kubernetes-int-or-string": true, description };
}

/** A map from names to values of one form. */
export function mapOf(values: Schema, description: string, words: Schema = {}): Schema {
  return { type: "object", description, additionalProperties: values, ...words };
}

/** A map from texts to texts. */
export function textMap(description: string, words: Schema = {}): Schema {
  return mapOf({ type: "string" }, description, words);
}

/** An object with known fields. */
export function fields(
  description: string,
  properties: Record<string, Schema>,
  required: readonly string[] = [],
): Schema {
  return {
    type: "object",
    description,
    properties,
    ...(required.length > 0 && { required: [...required] }),
  };
}

/** An object of which nothing is looked at: what it holds is kept as it is. */
export function anything(description: string): Schema {
  return { type: "object", description, "x-kubernetes-preserve-unknown-fields": true };
}

/** An object that has one owner as a whole. */
export function atomic(schema: Schema): Schema {
  return { ...schema, "x-kubernetes-map-type": "atomic" };
}

/** A list that has one owner as a whole, and that a patch replaces. */
export function list(items: Schema, description: string): Schema {
  return { type: "array", description, items, "x-kubernetes-list-type": "atomic" };
}

/** A list of texts that has one owner as a whole. */
export function texts(description: string): Schema {
  return list({ type: "string" }, description);
}

/** A list whose entries are known by some of their fields. Strategic merge patches go by the first of them. */
export function listBy(keys: readonly [string, ...string[]], items: Schema, description: string) {
  const words: Schema = {
    type: "array",
    description,
    items,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [...keys],
    "x-kubernetes-patch-merge-key": keys[0],
    "x-kubernetes-patch-strategy": "merge",
  };
  return words;
}

/** The same, where an entry that is patched keeps only the fields that the patch names. */
export function listKeeping(keys: readonly [string, ...string[]], items: Schema, about: string) {
  return { ...listBy(keys, items, about), "x-kubernetes-patch-strategy": "merge,retainKeys" };
}

/** A list of texts without order, each there once. */
export function textSet(description: string): Schema {
  return { ...texts(description), "x-kubernetes-list-type": "set" };
}
