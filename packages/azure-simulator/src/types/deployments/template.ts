import { hash } from "node:crypto";
import { isObject, object, objects, text, texts } from "../../arm/fields.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { Json, JsonObject } from "../../state/store.ts";
import {
  Budget,
  evaluate,
  invalidTemplate,
  mapped,
  referencesIn,
  type Scope,
} from "./expressions.ts";

/** A resource that a template declares. */
export interface Declared {
  id: string;
  type: string;
  name: string;
  apiVersion: string;
  body: JsonObject;
  /** The ids of those that it waits for. */
  dependsOn: string[];
}

/** A template with its parameters, ready to be deployed. */
export interface Template {
  /** In an order in which they can be written. */
  resources: Declared[];
  parameters: JsonObject;
  /** The types of parameters. */
  types: ReadonlyMap<string, string>;
  hash: string;
  /** What expressions of its resources are evaluated with. */
  scope: Scope;
  outputs(): JsonObject;
}

/** https://learn.microsoft.com/azure/azure-resource-manager/templates/best-practices#template-limits */
const most = { resources: 800, parameters: 256, variables: 256, outputs: 64 } as const;

/** Read a template; what cannot be deployed is refused. */
export function readTemplate(
  properties: JsonObject,
  scope: Omit<Scope, "parameters" | "variables" | "typeNamed" | "budget">,
): Template {
  const template = object(properties, "template");
  if (!template) throw invalidTemplate("the deployment has no template");
  checkLimits(template);
  const listed = objects(template, "resources");
  const names = new Map<string, string>();
  const variables = new Map<string, Json>();
  const known = new Map<string, Json>();
  const whole: Scope = {
    ...scope,
    parameters: known,
    variables,
    budget: new Budget(),
    typeNamed: (name) => names.get(name.toLowerCase()),
  };
  const parameters = parametersOf(template, properties, known, whole);
  // A variable may use one that is written before it.
  for (const [name, value] of Object.entries(object(template, "variables") ?? {}))
    if (value !== undefined) variables.set(name.toLowerCase(), evaluate(value, whole));
  for (const each of listed) {
    const name = String(evaluate(text(each, "name", ""), whole));
    names.set(name.toLowerCase(), text(each, "type", ""));
  }
  return {
    resources: inOrder(listed.flatMap((each) => declared(each, whole))),
    parameters,
    types: parameterTypes(template),
    hash: BigInt(`0x${hash("sha256", JSON.stringify(template)).slice(0, 16)}`).toString(),
    scope: whole,
    outputs: () => outputsOf(object(template, "outputs") ?? {}, whole),
  };
}

function checkLimits(template: JsonObject): void {
  for (const [part, limit] of Object.entries(most)) {
    const value = template[part];
    if (typeof value === "object" && value !== null && Object.keys(value).length > limit)
      throw invalidTemplate(`the template has more than ${limit} ${part}`);
  }
}

function byName(from: JsonObject): Map<string, Json> {
  return new Map(Object.entries(from).map(([name, value]) => [name.toLowerCase(), value ?? null]));
}

function declared(given: JsonObject, scope: Scope): Declared[] {
  const isNested = /^microsoft\.resources\/deployments$/i.test(text(given, "type", ""));
  if (given.copy !== undefined || given.resources !== undefined || isNested)
    throw new Refusal(
      501,
      "NotSupportedBySimulator",
      "The simulator does not do loops, nested resources and nested deployments of templates. What it does is listed in docs/reference/simulator.md.",
      { by: "gateway" },
    );
  if (given.condition !== undefined && evaluate(given.condition, scope) === false) return [];
  const {
    type: _type,
    name: _name,
    apiVersion: _version,
    dependsOn: _on,
    condition: _if,
    ...rest
  } = given;
  const type = text(given, "type", "");
  const name = String(evaluate(text(given, "name", ""), scope));
  const words = type.split("/");
  if (words.length < 2 || words.length !== name.split("/").length + 1)
    throw invalidTemplate(
      `The template resource '${name.slice(0, 200)}' has a type and a name that do not fit`,
    );
  const id = idOf(type, name, scope);
  const explicit = texts(given, "dependsOn").map((each) => {
    const value = String(evaluate(each, scope));
    return dependencyId(value, scope);
  });
  const implicit = referencesIn(rest).map((each) => dependencyId(each, scope));
  const dependsOn = [...new Set([...explicit, ...implicit])].filter((each) => each !== id);
  // What it refers to is there only when it is its turn: expressions are evaluated then.
  return [
    { id, type, name, apiVersion: text(given, "apiVersion", "2024-05-01"), body: rest, dependsOn },
  ];
}

