import type { Definition } from "@postern/core/kinds/definition.ts";
import type { Rule } from "@postern/core/kinds/schema.ts";

/** The parts of a structural schema that the pages and the editor schemas use. */
export interface FieldSchema {
  type?: string;
  description?: string;
  format?: string;
  enum?: unknown[];
  default?: unknown;
  nullable?: boolean;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  minProperties?: number;
  maxProperties?: number;
  required?: string[];
  properties?: Record<string, FieldSchema>;
  additionalProperties?: FieldSchema | boolean;
  items?: FieldSchema;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-validations"?: Rule[];
}

/** A field of a kind, with the path to it. */
export interface Field {
  path: string;
  schema: FieldSchema;
  required: boolean;
}

/** The schema of a part of a kind as plain data, without the marks of TypeBox. */
export function partOf(definition: Definition, part: "spec" | "status"): FieldSchema {
  return JSON.parse(JSON.stringify(definition[part]));
}

/** Every field below a schema, parents before children, in the order of the schema. */
export function fieldsOf(schema: FieldSchema, path: string): Field[] {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).flatMap(([name, field]) => {
    const here = `${path}.${name}`;
    return [
      { path: here, schema: field, required: required.includes(name) },
      ...fieldsOf(field, here),
      ...fieldsOf(field.items ?? {}, `${here}[]`),
      ...(typeof field.additionalProperties === "object"
        ? fieldsOf(field.additionalProperties, `${here}.*`)
        : []),
    ];
  });
}

/** The type of a field as a person writes it: `list of string`, `map of string`. */
export function typeOf(schema: FieldSchema): string {
  const orNull = schema.nullable ? " or null" : "";
  if (schema["x-kubernetes-int-or-string"]) return "integer or string";
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}${orNull}`;
  if (typeof schema.additionalProperties === "object")
    return `map of ${typeOf(schema.additionalProperties)}${orNull}`;
  if (schema.format === "date-time") return `time${orNull}`;
  return `${schema.type ?? "any"}${orNull}`;
}

/** What a value must be besides its type, as sentences. */
export function constraintsOf(schema: FieldSchema): string[] {
  const item = schema.items ?? {};
  const rules = schema["x-kubernetes-validations"] ?? [];
  return [
    choices("One of", schema.enum),
    choices("Each is one of", item.enum),
    schema.default === undefined ? "" : `Default: \`${JSON.stringify(schema.default)}\`.`,
    between("characters", schema.minLength, schema.maxLength),
    between("entries", schema.minItems, schema.maxItems),
    between("entries", schema.minProperties, schema.maxProperties),
    range(schema.minimum, schema.maximum),
    schema.pattern === undefined ? "" : `Matches \`${schema.pattern}\`.`,
    ...rules.map(({ message }) => sentence(message)),
    ...(item["x-kubernetes-validations"] ?? []).map(({ message }) => `Each ${message}.`),
  ].filter((text) => text !== "");
}

function choices(start: string, values: unknown[] | undefined): string {
  return values === undefined
    ? ""
    : `${start} ${values.map((value) => `\`${value === "" ? '""' : value}\``).join(", ")}.`;
}

function between(what: string, least: number | undefined, most: number | undefined): string {
  if (least !== undefined && least === most) return `Exactly ${most} ${what}.`;
  if (least !== undefined && most !== undefined) return `${least} to ${most} ${what}.`;
  if (most !== undefined) return `At most ${most} ${what}.`;
  if (least === undefined) return "";
  return least === 1 && what === "entries" ? "Not empty." : `At least ${least} ${what}.`;
}

function range(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined) return `${least} to ${most}.`;
  if (most !== undefined) return `At most ${most}.`;
  return least === undefined ? "" : `At least ${least}.`;
}

/** A message of a rule as a sentence; a field that never changes in one word. */
function sentence(message: string): string {
  if (/^\S+ cannot change once it is set: /.test(message)) return "Immutable.";
  const [, field] = /^(\S+) cannot be removed once it is set: /.exec(message) ?? [];
  if (field !== undefined) return `\`${field}\` cannot be removed once it is set.`;
  return `${message.replace(/^must /, "Must ")}.`;
}
