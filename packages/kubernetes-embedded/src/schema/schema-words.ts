import type { Cause, Schema } from "../resource.ts";
import { forbidden, invalid, required, unsupported } from "./causes.ts";
import type { Alternatives, Bounds } from "./check.ts";
import { fieldOf } from "./plain.ts";

type Words = Schema & Alternatives & Bounds;

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
