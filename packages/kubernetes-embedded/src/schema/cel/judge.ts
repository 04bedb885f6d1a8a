import { Optional } from "@marcbachmann/cel-js";
import type { Cause, Schema, SchemaRule } from "../../resource.ts";
import { duplicate, forbidden, invalid, noField, omitted, required } from "../causes.ts";
import { isUnchanged, oldItems, type Pair, pairOfField, pairOfItem } from "../correlate.ts";
import { once } from "../once.ts";
import { type Fields, fieldOf, isFields } from "../plain.ts";
import { type Expression, failureOf, type Variables } from "./expression.ts";
import type { Rule, Rules } from "./rules.ts";
import { StrangeItem } from "./types.ts";

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
