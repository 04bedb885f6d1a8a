import type { Environment } from "@marcbachmann/cel-js";
import { Optional } from "@marcbachmann/cel-js";
import type { Cause, Schema, SchemaRule } from "../../resource.ts";
import { duplicate, forbidden, invalid, noField, omitted, required } from "../causes.ts";
import { isUnchanged, oldItems, type Pair, pairOfField, pairOfItem } from "../correlate.ts";
import { once } from "../once.ts";
import { type Fields, fieldOf, isFields } from "../plain.ts";
import { kubernetesEnvironment } from "./environment.ts";
import {
  CompileError,
  compile,
  type Expression,
  failureOf,
  type Names,
  type Variables,
} from "./expression.ts";
import { fieldPathOf } from "./field-path.ts";
import { StrangeItem, Types, type ValueType } from "./types.ts";

/** The rules of a schema and of everything below it. */
export interface Rules {
  here: readonly Rule[];
  type: ValueType | undefined;
  schema: Schema;
  fields: ReadonlyMap<string, Rules>;
  others: Rules | undefined;
  items: Rules | undefined;
}

/** One rule: how to ask it, or why that cannot be. */
export interface Rule {
  given: SchemaRule;
  expression?: Expression;
  message?: Expression;
  fieldPath?: string;
  /** Why it cannot be compiled. */
  error?: string;
  messageError?: string;
}

/** The rules of a schema, compiled; `undefined` where there are none. It is that of an object unless said otherwise. */
export function rulesOf(schema: Schema, isResource = true): Rules | undefined {
  if (!hasRules(schema)) return undefined;
  if (!isResource) return compiledRules(schema, false);
  const known = knownRules.get(schema);
  if (known !== undefined) return known;
  const made = compiledRules(schema, true);
  if (made) knownRules.set(schema, made);
  return made;
}

/** A CRD is looked at when it is created and again when its first object is. */
const knownRules = new WeakMap<Schema, Rules>();

function compiledRules(schema: Schema, isResource: boolean): Rules | undefined {
  const environment = kubernetesEnvironment().clone();
  return collect(schema, new Types(environment), environment, isResource);
}

function hasRules(schema: Schema): boolean {
  if ((schema["x-kubernetes-validations"] ?? []).length > 0) return true;
  const others = schema.additionalProperties;
  return (
    (schema.items !== undefined && hasRules(schema.items)) ||
    (typeof others === "object" && hasRules(others)) ||
    Object.values(schema.properties ?? {}).some(hasRules)
  );
}

function collect(
  schema: Schema,
  types: Types,
  environment: Environment,
  isResource: boolean,
): Rules | undefined {
  const given = schema["x-kubernetes-validations"] ?? [];
  const below = (part: Schema) => {
    return collect(part, types, environment, part["x-kubernetes-embedded-resource"] === true);
  };
  const fields = new Map<string, Rules>();
  for (const [name, own] of Object.entries(schema.properties ?? {})) {
    const found = below(own);
    if (found) fields.set(name, found);
  }
  const items = schema.items && below(schema.items);
  const { additionalProperties } = schema;
  const others = typeof additionalProperties === "object" ? below(additionalProperties) : undefined;
  if (given.length === 0 && fields.size === 0 && !items && !others) return undefined;
  const type = given.length === 0 ? undefined : typeOf(schema, types, isResource);
  return {
    here: compiled(given, schema, type, environment),
    type,
    schema,
    fields,
    others,
    items,
  };
}

function typeOf(schema: Schema, types: Types, isResource: boolean): ValueType | undefined {
  return isResource ? types.ofResource(schema) : types.of(schema);
}

