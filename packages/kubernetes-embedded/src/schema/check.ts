import type { Cause, Schema } from "../resource.ts";
import {
  goFloat,
  goJson,
  goNumber,
  goQuoted,
  invalid,
  noField,
  required,
  tooLong,
  tooMany,
  unsupported,
  wrongType,
} from "./causes.ts";
import { isUnchanged, type Pair, pairOfField, pairOfItem } from "./correlate.ts";
import { formatOf, isOfFormat } from "./formats.ts";
import { PatternError, regexOf } from "./patterns.ts";
import { type Fields, fieldOf, isFields, same } from "./plain.ts";

/**
 * What a value breaks of its schema. The causes read as those of kube-apiserver, whose checker is a
 * descendant of go-openapi/validate: that is where the words "in body" come from, and why a failed
 * `anyOf` tells of the alternative that came closest.
 */
export function checked(value: unknown, schema: Schema, pair?: Pair): Cause[] {
  const found: Found = { causes: [], matches: 0 };
  check(value, schema, "", pair, found);
  return found.causes;
}

interface Found {
  causes: Cause[];
  /** How many checks went well or were made at all: the measure of which alternative came closest. */
  matches: number;
}

function check(
  value: unknown,
  schema: Schema,
  path: string,
  pair: Pair | undefined,
  found: Found,
): void {
  const before = found.causes.length;
  checkAll(value, schema, path, pair, found);
  if (found.causes.length > before && isUnchanged(pair)) found.causes.length = before;
}

function checkAll(
  value: unknown,
  schema: Schema,
  path: string,
  pair: Pair | undefined,
  found: Found,
): void {
  const format = formatOf(schema);
  const types = typesOf(schema);
  if (types.length > 0 || format !== "" || value === null) {
    const wrong = wrongTypeOf(value, schema, types, format, path);
    if (wrong) add(found, wrong);
    else found.matches += 1;
    if (value !== null) found.matches += 1;
  }
  if (value !== null) checkAlternatives(value, schema, path, found);
  if (typeof value === "string") checkText(value, schema, format, path, found);
  if (typeof value === "number") checkNumber(value, schema, format, path, found);
  if (Array.isArray(value)) checkItems(value, schema, path, pair, found);
  if (schema.enum && schema.enum.length > 0 && !isOneOf(value, schema.enum)) {
    add(found, unsupported(nameOf(path), value, schema.enum));
  }
  if (isFields(value)) checkFields(value, schema, path, pair, found);
  // What is made for every value: alternatives, of which the check itself counts too, the enum, and all of it.
  if (value !== null) found.matches += 4;
}

/** Says a thing once: two alternatives may find the same fault. */
function add(found: Found, cause: Cause): void {
  const told = found.causes.some((one) => {
    return one.field === cause.field && one.message === cause.message;
  });
  if (!told) found.causes.push(cause);
}

function nameOf(path: string): string {
  return path === "" ? noField : path.replace(/^\./, "");
}

function typesOf(schema: Schema): readonly string[] {
  if (schema["x-kubernetes-int-or-string"] === true) return ["integer", "string"];
  return schema.type === undefined ? [] : [schema.type];
}

/** A number is an integer where it has no fraction and Go's int64 can hold it. */
function isInteger(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return isInteger(value) ? "integer" : "number";
  return value === null ? "null" : typeof value;
}

function wrongTypeOf(
  value: unknown,
  schema: Schema,
  types: readonly string[],
  format: string,
  path: string,
): Cause | undefined {
  const type = typeOf(value);
  const wrong = (wanted: string, got: string) => {
    const detail = `${path} in body must be of type ${wanted}: ${goQuoted(got)}`;
    return wrongType(nameOf(path), got, detail);
  };
  if (value === null) {
    if (types.length === 0 || schema.nullable === true) return undefined;
    return wrong(types.join(","), "null");
  }
  const fits = types.includes(type) || (type === "integer" && types.includes("number"));
  if (fits) return undefined;
  const isTextOrList = type === "string" || type === "array";
  if (format !== "" && !isTextOrList) return wrong(format, inferredFormat(type));
  const wantsNumber = types.includes("number") || types.includes("integer");
  // A text has its format checked instead; that a list gets by as well is how the API server does it.
  if (format !== "" && !wantsNumber) return undefined;
  return types.length === 0 ? undefined : wrong(types.join(","), type);
}

function inferredFormat(type: string): string {
  if (type === "integer") return "int64";
  return type === "number" ? "float64" : "";
}

function isOneOf(value: unknown, allowed: readonly unknown[]): boolean {
  // A null is never one of them, not even if the list names it; a fraction is one if its whole part is.
  if (value === null) return false;
  if (typeof value === "number")
    return allowed.some((one) => one === value || one === Math.trunc(value));
  return allowed.some((one) => same(one, value));
}

