import { randomBytes } from "node:crypto";

const group = `d${randomBytes(4).toString("hex")}.example.com`;

type Over = Readonly<Record<string, unknown>>;

/** A CRD that nothing is wrong with, and fields put over it. */
export function definition(spec: Over = {}, version: Over = {}, name = `widgets.${group}`): object {
  const names = { kind: "Widget", plural: "widgets", singular: "widget", listKind: "WidgetList" };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name },
    spec: {
      group,
      scope: "Namespaced",
      names,
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object" } },
          ...version,
        },
      ],
      ...spec,
    },
  };
}

const text = { type: "string", maxLength: 20 };
const rootSchema = (schema: Over) => definition({}, { schema: { openAPIV3Schema: schema } });
const field = (schema: Over) => rootSchema({ type: "object", properties: { a: schema } });
const rules = (...all: Over[]) => ({ "x-kubernetes-validations": all });
const ruled = (...all: Over[]) =>
  field({ type: "object", properties: { b: text }, ...rules(...all) });
const names = (over: Over) =>
  definition({
    names: {
      kind: "Widget",
      plural: "widgets",
      singular: "widget",
      listKind: "WidgetList",
      ...over,
    },
  });
const version = (name: string, over: Over = {}) => ({
  name,
  served: true,
  storage: name === "v1",
  schema: { openAPIV3Schema: { type: "object" } },
  ...over,
});
const columns = (...all: Over[]) => definition({}, { additionalPrinterColumns: all });
const keyed = (keys: string[], items: Over) =>
  field({
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": keys,
    items: { type: "object", ...items },
  });

