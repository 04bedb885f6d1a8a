import type { Resource, Schema, Stored } from "../resource.ts";
import { fieldSchema, withObjectFields } from "./field-type.ts";
import { isMap } from "./refusal.ts";

const { metadata: metadataSchema } = withObjectFields({}).properties as Record<string, Schema>;

/**
 * An object as Go reads it, which comes before all else: maps and lists that are empty, and what is null, are not
 * there. Of a custom resource that is so for its metadata alone.
 */
export function asGoReads(resource: Pick<Resource, "schema" | "builtIn">, object: Stored): Stored {
  const { metadata, ...rest } = object;
  const { managedFields, ...others } = metadata ?? {};
  const kept = resource.builtIn ? (withoutEmpty(resource.schema, rest) as Stored) : rest;
  return {
    ...kept,
    // An empty list of managers says something: that there are to be none.
    metadata: {
      ...(withoutEmpty(metadataSchema, others) as object),
      ...(managedFields && { managedFields }),
    },
  } as Stored;
}

function withoutEmpty(schema: Schema | undefined, value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((item) =>
      item === null ? zero(schema?.items) : withoutEmpty(schema?.items, item),
    );
  }
  if (!isMap(value)) return value;
  const kept: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    const below = fieldSchema(schema, name);
    if (field === null && schema?.additionalProperties !== undefined) kept[name] = zero(below);
    else if (!isOmitted(below, field)) kept[name] = withoutEmpty(below, field);
  }
  return kept;
}

/** What Go puts where null is said and something has to be: in a list, or under the key of a map. */
function zero(schema: Schema | undefined): unknown {
  if (schema?.type === "string") return "";
  return schema?.type === "object" ? {} : null;
}

/** A structure stays, even where nothing is in it. */
function isOmitted(schema: Schema | undefined, value: unknown): boolean {
  if (value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return (
    isMap(value) && schema?.additionalProperties !== undefined && Object.keys(value).length === 0
  );
}