function checkText(text: string, schema: Schema, format: string, path: string, found: Found): void {
  const cause = textCause(text, schema, path);
  if (cause) add(found, cause);
  found.matches += format === "" ? 1 : 2;
  if (format !== "" && !isOfFormat(text, format)) {
    const detail = `${path} in body must be of type ${format}: ${goQuoted(text)}`;
    add(found, wrongType(nameOf(path), text, detail));
  }
}

function textCause(text: string, schema: Schema, path: string): Cause | undefined {
  const { maxLength, minLength, pattern } = schema as Bounds;
  if (maxLength !== undefined || minLength !== undefined) {
    const length = lengthOf(text);
    if (maxLength !== undefined && length > maxLength) return tooLong(nameOf(path), maxLength);
    if (minLength !== undefined && length < minLength) {
      return fault(path, text, `should be at least ${minLength} chars long`);
    }
  }
  if (pattern === undefined || pattern === "") return undefined;
  try {
    if (regexOf(pattern).test(text)) return undefined;
    return fault(path, text, `should match '${pattern}'`);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return fault(path, text, `should match '${pattern}, but pattern is invalid: ${error.message}'`);
  }
}

/** In characters, not in the halves of which JavaScript makes the rarer ones. */
function lengthOf(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length - 1; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0xd800 && code < 0xdc00) length -= 1;
  }
  return length;
}

/** The bounds that a schema may set. */
export interface Bounds {
  maxLength?: number;
  minLength?: number;
  pattern?: string;
  maximum?: number;
  minimum?: number;
  exclusiveMaximum?: boolean;
  exclusiveMinimum?: boolean;
  multipleOf?: number;
  maxItems?: number;
  minItems?: number;
  uniqueItems?: boolean;
  maxProperties?: number;
  minProperties?: number;
}

function fault(path: string, value: unknown, words: string): Cause {
  return invalid(nameOf(path), value, `${path} in body ${words}`);
}

function checkNumber(
  value: number,
  schema: Schema,
  format: string,
  path: string,
  found: Found,
): void {
  const bounds = schema as Bounds;
  const limit = isInteger(value)
    ? (bound: number) => String(Math.trunc(bound))
    : (bound: number) => goFloat(bound);
  found.matches += 2;
  if (!isInRange(value, schema.type, format)) {
    const wanted = format === "" ? "(default format)" : `with format ${format}`;
    const detail = `Checked value must be of type ${schema.type} ${wanted} in ${path}`;
    add(found, { ...invalid(noField, "", detail), isUnreadable: true });
  }
  const cause = multipleCause(value, bounds.multipleOf, path);
  if (cause) add(found, cause);
  if (bounds.minimum !== undefined) {
    const least = isInteger(value) ? Math.trunc(bounds.minimum) : bounds.minimum;
    const exclusive = bounds.exclusiveMinimum === true;
    if (value < least || (exclusive && value === least)) {
      const words = exclusive ? "greater than" : "greater than or equal to";
      add(found, fault(path, value, `should be ${words} ${limit(bounds.minimum)}`));
    }
  }
  if (bounds.maximum !== undefined) {
    const most = isInteger(value) ? Math.trunc(bounds.maximum) : bounds.maximum;
    const exclusive = bounds.exclusiveMaximum === true;
    if (value > most || (exclusive && value === most)) {
      const words = exclusive ? "less than" : "less than or equal to";
      add(found, fault(path, value, `should be ${words} ${limit(bounds.maximum)}`));
    }
  }
}

function isInRange(value: number, type: Schema["type"], format: string): boolean {
  if (type === "integer" && !isInteger(value)) return false;
  if (format === "int32") return value >= -(2 ** 31) && value < 2 ** 31;
  if (format === "float") return Number.isFinite(Math.fround(value));
  return true;
}

/** An integer is held to the whole part of the factor: a step of 0.5 refuses every one of them. */
function multipleCause(value: number, given: number | undefined, path: string): Cause | undefined {
  if (given === undefined) return undefined;
  const factor = isInteger(value) ? Math.trunc(given) : given;
  if (factor <= 0) {
    const detail = `factor MultipleOf declared for ${path} must be positive: ${goNumber(factor)}`;
    return invalid(nameOf(path), factor, detail);
  }
  if (isMultiple(value, factor)) return undefined;
  return fault(path, value, `should be a multiple of ${goNumber(factor)}`);
}

function isMultiple(value: number, factor: number): boolean {
  if (isInteger(value)) return value % factor === 0;
  const times = factor < 1 ? (1 / factor) * value : value / factor;
  const error = Math.abs(times - Math.round(times));
  return Math.abs(times) <= Number.MAX_SAFE_INTEGER && error <= 1e-9 * Math.abs(times);
}