/** A dependency is an id, a type with its name behind it, or a name alone. */
function dependencyId(value: string, scope: Scope): string {
  if (value.startsWith("/")) return value;
  const type = scope.typeNamed(value);
  if (type !== undefined) return idOf(type, value, scope);
  const [provider = "", ...rest] = value.split("/");
  const half = rest.length / 2;
  const interleaved = rest.every((each, i) => i % 2 === 1 || /^[a-z]/i.test(each));
  const words = interleaved ? rest.filter((_, i) => i % 2 === 0) : rest.slice(0, half);
  const names = interleaved ? rest.filter((_, i) => i % 2 === 1) : rest.slice(half);
  return idOf([provider, ...words].join("/"), names.join("/"), scope);
}

function idOf(type: string, name: string, { subscription, resourceGroup }: Scope): string {
  const [provider = "", ...words] = type.split("/");
  const names = name.split("/");
  const path = words.map((word, i) => `${word}/${names[i] ?? ""}`).join("/");
  return `/subscriptions/${subscription}/resourceGroups/${resourceGroup}/providers/${provider}/${path}`;
}

/** The resources with their dependencies in the spelling of what they are, each after those that it waits for. */
function inOrder(resources: readonly Declared[]): Declared[] {
  const all = new Map<string, Declared>();
  for (const each of resources) {
    const key = each.id.toLowerCase();
    if (all.has(key))
      throw invalidTemplate(
        `The resource '${each.type}/${each.name.slice(0, 200)}' is defined multiple times in a template`,
      );
    all.set(key, each);
  }
  const waiting = new Map<Declared, number>();
  const waitedFor = new Map<Declared, Declared[]>(resources.map((each) => [each, []]));
  for (const each of resources) {
    const needed = each.dependsOn.flatMap((id) => all.get(id.toLowerCase()) ?? []);
    each.dependsOn = each.dependsOn.map((id) => all.get(id.toLowerCase())?.id ?? id);
    waiting.set(each, needed.length);
    for (const other of needed) waitedFor.get(other)?.push(each);
  }
  const ordered = resources.filter((each) => waiting.get(each) === 0);
  for (const each of ordered)
    for (const next of waitedFor.get(each) ?? []) {
      const left = (waiting.get(next) ?? 0) - 1;
      waiting.set(next, left);
      if (left === 0) ordered.push(next);
    }
  if (ordered.length === resources.length) return ordered;
  const circular = resources.find((each) => !ordered.includes(each));
  throw invalidTemplate(`Circular dependency detected on resource: '${circular?.id}'`);
}

/** The values of parameters, which become known one by one: a default may use those that are declared before it. */
function parametersOf(
  template: JsonObject,
  properties: JsonObject,
  known: Map<string, Json>,
  scope: Scope,
): JsonObject {
  const given = byName(object(properties, "parameters") ?? {});
  const declared = object(template, "parameters") ?? {};
  const values = mapped(declared, (declaration, name) => {
    const value = given.get(name.toLowerCase());
    given.delete(name.toLowerCase());
    const fallback = isObject(declaration) ? declaration.defaultValue : undefined;
    const found =
      isObject(value) && value.value !== undefined
        ? value.value
        : fallback === undefined
          ? undefined
          : evaluate(fallback, scope);
    if (found === undefined)
      throw invalidTemplate(`The value for the template parameter '${name}' is not provided`);
    known.set(name.toLowerCase(), found);
    return found;
  });
  const [extra] = given.keys();
  if (extra !== undefined)
    throw invalidTemplate(
      `The template parameters '${extra}' in the parameters file are not valid; they are not present in the original template`,
    );
  return values;
}

function parameterTypes(template: JsonObject): ReadonlyMap<string, string> {
  const declared = Object.entries(object(template, "parameters") ?? {});
  return new Map(
    declared.map(([name, each]) => [name, typeName(isObject(each) ? each.type : undefined)]),
  );
}

function typeName(type: Json | undefined): string {
  const name = typeNames.get(String(type).toLowerCase());
  if (name !== undefined) return name;
  throw invalidTemplate(`'${String(type).slice(0, 60)}' is not a type of parameters and outputs`);
}

const typeNames = new Map(
  ["String", "Object", "Array", "Int", "Bool", "SecureString", "SecureObject"].map((each) => [
    each.toLowerCase(),
    each,
  ]),
);

function outputsOf(outputs: JsonObject, scope: Scope): JsonObject {
  return mapped(outputs, (output) => {
    if (!isObject(output) || output.value === undefined)
      throw invalidTemplate("the template has an output without a value");
    const type = typeName(output.type);
    // Azure never shows what is declared secure.
    return type.startsWith("Secure") ? { type } : { type, value: evaluate(output.value, scope) };
  });
}
