import { hash } from "node:crypto";
import { isObject, object, objects, text, texts } from "../../arm/fields.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { Json, JsonObject } from "../../state/store.ts";
import { evaluate, invalidTemplate, referencesIn, type Scope } from "./expressions.ts";

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
  types: Readonly<Record<string, string>>;
  hash: string;
  /** What expressions of its resources are evaluated with. */
  scope: Scope;
  outputs(): JsonObject;
}

const mostResources = 800;

/** Read a template; what cannot be deployed is refused. */
export function readTemplate(
  properties: JsonObject,
  scope: Omit<Scope, "parameters" | "variables" | "typeNamed">,
): Template {
  const template = object(properties, "template");
  if (!template) throw invalidTemplate("the deployment has no template");
  const listed = objects(template, "resources");
  if (listed.length > mostResources)
    throw invalidTemplate(`the template has more than ${mostResources} resources`);
  const names = new Map<string, string>();
  const whole: Scope = {
    ...scope,
    parameters: parametersOf(template, properties),
    variables: {},
    typeNamed: (name) => names.get(name.toLowerCase()),
  };
  // A variable may use one that is written before it.
  for (const [name, value] of Object.entries(object(template, "variables") ?? {}))
    if (value !== undefined) whole.variables[name] = evaluate(value, whole);
  for (const each of listed) {
    const name = String(evaluate(text(each, "name", ""), whole));
    names.set(name.toLowerCase(), text(each, "type", ""));
  }
  const resources = listed.flatMap((each) => declared(each, whole));
  return {
    resources: inOrder(resources.map((each) => spelled(each, resources))),
    parameters: whole.parameters,
    types: parameterTypes(template),
    hash: BigInt(`0x${hash("sha256", JSON.stringify(template)).slice(0, 16)}`).toString(),
    scope: whole,
    outputs: () => outputsOf(object(template, "outputs") ?? {}, whole),
  };
}

function declared(given: JsonObject, scope: Scope): Declared[] {
  if (given.copy !== undefined || given.resources !== undefined)
    throw new Refusal(
      501,
      "NotSupportedBySimulator",
      "The simulator does not do loops and nested resources of templates. What it does is listed in docs/reference/simulator.md.",
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

/** The same with its dependencies in the spelling of what they are. */
function spelled(resource: Declared, all: readonly Declared[]): Declared {
  const dependsOn = resource.dependsOn.map(
    (id) => all.find((each) => each.id.toLowerCase() === id.toLowerCase())?.id ?? id,
  );
  return { ...resource, dependsOn };
}

function inOrder(resources: readonly Declared[]): Declared[] {
  const left = new Map(resources.map((each) => [each.id.toLowerCase(), each]));
  const ordered: Declared[] = [];
  while (left.size > 0) {
    const ready = [...left].filter(
      ([, { dependsOn }]) => !dependsOn.some((each) => left.has(each.toLowerCase())),
    );
    if (ready.length === 0)
      throw invalidTemplate(`Circular dependency detected on resource: '${[...left.keys()][0]}'`);
    for (const [key, each] of ready) {
      left.delete(key);
      ordered.push(each);
    }
  }
  return ordered;
}

function parametersOf(template: JsonObject, properties: JsonObject): JsonObject {
  const given = object(properties, "parameters") ?? {};
  const values: JsonObject = {};
  for (const [name, declaration] of Object.entries(object(template, "parameters") ?? {})) {
    const value = given[name];
    const fallback = isObject(declaration) ? declaration.defaultValue : undefined;
    const found = isObject(value) ? value.value : fallback;
    if (found === undefined)
      throw invalidTemplate(`The value for the template parameter '${name}' is not provided`);
    values[name] = found;
  }
  const extra = Object.keys(given).find((each) => !Object.hasOwn(values, each));
  if (extra !== undefined)
    throw invalidTemplate(
      `The template parameters '${extra}' in the parameters file are not valid; they are not present in the original template`,
    );
  return values;
}

function parameterTypes(template: JsonObject): Record<string, string> {
  const types: Record<string, string> = {};
  for (const [name, declaration] of Object.entries(object(template, "parameters") ?? {}))
    types[name] = typeName(isObject(declaration) ? String(declaration.type) : "string");
  return types;
}

function typeName(type: string): string {
  return typeNames[type.toLowerCase()] ?? type;
}

const typeNames: Readonly<Record<string, string>> = {
  string: "String",
  object: "Object",
  array: "Array",
  int: "Int",
  bool: "Bool",
  securestring: "SecureString",
  secureobject: "SecureObject",
};

function outputsOf(outputs: JsonObject, scope: Scope): JsonObject {
  const shown: JsonObject = {};
  for (const [name, output] of Object.entries(outputs)) {
    if (!isObject(output) || output.value === undefined) continue;
    const type = typeName(String(output.type));
    // Azure never shows what is declared secure.
    if (type.startsWith("Secure")) shown[name] = { type };
    else shown[name] = { type, value: evaluate(output.value as Json, scope) };
  }
  return shown;
}