/** CRDs that the API server refuses, and some that it takes, by what each is about. */
export const brokenDefinitions: Readonly<Record<string, object>> = {
  "one that is fine": definition(),
  "a name that is not its plural and group": definition({}, {}, `others.${group}`),
  "a group without a dot": definition({ group: "widgets" }, {}, "widgets.widgets"),
  "a group with a capital": definition({ group: "A.example.com" }),
  "a scope of its own": definition({ scope: "World" }),
  "a plural with a capital": names({ plural: "Widgets" }),
  "a kind that is no label": names({ kind: "Wid_get" }),
  "a kind that is its own list": names({ listKind: "Widget" }),
  "a short name with a space": names({ shortNames: ["w w"] }),
  "a category with a capital": names({ categories: ["All"] }),
  "no version that is stored": definition({}, { storage: false }),
  "two versions that are stored": definition({
    versions: [version("v1"), version("v2", { storage: true })],
  }),
  "two versions of one name": definition({ versions: [version("v1"), version("v1")] }),
  "a version that is no label": definition({}, { name: "V1" }),
  "a version without a schema": definition({}, { schema: undefined }),
  "an empty schema": rootSchema({}),
  "a root that is no object": rootSchema({ type: "string" }),
  "a root that may be null": rootSchema({ type: "object", nullable: true }),
  "a root with other fields": rootSchema({ type: "object", additionalProperties: text }),
  "a field without a type": field({}),
  "a type that there is none of": field({ type: "text" }),
  "items without a type": field({ type: "array", items: {} }),
  "a list without items": field({ type: "array" }),
  "properties and other properties": field({
    type: "object",
    properties: { b: text },
    additionalProperties: text,
  }),
  "a reference": field({ type: "object", $ref: "#/definitions/a" }),
  "pattern properties": field({ type: "object", patternProperties: { a: text } }),
  "unique items": field({ type: "array", items: text, uniqueItems: true }),
  "a pattern that does not parse": field({ type: "string", pattern: "a(" }),
  "a pattern that looks ahead": field({ type: "string", pattern: "a(?=b)" }),
  "a pattern that looks back": field({ type: "string", pattern: "(a)\\1" }),
  "unknown fields that are not kept": field({
    type: "object",
    "x-kubernetes-preserve-unknown-fields": false,
  }),
  "a type within anyOf": field({ type: "object", anyOf: [{ type: "object" }] }),
  "an integer or a string by anyOf": field({
    "x-kubernetes-int-or-string": true,
    anyOf: [{ type: "integer" }, { type: "string" }],
  }),
  "an integer or a string by allOf": field({
    "x-kubernetes-int-or-string": true,
    allOf: [{ anyOf: [{ type: "integer" }, { type: "string" }] }, { pattern: "^[0-9]+$" }],
  }),
  "a field that only oneOf knows": field({
    type: "object",
    properties: { b: text },
    oneOf: [{ required: ["b"] }, { properties: { c: { minLength: 1 } } }],
  }),
  "a description within not": field({ type: "string", not: { description: "x", enum: ["x"] } }),
  "a default within allOf": field({ type: "string", allOf: [{ default: "x" }] }),
  "a default of another type": field({ type: "string", default: 3 }),
  "a default with an unknown field": field({
    type: "object",
    default: { c: 1 },
    properties: { b: text },
  }),
  "a default that is too long": field({ ...text, default: "x".repeat(30) }),
  "a default of metadata": rootSchema({
    type: "object",
    properties: { metadata: { type: "object", default: {} } },
  }),
  "metadata that says more than names": rootSchema({
    type: "object",
    properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } },
  }),
  "metadata that bounds the name": rootSchema({
    type: "object",
    properties: { metadata: { type: "object", properties: { name: text } } },
  }),
  "a kind that is no text": rootSchema({
    type: "object",
    properties: { kind: { type: "integer" } },
  }),
  "an embedded object without fields": field({
    type: "object",
    "x-kubernetes-embedded-resource": true,
  }),
  "an embedded text": field({ type: "string", "x-kubernetes-embedded-resource": true }),
  "a list type on an object": field({ type: "object", "x-kubernetes-list-type": "set" }),
  "a list type that there is none of": field({
    type: "array",
    items: text,
    "x-kubernetes-list-type": "bag",
  }),
  "a map type on a list": field({ type: "array", items: text, "x-kubernetes-map-type": "atomic" }),
  "a map type that there is none of": field({ type: "object", "x-kubernetes-map-type": "loose" }),
  "a set of objects": field({
    type: "array",
    items: { type: "object" },
    "x-kubernetes-list-type": "set",
  }),
  "a set of atomic objects": field({
    type: "array",
    items: { type: "object", "x-kubernetes-map-type": "atomic" },
    "x-kubernetes-list-type": "set",
  }),
  "a set with nulls": field({
    type: "array",
    items: { ...text, nullable: true },
    "x-kubernetes-list-type": "set",
  }),
  "keys without a list type": field({
    type: "array",
    items: { type: "object", properties: { k: text } },
    "x-kubernetes-list-map-keys": ["k"],
  }),
  "a map list without keys": keyed([], { properties: { k: text } }),
  "a key that items have not": keyed(["k"], { properties: { j: text } }),
  "a key that may be absent": keyed(["k"], { properties: { k: text } }),
  "a key with a default": keyed(["k"], { properties: { k: { ...text, default: "x" } } }),
  "a key that is an object": keyed(["k"], {
    required: ["k"],
    properties: { k: { type: "object" } },
  }),
  "a key that may be null": keyed(["k"], {
    required: ["k"],
    properties: { k: { ...text, nullable: true } },
  }),
  "a key twice": keyed(["k", "k"], { required: ["k"], properties: { k: text } }),
  "a column without a path": columns({ name: "A", type: "string" }),
  "a column with a path from nowhere": columns({ name: "A", type: "string", jsonPath: "spec.a" }),
  "a column of another type": columns({ name: "A", type: "text", jsonPath: ".spec.a" }),
  "a column of another format": columns({
    name: "A",
    type: "string",
    format: "loud",
    jsonPath: ".spec.a",
  }),
  "a column without a name": columns({ name: "", type: "string", jsonPath: ".spec.a" }),
  "columns of one of two versions": definition({
    versions: [
      version("v1", { additionalPrinterColumns: [{ name: "A", type: "text", jsonPath: ".a" }] }),
      version("v2"),
    ],
  }),
  "a schema of one of two versions": definition({
    versions: [
      version("v1"),
      version("v2", { schema: { openAPIV3Schema: { type: "object", properties: { a: {} } } } }),
    ],
  }),
  "status at a root with oneOf": definition(
    {},
    {
      subresources: { status: {} },
      schema: { openAPIV3Schema: { type: "object", oneOf: [{ required: ["spec"] }] } },
    },
  ),
  "a scale without paths": definition({}, { subresources: { scale: {} } }),
  "a scale of other fields": definition(
    {},
    { subresources: { scale: { specReplicasPath: ".status.a", statusReplicasPath: ".spec.b" } } },
  ),
  "a selectable field that is not there": definition(
    {},
    { selectableFields: [{ jsonPath: ".a" }] },
  ),
  "a rule that does not parse": ruled({ rule: "self.b ==" }),
  "a rule about a field that is not there": ruled({ rule: "self.c == ''" }),
  "a rule that asks for a field that is not there": ruled({ rule: "has(self.c)" }),
  "a rule that is no bool": ruled({ rule: "self.b" }),
  "a rule that compares a text and a number": ruled({ rule: "self.b == 1" }),
  "a rule with a function that is not there": ruled({ rule: "shout(self.b)" }),
  "a rule with a variable that is not there": ruled({ rule: "other.b == ''" }),
  "a rule with a pattern that does not parse": ruled({ rule: "self.b.matches('a(')" }),
  "a rule with a mixed list": ruled({ rule: "self.b in ['a', 1]" }),
  "a rule with cel.bind": ruled({ rule: "cel.bind(x, self.b, x == '')" }),
  "an empty rule": ruled({ rule: " " }),
  "a message of two lines": ruled({ rule: "true", message: "a\nb" }),
  "an empty message": ruled({ rule: "true", message: "  " }),
  "a rule of two lines without a message": ruled({ rule: "true ||\n false" }),
  "a message expression that is no text": ruled({ rule: "true", messageExpression: "1" }),
  "a message expression that does not parse": ruled({ rule: "true", messageExpression: "self.c" }),
  "a reason that there is none of": ruled({ rule: "true", reason: "Bad" }),
  "a path to a field that is not there": ruled({ rule: "true", fieldPath: ".c" }),
  "a path to a field": ruled({ rule: "true", fieldPath: ".b" }),
  "a path without a dot": ruled({ rule: "true", fieldPath: "b" }),
  "an optional past that is not used": ruled({ rule: "true", optionalOldSelf: true }),
  "an optional past": ruled({
    rule: "!oldSelf.hasValue() || self == oldSelf.value()",
    optionalOldSelf: true,
  }),
  "a past within a list": field({
    type: "array",
    maxItems: 3,
    items: { ...text, ...rules({ rule: "self == oldSelf" }) },
  }),
  "a past within a map": field({
    type: "object",
    maxProperties: 3,
    additionalProperties: { ...text, ...rules({ rule: "self == oldSelf" }) },
  }),
  "a rule without a type to ask": field({
    "x-kubernetes-preserve-unknown-fields": true,
    ...rules({ rule: "true" }),
  }),
  "a rule that its default breaks": field({
    ...text,
    default: "x",
    ...rules({ rule: "self == 'y'" }),
  }),
};