function checkItems(
  items: readonly unknown[],
  schema: Schema,
  path: string,
  pair: Pair | undefined,
  found: Found,
): void {
  const { maxItems, minItems, uniqueItems } = schema as Bounds;
  found.matches += 2;
  if (schema.items) {
    for (const [index, item] of items.entries()) {
      check(item, schema.items, `${path}[${index}]`, pairOfItem(pair, index), found);
    }
  }
  if (minItems !== undefined && items.length < minItems) {
    add(found, fault(path, items.length, `should have at least ${minItems} items`));
  }
  if (maxItems !== undefined && items.length > maxItems) {
    add(found, tooMany(nameOf(path), items.length, maxItems));
  }
  if (uniqueItems === true && new Set(items.map(goJson)).size < items.length) {
    add(found, fault(path, "", "shouldn't contain duplicates"));
  }
}

function checkFields(
  fields: Fields,
  schema: Schema,
  path: string,
  pair: Pair | undefined,
  found: Found,
): void {
  const { maxProperties, minProperties } = schema as Bounds;
  const names = Object.keys(fields);
  found.matches += 1;
  if (minProperties !== undefined && names.length < minProperties) {
    add(found, fault(path, names.length, `should have at least ${minProperties} properties`));
  }
  if (maxProperties !== undefined && names.length > maxProperties) {
    add(found, tooMany(nameOf(path), names.length, maxProperties));
  }
  const others = schema.additionalProperties;
  for (const name of names) {
    const own = fieldOf(schema.properties, name);
    const at = own && path === "" ? name : `${path}.${name}`;
    if (own) check(fields[name], own, at, pairAt(pair, path, name), found);
    else if (typeof others === "object") {
      check(fields[name], others, at, pairOfField(pair, name), found);
    }
  }
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(fields, name)) add(found, required(nameOf(`${path}.${name}`)));
  }
}

/** Old and new object are of one kind and version by the time they are compared, whatever was sent. */
function pairAt(pair: Pair | undefined, path: string, name: string): Pair | undefined {
  if (path === "" && (name === "kind" || name === "apiVersion")) return undefined;
  return pairOfField(pair, name);
}

function checkAlternatives(value: unknown, schema: Schema, path: string, found: Found): void {
  const { anyOf, oneOf, allOf, not } = schema as Alternatives;
  if (anyOf && anyOf.length > 0) checkAnyOf(value, anyOf, path, found);
  if (oneOf && oneOf.length > 0) checkOneOf(value, oneOf, path, found);
  if (allOf && allOf.length > 0) checkAllOf(value, allOf, path, found);
  if (not && tried(value, not, path).causes.length === 0) {
    add(found, general(`${goQuoted(path)} must not validate the schema (not)`));
  }
}

/** Schemas of which a value has to meet any, one, all, or none. */
export interface Alternatives {
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  not?: Schema;
}

/** What is unchanged is not looked for in here: a value meets an alternative or it does not. */
function tried(value: unknown, schema: Schema, path: string): Found {
  const found: Found = { causes: [], matches: 0 };
  check(value, schema, path, undefined, found);
  return found;
}

function merge(found: Found, more: Found | undefined): void {
  if (more === undefined) return;
  for (const cause of more.causes) add(found, cause);
  found.matches += more.matches;
}

function closest(failures: readonly Found[]): Found | undefined {
  let best: Found | undefined;
  for (const one of failures) if (best === undefined || one.matches > best.matches) best = one;
  return best;
}

function checkAnyOf(value: unknown, schemas: Schema[], path: string, found: Found): void {
  const failures: Found[] = [];
  for (const schema of schemas) {
    const result = tried(value, schema, path);
    if (result.causes.length === 0) {
      merge(found, result);
      return;
    }
    failures.push(result);
  }
  add(found, general(`${goQuoted(path)} must validate at least one schema (anyOf)`));
  merge(found, closest(failures));
}

function checkOneOf(value: unknown, schemas: Schema[], path: string, found: Found): void {
  const results = schemas.map((schema) => tried(value, schema, path));
  const valid = results.filter((result) => result.causes.length === 0);
  if (valid.length === 1) {
    merge(found, valid[0]);
    return;
  }
  const how = valid.length === 0 ? "Found none valid" : `Found ${valid.length} valid alternatives`;
  add(found, general(`${goQuoted(path)} must validate one and only one schema (oneOf). ${how}`));
  if (valid.length === 0) merge(found, closest(results));
}

function checkAllOf(value: unknown, schemas: Schema[], path: string, found: Found): void {
  const results = schemas.map((schema) => tried(value, schema, path));
  for (const result of results) merge(found, result);
  const valid = results.filter((result) => result.causes.length === 0).length;
  if (valid === schemas.length) return;
  const how = valid === 0 ? ". None validated" : "";
  add(found, general(`${goQuoted(path)} must validate all the schemas (allOf)${how}`));
}

function general(message: string): Cause {
  return invalid(noField, "", message);
}
