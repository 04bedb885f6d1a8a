import type { Cause, Schema } from "../resource.ts";
import { forbidden, invalid, required } from "./causes.ts";
import type { Alternatives, Bounds } from "./check.ts";
import { PatternError, regexOf } from "./patterns.ts";
import { fieldOf, same } from "./plain.ts";

/** Words of JSON schema that a structural schema may use and `Schema` does not name. */
type Words = Schema & Alternatives & Bounds;

const intOrString = [{ type: "integer" }, { type: "string" }];

type Level = "root" | "items" | "field";

/** What keeps a schema from being structural: that each value has one type, known without trying alternatives. */
export function structuralProblems(schema: Schema, path: string): Cause[] {
  return [...invariants(schema, "root", path), ...incomplete(schema, schema, path, path)];
}

function invariants(schema: Schema, level: Level, path: string): Cause[] {
  const causes: Cause[] = [];
  const { type, items, properties = {} } = schema;
  const others = schema.additionalProperties;
  const isResource = schema["x-kubernetes-embedded-resource"] === true;
  const keeps = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const isIntOrString = schema["x-kubernetes-int-or-string"] === true;

  if (type === "array" && !items) causes.push(required(`${path}.items`, "must be specified"));
  if (items) causes.push(...invariants(items, "items", `${path}.items`));
  for (const [name, own] of Object.entries(properties)) {
    causes.push(...invariants(own, "field", `${path}.properties[${name}]`));
  }
  if (others !== undefined && level === "root") {
    causes.push(forbidden(`${path}.additionalProperties`, "must not be used at the root"));
  }
  if (typeof others === "object") {
    causes.push(...invariants(others, "field", `${path}.additionalProperties`));
  }
  if (isIntOrString && keeps) {
    const field = `${path}.x-kubernetes-preserve-unknown-fields`;
    causes.push(invalid(field, true, "must be false if x-kubernetes-int-or-string is true"));
  }
  if (isIntOrString && isResource) {
    const field = `${path}.x-kubernetes-embedded-resource`;
    causes.push(invalid(field, true, "must be false if x-kubernetes-int-or-string is true"));
  }
  causes.push(...alternativeProblems(schema, path));
  causes.push(...typeProblems(schema, level, path));
  if (isResource && others !== undefined) {
    const why = "must not be used if x-kubernetes-embedded-resource is set";
    causes.push(forbidden(`${path}.additionalProperties`, why));
  }
  if (isResource && !keeps && Object.keys(properties).length === 0) {
    const why =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    causes.push(required(`${path}.properties`, why));
  }
  return [...causes, ...metaProblems(schema, level, path)];
}

const emptyTypes: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  items: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

function typeProblems(schema: Schema, level: Level, path: string): Cause[] {
  const { type } = schema;
  const field = `${path}.type`;
  if (schema["x-kubernetes-embedded-resource"] === true && type !== "object") {
    const why = "must be object if x-kubernetes-embedded-resource is true";
    return [type ? invalid(field, type, why) : required(field, why)];
  }
  const free =
    schema["x-kubernetes-int-or-string"] === true ||
    schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (!type) return free ? [] : [required(field, emptyTypes[level])];
  return level === "root" && type !== "object"
    ? [invalid(field, type, "must be object at the root")]
    : [];
}

function metaProblems(schema: Schema, level: Level, path: string): Cause[] {
  const isResource = level === "root" || schema["x-kubernetes-embedded-resource"] === true;
  if (!isResource) return [];
  const causes: Cause[] = [];
  for (const name of ["kind", "apiVersion"]) {
    const own = fieldOf(schema.properties, name);
    if (own && own.type !== "string") {
      const field = `${path}.properties[${name}].type`;
      causes.push(invalid(field, own.type ?? "", "must be string"));
    }
  }
  const metadata = fieldOf(schema.properties, "metadata");
  if (metadata === undefined) return causes;
  const field = `${path}.properties[metadata]`;
  if (metadata.type !== "object") {
    causes.push(invalid(`${field}.type`, metadata.type ?? "", "must be object"));
  }
  if (level === "root" && !isPlainMetadata(metadata)) {
    const why =
      "must not specify anything other than name and generateName, but metadata is implicitly specified";
    causes.push(forbidden(field, why));
  }
  return causes;
}