function compiled(
  given: readonly SchemaRule[],
  schema: Schema,
  type: ValueType | undefined,
  environment: Environment,
): Rule[] {
  if (given.length === 0) return [];
  if (type === undefined) {
    const error = "unable to convert structural schema to CEL declarations";
    return given.map((rule) => ({ given: rule, error }));
  }
  // Rules about texts and numbers know nothing of the schema around them, and are often the same.
  const own = /Object\d/.test(type.name) ? environment : scalarEnvironment();
  const variable = (name: string, typeName: string) => {
    const known = `${name}Of${typeName.replace(/\W/g, "_")}`;
    if (!own.hasVariable(known)) own.registerVariable(known, typeName);
    return known;
  };
  const self = variable("self", type.name);
  return given.map((rule) => {
    const oldType = rule.optionalOldSelf === true ? `optional<${type.name}>` : type.name;
    const names = { self, oldSelf: variable("oldSelf", oldType) };
    return compiledRule(rule, schema, own, names);
  });
}

const scalarEnvironment = once(() => kubernetesEnvironment().clone());
const scalarExpressions = new Map<string, Expression>();

function expressionOf(text: string, environment: Environment, names: Names): Expression {
  if (environment !== scalarEnvironment()) return compile(text, environment, names);
  const key = `${names.oldSelf} ${text}`;
  const known = scalarExpressions.get(key);
  if (known !== undefined) return known;
  const made = compile(text, environment, names);
  scalarExpressions.set(key, made);
  return made;
}

function compiledRule(
  given: SchemaRule,
  schema: Schema,
  environment: Environment,
  names: Names,
): Rule {
  const rule: Rule = { given };
  if (given.rule.trim() === "") return rule;
  try {
    rule.expression = expressionOf(given.rule, environment, names);
    if (!["bool", "dyn"].includes(rule.expression.type)) {
      delete rule.expression;
      rule.error = "cel expression must evaluate to a bool";
    }
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    rule.error = `compilation failed: ${error.message}`;
  }
  if (rule.expression && given.messageExpression) compileMessage(rule, environment, names);
  if (given.fieldPath) {
    const path = fieldPathOf(given.fieldPath, schema);
    if (typeof path === "object") rule.fieldPath = path.path;
  }
  return rule;
}

function compileMessage(rule: Rule, environment: Environment, names: Names): void {
  try {
    const message = compile(rule.given.messageExpression ?? "", environment, names);
    if (["string", "dyn"].includes(message.type)) rule.message = message;
    else rule.messageError = "messageExpression must evaluate to a string";
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    rule.messageError = `messageExpression compilation failed: ${error.message}`;
  }
}

/** Where a value stands: with the one that it replaces, as rules about changes see it and as ratcheting does. */
interface Place {
  path: string;
  old: unknown;
  pair: Pair | undefined;
  parent: Pair | undefined;
}

/** What a value breaks of the rules of its schema. */
export function judged(rules: Rules | undefined, value: unknown, old: unknown): Cause[] {
  if (rules === undefined) return [];
  const pair = old === undefined ? undefined : { value, old, schema: rules.schema };
  const causes: Cause[] = [];
  judge(rules, value, { path: "", old, pair, parent: undefined }, causes);
  return causes;
}

function judge(rules: Rules, value: unknown, place: Place, causes: Cause[]): void {
  if (value === null || value === undefined) return;
  if (rules.here.length > 0) judgeHere(rules, value, place, causes);
  if (Array.isArray(value) && rules.items) judgeItems(rules, value, place, causes);
  else if (isFields(value)) judgeFields(rules, value, place, causes);
}

function judgeItems(rules: Rules, items: unknown[], place: Place, causes: Cause[]): void {
  const { items: own } = rules;
  if (own === undefined) return;
  const olds = oldItems(rules.schema, Array.isArray(place.old) ? place.old : []);
  for (const [index, item] of items.entries()) {
    const at = { path: `${place.path}[${index}]`, old: olds(item) };
    judge(own, item, { ...at, ...next(place, pairOfItem(place.pair, index)) }, causes);
  }
}

