import type { Cause, Schema } from "../resource.ts";
import { forbidden, invalid, required, unsupported } from "./causes.ts";
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

const types = ["array", "boolean", "integer", "number", "object", "string"];

/** What a schema says that Kubernetes does not take, rule by rule; CEL is looked at elsewhere. */
export function wordProblems(schema: Schema, path: string, place: Place = { root: true }): Cause[] {
  const own = [
    ...forbiddenWords(schema, path, place),
    ...mapAndListProblems(schema, path),
    ...ruleProblems(schema, path),
  ];
  return [...own, ...partsOf(schema, path, place).flatMap((part) => wordProblems(...part))];
}

interface Place {
  root?: boolean;
  /** Inside of what every object has. */
  meta?: boolean;
  /** Why no default may be set here. */
  noDefault?: string;
}

function partsOf(schema: Words, path: string, place: Place): [Schema, string, Place][] {
  const { anyOf = [], allOf = [], oneOf = [], not, items } = schema;
  const below: Place = { ...place, root: false };
  const others = schema.additionalProperties;
  const isResource = place.root || schema["x-kubernetes-embedded-resource"] === true;
  const fields = Object.entries(schema.properties ?? {}).map(
    ([name, own]): [Schema, string, Place] => {
      const at = `${path}.properties[${name}]`;
      if (!isResource || !["metadata", "kind", "apiVersion"].includes(name))
        return [own, at, below];
      const noDefault = place.root ? { noDefault: `in top-level ${name}` } : {};
      return [own, at, { ...below, meta: true, ...noDefault }];
    },
  );
  const nested = (word: string, all: Schema[]) => {
    return all.map((one, i): [Schema, string, Place] => [one, `${path}.${word}[${i}]`, below]);
  };
  const noDefault = "inside additionalProperties applying to object metadata";
  return [
    ...(typeof others === "object"
      ? [
          [
            others,
            `${path}.additionalProperties`,
            place.meta ? { ...below, noDefault } : below,
          ] as [Schema, string, Place],
        ]
      : []),
    ...fields,
    ...(not ? ([[not, `${path}.not`, below]] as [Schema, string, Place][]) : []),
    ...nested("allOf", allOf),
    ...nested("oneOf", oneOf),
    ...nested("anyOf", anyOf),
    ...(items ? ([[items, `${path}.items`, below]] as [Schema, string, Place][]) : []),
  ];
}

function forbiddenWords(schema: Words, path: string, place: Place): Cause[] {
  const causes: Cause[] = [];
  const { type } = schema;
  if (type !== undefined && !types.includes(type)) {
    causes.push(unsupported(`${path}.type`, type, types));
  }
  if (schema.default !== undefined && place.noDefault !== undefined) {
    causes.push(forbidden(`${path}.default`, `must not be set ${place.noDefault}`));
  }
  for (const word of [
    "id",
    "additionalItems",
    "patternProperties",
    "definitions",
    "dependencies",
    "$ref",
  ]) {
    if (schema[word] !== undefined) {
      causes.push(forbidden(`${path}.${word}`, `${word} is not supported`));
    }
  }
  if (Array.isArray(schema.items)) {
    causes.push(forbidden(`${path}.items`, "items must be a schema object and not an array"));
  }
  if (schema.uniqueItems === true) {
    const why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    causes.push(forbidden(`${path}.uniqueItems`, why));
  }
  const others = schema.additionalProperties;
  if (schema.properties && Object.keys(schema.properties).length > 0) {
    if (others === false || typeof others === "object") {
      const why = "additionalProperties and properties are mutual exclusive";
      causes.push(forbidden(`${path}.additionalProperties`, why));
    }
  }
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    const field = `${path}.x-kubernetes-preserve-unknown-fields`;
    causes.push(invalid(field, false, "must be true or undefined"));
  }
  return causes;
}

function mapAndListProblems(schema: Schema, path: string): Cause[] {
  const mapType = schema["x-kubernetes-map-type"];
  const listType = schema["x-kubernetes-list-type"];
  const causes: Cause[] = [];
  const mustBe = (type: string, word: string) => {
    if (schema.type === type) return;
    const why = `must be ${type} if ${word} is specified`;
    const field = `${path}.type`;
    causes.push(schema.type ? invalid(field, schema.type, why) : required(field, why));
  };
  if (mapType !== undefined) {
    mustBe("object", "x-kubernetes-map-type");
    const known = ["atomic", "granular"];
    if (!known.includes(mapType)) {
      causes.push(unsupported(`${path}.x-kubernetes-map-type`, mapType, known));
    }
  }
  if (listType !== undefined) {
    mustBe("array", "x-kubernetes-list-type");
    const known = ["atomic", "set", "map"];
    if (!known.includes(listType)) {
      causes.push(unsupported(`${path}.x-kubernetes-list-type`, listType, known));
    }
  }
  return [...causes, ...setProblems(schema, path), ...keyProblems(schema, path)];
}

