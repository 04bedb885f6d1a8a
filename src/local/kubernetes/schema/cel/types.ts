import type { Environment } from "@marcbachmann/cel-js";
import type { Schema } from "../../resource.ts";
import { formatOf } from "../formats.ts";
import { type Fields, isFields } from "../plain.ts";
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
    if (schema["x-kubernetes-int-or-string"] === true) return { name: "dyn", valueOf: scalarOf };
    switch (schema.type) {
      case "array":
        return this.#list(schema);
      case "object":
        return schema.additionalProperties ? this.#map(schema) : this.#object(schema);
      case "string":
        return textType(schema);
      case "boolean":
        return { name: "bool", valueOf: asIs };
      case "integer":
        return { name: "int", valueOf: scalarOf };
      case "number":
        return { name: "double", valueOf: asIs };
      case undefined:
        return undefined;
    }
  }

  #list(schema: Schema): ValueType | undefined {
    const item = schema.items && this.#ofPart(schema.items);
    if (item === undefined) return undefined;
    return {
      name: `list<${item.name}>`,
      valueOf: (raw) => markedList((raw as unknown[]).map(item.valueOf), schema),
    };
  }

  #map(schema: Schema): ValueType | undefined {
    const others = schema.additionalProperties;
    const value = typeof others === "object" ? this.#ofPart(others) : undefined;
    if (value === undefined) return undefined;
    return {
      name: `map<string, ${value.name}>`,
      valueOf(raw) {
        const entries = Object.entries(raw as Fields);
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
    return { name, valueOf: (raw) => new Value(isFields(raw) ? raw : {}, schema) };
  }
}

function textType(schema: Schema): ValueType {
  switch (formatOf(schema)) {
    case "byte":
      return { name: "bytes", valueOf: (raw) => Buffer.from(raw as string, "base64") };
    case "duration":
      return { name: "google.protobuf.Duration", valueOf: (raw) => durationOf(raw as string) };
    case "date":
    case "date-time":
      return { name: "google.protobuf.Timestamp", valueOf: (raw) => new Date(raw as string) };
    default:
      return { name: "string", valueOf: asIs };
  }
}

function asIs(raw: unknown): unknown {
  return raw;
}

function scalarOf(raw: unknown): unknown {
  return typeof raw === "number" && Number.isInteger(raw) ? BigInt(raw) : raw;
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
