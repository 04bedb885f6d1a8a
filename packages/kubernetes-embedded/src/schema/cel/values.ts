import type { Schema } from "../../resource.ts";
import { type Fields, isFields } from "../plain.ts";

/** An object of a schema as rules read it: by the escaped names of its fields, each made when it is asked for. */
export class ObjectValue extends Map<string, unknown> {
  readonly raw: Fields;
  readonly schema: Schema;

  constructor(raw: Fields, schema: Schema) {
    super();
    this.raw = raw;
    this.schema = schema;
  }
}

const listSchemas = new WeakMap<unknown[], Schema>();

/** Marks a list as one whose order does not count, which equality then asks for. */
export function markedList(items: unknown[], schema: Schema): unknown[] {
  const type = schema["x-kubernetes-list-type"];
  if (type === "set" || type === "map") listSchemas.set(items, schema);
  return items;
}

/** A value of the library that has an equality of its own, such as a quantity. */
export interface Comparable {
  equals(other: unknown): boolean;
}

function isComparable(value: unknown): value is Comparable {
  return typeof value === "object" && value !== null && "equals" in value;
}

/** Whether two values of a rule are equal: numbers across their types, sets without their order. */
export function equalValues(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one === "bigint" || typeof one === "number") {
    // biome-ignore lint/suspicious/noDoubleEquals: 1n and 1 are equal in CEL
    return (typeof other === "bigint" || typeof other === "number") && one == other;
  }
  if (typeof one !== "object" || one === null || typeof other !== "object" || other === null) {
    return false;
  }
  if (Array.isArray(one)) return Array.isArray(other) && equalLists(one, other);
  if (one instanceof ObjectValue) {
    return other instanceof ObjectValue && equalRaw(one.raw, other.raw, one.schema);
  }
  if (one instanceof Date) return other instanceof Date && one.getTime() === other.getTime();
  if (one instanceof Uint8Array) {
    return other instanceof Uint8Array && Buffer.compare(one, other) === 0;
  }
  if (isComparable(one)) return one.equals(other);
  return equalOthers(one, other);
}

function equalLists(one: unknown[], other: unknown[]): boolean {
  if (one.length !== other.length) return false;
  if (!listSchemas.has(one)) return one.every((item, index) => equalValues(item, other[index]));
  return one.every((item) => other.some((candidate) => equalValues(item, candidate)));
}

function equalOthers(one: object, other: object): boolean {
  if (isOptional(one)) return isOptional(other) && equalOptionals(one, other);
  const [first, second] = [entriesOf(one), entriesOf(other)];
  if (first === undefined || second === undefined) return String(one) === String(other);
  if (first.size !== second.size) return false;
  return [...first].every(([key, value]) => second.has(key) && equalValues(value, second.get(key)));
}

interface OptionalValue {
  hasValue(): boolean;
  value(): unknown;
}

function isOptional(value: object): value is OptionalValue {
  return "hasValue" in value && "orValue" in value;
}

function equalOptionals(one: OptionalValue, other: OptionalValue): boolean {
  if (one.hasValue() !== other.hasValue()) return false;
  return !one.hasValue() || equalValues(one.value(), other.value());
}

function entriesOf(value: object): Map<unknown, unknown> | undefined {
  if (value instanceof Map) return value;
  const plain = value.constructor === Object || value.constructor === undefined;
  return plain ? new Map(Object.entries(value)) : undefined;
}

/** Whether two values of JSON are equal by their schema. */
function equalRaw(one: unknown, other: unknown, schema: Schema | undefined): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    const type = schema?.["x-kubernetes-list-type"];
    const items = schema?.items;
    if (type === "set" || type === "map") {
      return one.every((item) => other.some((candidate) => equalRaw(item, candidate, items)));
    }
    return one.every((item, index) => equalRaw(item, other[index], items));
  }
  if (!isFields(one) || !isFields(other)) return false;
  // What is kept beside the known fields counts too, though no rule can read it.
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => {
    const own = schema?.properties?.[name] ?? additional(schema);
    return Object.hasOwn(other, name) && equalRaw(one[name], other[name], own);
  });
}

function additional(schema: Schema | undefined): Schema | undefined {
  const others = schema?.additionalProperties;
  return typeof others === "object" ? others : undefined;
}