function isPlainMetadata({ type: _, default: __, properties = {}, ...rest }: Schema): boolean {
  const names = Object.keys(properties);
  const onlyNames = names.every((name) => name === "name" || name === "generateName");
  return onlyNames && Object.keys(rest).length === 0;
}

function alternativeProblems(schema: Words, path: string): Cause[] {
  const { anyOf = [], allOf = [], oneOf = [], not, pattern } = schema;
  const isUsualAnyOf = same(anyOf, intOrString);
  const isUsualAllOf = same((allOf[0] as Words | undefined)?.anyOf, intOrString);
  return [
    ...(isUsualAnyOf ? [] : anyOf).flatMap((one, i) => nestedProblems(one, `${path}.anyOf[${i}]`)),
    ...allOf.flatMap((one: Words, i) => {
      const { anyOf: usual, ...rest } = one;
      const looked = isUsualAllOf && i === 0 && usual ? rest : one;
      return nestedProblems(looked, `${path}.allOf[${i}]`);
    }),
    ...oneOf.flatMap((one, i) => nestedProblems(one, `${path}.oneOf[${i}]`)),
    ...(not ? nestedProblems(not, `${path}.not`) : []),
    ...patternProblems(pattern, path),
  ];
}

function patternProblems(pattern: string | undefined, path: string): Cause[] {
  if (!pattern) return [];
  try {
    regexOf(pattern);
    return [];
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const why = `must be a valid regular expression, but isn't: ${error.message}`;
    return [invalid(`${path}.pattern`, pattern, why)];
  }
}

/** What may not stand inside of an alternative, and what it is told to be instead. */
const structuralWords: readonly [word: string, wanted: string][] = [
  ["type", "empty"],
  ["additionalProperties", "undefined"],
  ["default", "undefined"],
  ["title", "empty"],
  ["description", "empty"],
  ["nullable", "false"],
  ["x-kubernetes-preserve-unknown-fields", "false"],
  ["x-kubernetes-embedded-resource", "false"],
  ["x-kubernetes-int-or-string", "false"],
  ["x-kubernetes-list-map-keys", "empty"],
  ["x-kubernetes-list-type", "undefined"],
  ["x-kubernetes-map-type", "undefined"],
  ["x-kubernetes-validations", "empty"],
];

function nestedProblems(schema: Words, path: string): Cause[] {
  const words = structuralWords
    .filter(([word]) => schema[word] !== undefined && schema[word] !== false && schema[word] !== "")
    .map(([word, wanted]) => forbidden(`${path}.${word}`, `must be ${wanted} to be structural`));
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, own]) => {
    return nestedProblems(own, `${path}.properties[${name}]`);
  });
  const metadata = fieldOf(schema.properties, "metadata")
    ? [forbidden(`${path}.properties[metadata]`, "must not be specified in a nested context")]
    : [];
  const items = schema.items ? nestedProblems(schema.items, `${path}.items`) : [];
  return [...alternativeProblems(schema, path), ...items, ...fields, ...words, ...metadata];
}

/** What an alternative speaks of has to be there outside of it as well. */
function incomplete(
  looked: Words,
  whole: Schema | undefined,
  wholePath: string,
  path: string,
): Cause[] {
  const { anyOf = [], allOf = [], oneOf = [], not } = looked;
  const into = (one: Schema, at: string) => incompleteNested(one, whole, wholePath, at);
  return [
    ...(not ? into(not, `${path}.not`) : []),
    ...allOf.flatMap((one, i) => into(one, `${path}.allOf[${i}]`)),
    ...anyOf.flatMap((one, i) => into(one, `${path}.anyOf[${i}]`)),
    ...oneOf.flatMap((one, i) => into(one, `${path}.oneOf[${i}]`)),
  ];
}

function incompleteNested(
  looked: Schema,
  whole: Schema | undefined,
  wholePath: string,
  path: string,
): Cause[] {
  if (whole === undefined) return [required(wholePath, `because it is defined in ${path}`)];
  const items = looked.items
    ? incompleteNested(looked.items, whole.items, `${wholePath}.items`, `${path}.items`)
    : [];
  const fields = Object.entries(looked.properties ?? {}).flatMap(([name, own]) => {
    const part = `properties[${name}]`;
    const counterpart = fieldOf(whole.properties, name);
    return incompleteNested(own, counterpart, `${wholePath}.${part}`, `${path}.${part}`);
  });
  return [...incomplete(looked, whole, wholePath, path), ...items, ...fields];
}
