import type { Environment } from "@marcbachmann/cel-js";
import type { Schema, SchemaRule } from "../../resource.ts";
import { once } from "../once.ts";
import { kubernetesEnvironment } from "./environment.ts";
import { CompileError, compile, type Expression, type Names } from "./expression.ts";
import { fieldPathOf } from "./field-path.ts";
import { Types, type ValueType } from "./types.ts";

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
