import type { Column, Resource, Schema, Stored } from "../resource.ts";
import { shapeOf } from "../schema/shape.ts";
import { ageOf } from "./ages.ts";
import { text } from "./fields.ts";
import { objectMeta } from "./object-meta.ts";

type Optional =
  | "shortNames"
  | "categories"
  | "status"
  | "strategy"
  | "fieldSelectors"
  | "subresources"
  | "verbs"
  | "view";

/** What the file of a built-in kind says of it. */
export interface BuiltIn extends Partial<Pick<Resource, Optional>> {
  /** The core group where it is left out. */
  group?: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  description: string;
  /** Its fields beyond apiVersion, kind and metadata. */
  properties: Record<string, Schema>;
  required?: readonly string[];
  columns: readonly Column[];
}

/** A built-in kind as it is served. */
export function builtIn(given: BuiltIn): Resource {
  const { group = "", kind, description, properties, required, ...rest } = given;
  const schema: Schema = {
    type: "object",
    description,
    properties: {
      apiVersion: text("The group and version in which this object is written."),
      kind: text("What it is."),
      metadata: objectMeta,
      ...properties,
    },
    ...(required && { required: [...required] }),
  };
  return {
    shortNames: [],
    categories: [],
    status: false,
    ...rest,
    group,
    version: "v1",
    kind,
    listKind: `${kind}List`,
    singular: kind.toLowerCase(),
    builtIn: true,
    schema,
    shape: shapeOf(schema),
  };
}

/** The column that tables begin with. */
export const nameColumn: Column = column("Name", (object) => object.metadata.name, "name");

/** The column that most tables end with. */
export const ageColumn: Column = column("Age", (object, now) =>
  ageOf(object.metadata.creationTimestamp, now),
);

/** A column that is always shown. */
export function column(
  name: string,
  value: (object: Stored, now: number) => unknown,
  format?: string,
): Column {
  return { name, type: "string", ...(format && { format }), priority: 0, value };
}

/** A column that is shown with `-o wide`. */
export function wide(name: string, value: (object: Stored, now: number) => unknown): Column {
  return { ...column(name, value), priority: 1 };
}
