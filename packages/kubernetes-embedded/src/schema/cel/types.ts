import type { Environment } from "@marcbachmann/cel-js";
import type { Schema } from "../../resource.ts";
import { formatOf } from "../formats.ts";
import { isFields } from "../plain.ts";
import { escaped } from "./escape.ts";
import { durationOf } from "./library/durations.ts";
import { equalValues, markedList, ObjectValue } from "./values.ts";

/** The type of a value as rules know it, and how a value of JSON becomes one. */
export interface ValueType {
  name: string;
  valueOf(raw: unknown): unknown;
}

/** Gives every object of a schema a type in an environment, so that a rule about a field that is not there fails early. */
export class Types {
  readonly #environment: Environment;
  readonly #known = new Map<Schema, ValueType | undefined>();
  #count = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** The type of a schema; `undefined` where rules cannot see such a value. */
  of(schema: Schema): ValueType | undefined {
    if (this.#known.has(schema)) return this.#known.get(schema);
    const made = this.#make(schema);
    this.#known.set(schema, made);
    return made;
  }

  /** The type of the object itself, or of one embedded in it: it has a name whether the schema says so or not. */
  ofResource(schema: Schema): ValueType | undefined {
    return this.of(withMetadata(schema));
  }

  #ofPart(schema: Schema): ValueType | undefined {
    const isResource = schema["x-kubernetes-embedded-resource"] === true;
    const type = isResource ? this.ofResource(schema) : this.of(schema);
    if (type === undefined || schema.nullable !== true) return type;
    return { name: "dyn", valueOf: (raw) => (raw === null ? null : type.valueOf(raw)) };
  }

  #make(schema: Schema): ValueType | undefined {
    if (schema["x-kubernetes-int-or-string"] === true) {
      const kinds = ["number", "string"];
      return {
        name: "dyn",
        valueOf: (raw) => scalarOf(checkedKind(raw, kinds, "integer or string")),
      };
    }
    switch (schema.type) {
      case "array":
        return this.#list(schema);
      case "object":
        return schema.additionalProperties ? this.#map(schema) : this.#object(schema);
      case "string":
        return textType(schema);
      case "boolean":
        return { name: "bool", valueOf: (raw) => checkedKind(raw, ["boolean"], "boolean") };
      case "integer":
        return { name: "int", valueOf: (raw) => scalarOf(checkedKind(raw, ["number"], "integer")) };
      case "number":
        return { name: "double", valueOf: (raw) => checkedKind(raw, ["number"], "number") };
      case undefined:
        return undefined;
    }
  }

  #list(schema: Schema): ValueType | undefined {
    const item = schema.items && this.#ofPart(schema.items);
    if (item === undefined) return undefined;
    return {
      name: `list<${item.name}>`,
      valueOf(raw) {
        if (!Array.isArray(raw)) throw strange("array");
        const items = raw.map((one) => itemOf(one, item));
        return markedList(items, schema);
      },
    };
  }

  #map(schema: Schema): ValueType | undefined {
    const others = schema.additionalProperties;
    const value = typeof others === "object" ? this.#ofPart(others) : undefined;
    if (value === undefined) return undefined;
    return {
      name: `map<string, ${value.name}>`,
      valueOf(raw) {
        if (!isFields(raw)) throw strange("object");
        const entries = Object.entries(raw);
        return new Map(entries.map(([name, one]) => [name, value.valueOf(one)]));
      },
    };
  }

  #object(schema: Schema): ValueType {
    const parts = new Map<string, { field: string; type: ValueType }>();
    for (const [field, own] of Object.entries(schema.properties ?? {})) {
      const name = escaped(field);
      const type = this.#ofPart(own);
      if (name !== undefined && type !== undefined) parts.set(name, { field, type });
    }
    this.#count += 1;
    const name = `Object${this.#count}`;
    const Value = class extends ObjectValue {
      override get(key: string): unknown {
        const part = parts.get(key);
        if (part === undefined || !Object.hasOwn(this.raw, part.field)) return undefined;
        return part.type.valueOf(this.raw[part.field]);
      }
    };
    const fields = Object.fromEntries([...parts].map(([key, { type }]) => [key, type.name]));
    this.#environment.registerType(name, { ctor: Value, fields });
    this.#environment.registerOperator(`${name} == ${name}`, equalValues);
    const of = (raw: unknown) => {
      if (!isFields(raw)) throw strange("object");
      return new Value(raw, schema);
    };
    return { name, valueOf: of };
  }
}

function textType(schema: Schema): ValueType {
  const of = (name: string, make: (text: string) => unknown) => ({
    name,
    valueOf: (raw: unknown) => make(checkedKind(raw, ["string"], "string") as string),
  });
  switch (formatOf(schema)) {
    case "byte":
      return of("bytes", (text) => Buffer.from(text, "base64"));
    case "duration":
      return of("google.protobuf.Duration", durationOf);
    case "date":
    case "date-time":
      return of("google.protobuf.Timestamp", timeOf);
    default:
      return of("string", (text) => text);
  }
}

/** A value of the wrong type can come here: what an update leaves as it was is not checked. */
function checkedKind(raw: unknown, kinds: readonly string[], type: string): unknown {
  if (!kinds.includes(typeof raw)) throw strange(type);
  return raw;
}

/** A value of the wrong type inside of another: equal to nothing, and an error to whatever reads it. */
export class StrangeItem {
  equals(): boolean {
    return false;
  }
}

function itemOf(raw: unknown, type: ValueType): unknown {
  if (typeof raw === "object") return type.valueOf(raw);
  try {
    return type.valueOf(raw);
  } catch {
    return new StrangeItem();
  }
}

function strange(type: string): Error {
  return new Error(`invalid data, expected ${type}`);
}

function timeOf(text: string): Date {
  const time = new Date(text);
  if (!Number.isNaN(time.getTime())) return time;
  throw new Error(`Invalid date-time formatted string ${text}: parsing time "${text}"`);
}

function scalarOf(raw: unknown): unknown {
  if (typeof raw !== "number") return raw;
  if (!Number.isInteger(raw)) throw strange("integer");
  return BigInt(raw);
}

const withNames = new WeakMap<Schema, Schema>();

/** A schema with what every object has, as far as rules may read it. */
export function withMetadata(schema: Schema): Schema {
  const known = withNames.get(schema);
  if (known !== undefined) return known;
  const text: Schema = { type: "string" };
  const made: Schema = {
    ...schema,
    properties: {
      ...schema.properties,
      apiVersion: text,
      kind: text,
      metadata: { type: "object", properties: { name: text, generateName: text } },
    },
  };
  withNames.set(schema, made);
  return made;
}