function judgeFields(rules: Rules, fields: Fields, place: Place, causes: Cause[]): void {
  const old = isFields(place.old) ? place.old : undefined;
  for (const name of Object.keys(fields)) {
    const own = rules.fields.get(name);
    const below = own ?? (fieldOf(rules.schema.properties, name) ? undefined : rules.others);
    if (below === undefined) continue;
    const path = own ? childPath(place.path, name) : `${place.path}[${name}]`;
    const at = { path, old: fieldOf(old, name) };
    judge(below, fields[name], { ...at, ...next(place, pairOfField(place.pair, name)) }, causes);
  }
}

function childPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function next(place: Place, pair: Pair | undefined): Pick<Place, "pair" | "parent"> {
  return place.pair === undefined
    ? { pair: undefined, parent: place.parent }
    : { pair, parent: place.pair };
}

function judgeHere(rules: Rules, value: unknown, place: Place, causes: Cause[]): void {
  const { type, schema } = rules;
  if (type === undefined) return;
  const hasOld = place.old !== undefined && place.old !== null;
  const self = once(() => type.valueOf(value));
  const oldSelf = once(() => (hasOld ? type.valueOf(place.old) : undefined));
  for (const rule of rules.here) {
    const { expression, given } = rule;
    if (expression === undefined) continue;
    const optional = given.optionalOldSelf === true;
    if (expression.usesOldSelf && !hasOld && !optional) continue;
    const variables = { self, oldSelf: optional ? () => optionalOf(oldSelf) : oldSelf };
    const cause = broken(rule, expression, variables, schema, value, place.path);
    if (cause === undefined) continue;
    const isForgiven = !cause.failed && !expression.usesOldSelf;
    if (isForgiven && isUnchanged(place.pair ?? place.parent)) continue;
    causes.push(cause.cause);
  }
}

function optionalOf(make: () => unknown): Optional {
  try {
    return Optional.of(make());
  } catch {
    return Optional.of(new StrangeItem());
  }
}

function broken(
  rule: Rule,
  expression: Expression,
  variables: Variables,
  schema: Schema,
  value: unknown,
  path: string,
): { cause: Cause; failed: boolean } | undefined {
  const field = path === "" ? noField : path;
  try {
    if (expression.evaluate(variables) === true) return undefined;
  } catch (error) {
    const detail = `${failureOf(error)} evaluating rule: ${ruleName(rule.given)}`;
    return { cause: invalid(field, schema.type ?? "", detail), failed: true };
  }
  const at = rule.fieldPath === undefined ? field : joined(path, rule.fieldPath);
  const shown = schema.type === "object" || schema.type === "array" ? omitted : value;
  const cause = causeFor(rule.given, at, shown, detailOf(rule, variables));
  return { cause, failed: false };
}

function joined(path: string, more: string): string {
  return path === "" ? more : `${path}.${more}`;
}

function causeFor(given: SchemaRule, field: string, value: unknown, detail: string): Cause {
  switch (given.reason) {
    case "FieldValueForbidden":
      return forbidden(field, detail);
    case "FieldValueRequired":
      return required(field, detail);
    case "FieldValueDuplicate":
      return duplicate(field, value);
    default:
      return invalid(field, value, detail);
  }
}

function ruleName({ message, rule }: SchemaRule): string {
  return (message || rule).trim();
}

function detailOf(rule: Rule, variables: Variables): string {
  const told = rule.message && messageOf(rule.message, variables);
  if (told) return told;
  return rule.given.message ? ruleName(rule.given) : `failed rule: ${ruleName(rule.given)}`;
}

/** A message of more than a line, or of more than 5 KB, is not used. */
function messageOf(message: Expression, variables: Variables): string | undefined {
  try {
    const text = message.evaluate(variables);
    if (typeof text !== "string") return undefined;
    const trimmed = text.trim();
    return trimmed.includes("\n") || Buffer.byteLength(trimmed) > 5120 ? undefined : trimmed;
  } catch {
    return undefined;
  }
}
