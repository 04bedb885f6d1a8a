import type { Schema } from "@postern/kubernetes-embedded/resource.ts";

const text: Schema = { type: "string", maxLength: 20 };
const rules = (...all: Schema["x-kubernetes-validations"] & object) => ({
  "x-kubernetes-validations": all,
});

/** A `spec` that has everything that a structural schema may have. */
export const everyFeature: Schema = {
  type: "object",
  required: ["mode"],
  minProperties: 1,
  properties: {
    mode: { type: "string", enum: ["Slow", "Fast"], default: "Slow" },
    level: { type: "integer", enum: [1, 2, 3], nullable: true },
    size: { type: "integer", format: "int32", minimum: 1, maximum: 9 },
    share: { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 100000000.5 },
    step: { type: "integer", multipleOf: 5, format: "int64" },
    ratio: { type: "number", multipleOf: 0.5, format: "float" },
    name: { type: "string", minLength: 2, maxLength: 4, pattern: "^[a-z.\\-]+$" },
    on: { type: "boolean", default: false },
    port: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
    when: { type: "string", format: "date-time" },
    day: { type: "string", format: "date" },
    wait: { type: "string", format: "duration" },
    address: { type: "string", format: "ipv4" },
    long: { type: "string", format: "ipv6" },
    range: { type: "string", format: "cidr" },
    link: { type: "string", format: "uri" },
    mail: { type: "string", format: "email" },
    host: { type: "string", format: "hostname" },
    mac: { type: "string", format: "mac" },
    id: { type: "string", format: "uuid" },
    bytes: { type: "string", format: "byte" },
    label: { type: "string", format: "k8s-short-name" },
    strange: { type: "string", format: "unheard-of" },
    maybe: { type: "string", nullable: true },
    soon: { type: "string", nullable: true, default: "later" },
    list: { type: "array", items: { type: "string", maxLength: 3 }, minItems: 1, maxItems: 3 },
    set: { type: "array", items: text, "x-kubernetes-list-type": "set", maxItems: 5 },
    numbers: { type: "array", items: { type: "integer" }, maxItems: 5 },
    keyed: {
      type: "array",
      maxItems: 4,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["key", "zone"],
      items: {
        type: "object",
        required: ["key"],
        properties: {
          key: { ...text, minLength: 1 },
          zone: { ...text, default: "one" },
          value: { type: "integer", default: 7, minimum: 0 },
        },
        ...rules({ rule: "!has(oldSelf.value) || self.value >= oldSelf.value", message: "grows" }),
      },
    },
    map: {
      type: "object",
      maxProperties: 3,
      minProperties: 1,
      additionalProperties: { type: "integer", minimum: 0, default: 4 },
    },
    deep: {
      type: "object",
      maxProperties: 2,
      additionalProperties: {
        type: "object",
        required: ["a"],
        properties: { a: text, b: { type: "array", maxItems: 3, items: text } },
        ...rules({ rule: "self.a != 'no'", message: "a is not no", fieldPath: ".a" }),
      },
    },
    free: {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      properties: { known: { type: "object", properties: { a: text } } },
    },
    anything: { "x-kubernetes-preserve-unknown-fields": true },
    nested: {
      type: "object",
      required: ["must"],
      default: { must: "be" },
      properties: { must: text, filled: { type: "integer", default: 5 }, "x-y": text },
    },
    one: {
      type: "object",
      properties: { left: text, right: text },
      oneOf: [{ required: ["left"] }, { required: ["right"] }],
    },
    any: {
      type: "object",
      properties: { up: { type: "integer" }, down: { type: "integer" } },
      anyOf: [
        { required: ["up"], properties: { up: { minimum: 5 } } },
        { properties: { down: { maximum: 3 } } },
      ],
    },
    both: { type: "string", allOf: [{ minLength: 2 }, { pattern: "^[ab]+$" }] },
    never: { type: "string", not: { enum: ["never"] } },
    embedded: {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
    },
    min: { type: "integer" },
    max: { type: "integer" },
    fixed: { ...text, ...rules({ rule: "self == oldSelf", message: "fixed cannot change" }) },
    once: {
      ...text,
      ...rules({
        rule: "oldSelf.hasValue() || self != 'late'",
        optionalOldSelf: true,
        message: "not late",
      }),
    },
    said: {
      type: "integer",
      ...rules({
        rule: "self < 10",
        messageExpression: "self > 20 ? 'far above 10' : 'not below 10'",
        reason: "FieldValueForbidden",
      }),
    },
    namespace: { ...text, ...rules({ rule: "self.startsWith('n')" }) },
  },
  ...rules(
    { rule: "!has(self.min) || !has(self.max) || self.min <= self.max", message: "min above max" },
    {
      rule: "!has(self.__namespace__) || self.__namespace__ != 'nope'",
      reason: "FieldValueRequired",
      fieldPath: ".namespace",
      message: "another one",
    },
    { rule: "!has(self.nested.x__dash__y) || self.nested.x__dash__y.size() < 5" },
    { rule: "!has(self.numbers) || self.numbers.sum() < 100", message: "the sum is too high" },
    { rule: "!has(self.set) || !has(oldSelf.set) || self.set == oldSelf.set", message: "same set" },
    { rule: "!has(self.when) || self.when < timestamp('2030-01-01T00:00:00Z')", message: "late" },
    { rule: "!has(self.wait) || self.wait <= duration('1h')", message: "waits too long" },
    {
      rule: "!has(self.port) || (type(self.port) == int ? self.port > 0 : self.port != '0')",
      message: "a port",
    },
    { rule: "!has(self.map) || self.map['a'] < 50", message: "a is below 50" },
    { rule: "!has(self.address) || ip(self.address).family() == 4", message: "of version 4" },
  ),
};