function setProblems(schema: Schema, path: string): Cause[] {
  const { items } = schema;
  const listType = schema["x-kubernetes-list-type"];
  if (!items || (listType !== "set" && listType !== "map")) return [];
  const causes: Cause[] = [];
  if (items.nullable === true) {
    const why = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    causes.push(forbidden(`${path}.items.nullable`, why));
  }
  if (listType !== "set") return causes;
  const why = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const inner = items["x-kubernetes-list-type"];
  if (items.type === "array" && inner !== undefined && inner !== "atomic") {
    causes.push(invalid(`${path}.items.x-kubernetes-list-type`, inner, why));
  }
  if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
    causes.push(invalid(`${path}.items.x-kubernetes-map-type`, null, why));
  }
  return causes;
}

function keyProblems(schema: Schema, path: string): Cause[] {
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const listType = schema["x-kubernetes-list-type"];
  const keysField = `${path}.x-kubernetes-list-map-keys`;
  if (listType !== "map") {
    if (keys.length === 0) return [];
    const field = `${path}.x-kubernetes-list-type`;
    const why = "must be map if x-kubernetes-list-map-keys is non-empty";
    return [listType ? invalid(field, listType, why) : required(field, why)];
  }
  const { items } = schema;
  const causes: Cause[] = [];
  if (keys.length === 0) {
    causes.push(required(keysField, "must not be empty if x-kubernetes-list-type is map"));
  }
  if (!items) {
    causes.push(required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map"));
    return causes;
  }
  if (items.type !== "object") {
    const why = "must be object if parent array's x-kubernetes-list-type is map";
    causes.push(invalid(`${path}.items.type`, items.type ?? "", why));
    return causes;
  }
  for (const [index, key] of keys.entries()) {
    const own = fieldOf(items.properties, key);
    const field = `${path}.items.properties[${key}]`;
    if (keys.indexOf(key) !== index) {
      causes.push(invalid(keysField, keys, "must not contain duplicate entries"));
    }
    if (own === undefined) {
      causes.push(invalid(keysField, keys, "entries must all be names of item properties"));
      continue;
    }
    if (own.type === "array" || own.type === "object") {
      const why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      causes.push(invalid(`${field}.type`, items.type, why));
    }
    if (!items.required?.includes(key) && own.default === undefined) {
      const why =
        "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
      causes.push(required(`${field}.default`, why));
    }
    if (own.nullable === true) {
      const why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
      causes.push(forbidden(`${field}.nullable`, why));
    }
  }
  return causes;
}

const reasons = [
  "FieldValueRequired",
  "FieldValueForbidden",
  "FieldValueInvalid",
  "FieldValueDuplicate",
];

function ruleProblems(schema: Schema, path: string): Cause[] {
  return (schema["x-kubernetes-validations"] ?? []).flatMap((given, i) => {
    const at = `${path}.x-kubernetes-validations[${i}]`;
    const { rule = "", message = "", messageExpression = "", reason } = given;
    const causes: Cause[] = [];
    if (rule.trim() === "") causes.push(required(`${at}.rule`, "rule is not specified"));
    else if (message !== "" && message.trim() === "") {
      causes.push(invalid(`${at}.message`, message, "must be non-empty if specified"));
    } else if (/[\n\r]/.test(message.trim())) {
      causes.push(invalid(`${at}.message`, message, "must not contain line breaks"));
    } else if (/[\n\r]/.test(rule.trim()) && message.trim() === "") {
      const why = "message must be specified if rule contains line breaks";
      causes.push(required(`${at}.message`, why));
    }
    if (messageExpression !== "" && messageExpression.trim() === "") {
      const why = "messageExpression must be non-empty if specified";
      causes.push(required(`${at}.messageExpression`, why));
    }
    if (reason !== undefined && !reasons.includes(reason)) {
      causes.push(unsupported(`${at}.reason`, reason, [...reasons].sort()));
    }
    return causes;
  });
}
