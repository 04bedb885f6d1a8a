import { isObject } from "../../arm/fields.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { Json, JsonObject } from "../../state/store.ts";

/** What expressions of a template can ask for. */
export interface Scope {
  /** By their names in lower case: Azure compares them without case. */
  parameters: ReadonlyMap<string, Json>;
  variables: ReadonlyMap<string, Json>;
  subscription: string;
  resourceGroup: string;
  location: Json;
  /** How much may still be evaluated. */
  budget: Budget;
  /** The full type of a resource of the template by its name. */
  typeNamed(name: string): string | undefined;
  /** A resource as it is shown to whoever deploys. */
  shown(id: string): JsonObject | undefined;
}

type Call = (args: Json[], scope: Scope) => Json | undefined;

const functions: Readonly<Record<string, Call>> = {
  parameters: ([name], { parameters }) => declaredValue(parameters, "parameter", String(name)),
  variables: ([name], { variables }) => declaredValue(variables, "variable", String(name)),
  resourceid: (args, scope) => resourceId(args.map(String), scope),
  reference: ([name, , full], scope) => reference(String(name), full === "Full", scope),
  concat: (args) => (Array.isArray(args[0]) ? args.flat() : args.map(String).join("")),
  format: ([text, ...args], { budget }) =>
    String(text).replace(/\{(\d{1,2})\}/g, (_, at) => {
      const value = String(args[Number(at)] ?? "");
      budget.take(value);
      return value;
    }),
  tolower: ([text]) => String(text).toLowerCase(),
  toupper: ([text]) => String(text).toUpperCase(),
  if: ([condition, yes, no]) => (condition === true ? yes : no),
  equals: ([a, b]) => JSON.stringify(a) === JSON.stringify(b),
  not: ([value]) => value !== true,
  empty: ([value]) =>
    value === null || value === "" || Object.keys(isList(value) ? value : {}).length === 0,
  resourcegroup: (_, { subscription, resourceGroup, location }) => ({
    id: `/subscriptions/${subscription}/resourceGroups/${resourceGroup}`,
    name: resourceGroup,
    location,
  }),
  subscription: (_, { subscription }) => ({
    id: `/subscriptions/${subscription}`,
    subscriptionId: subscription,
  }),
};

const deepest = 40;

/** A value of a template with its expressions evaluated. */
export function evaluate(value: Json, scope: Scope): Json {
  if (typeof value === "string") {
    if (value.startsWith("[[")) return value.slice(1);
    if (!value.startsWith("[") || !value.endsWith("]")) return value;
    return new Reader(value.slice(1, -1), scope).whole() ?? null;
  }
  if (Array.isArray(value)) return value.map((each) => evaluate(each, scope));
  if (!isObject(value)) return value;
  return mapped(value, (each) => evaluate(each, scope));
}

/** The same fields with other values. A field that is called `__proto__` is a field like any other. */
export function mapped(from: JsonObject, by: (value: Json, name: string) => Json): JsonObject {
  const fields = Object.entries(from).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields.map(([name, value]) => [name, by(value as Json, name)]));
}

/**
 * What the values of one template may come to. A template of a few lines can double a value with each of them, so what every
 * function gives is counted: no template that Azure takes, of at most 4 MB with its values, comes near this.
 */
export class Budget {
  #left = 16 * 1024 * 1024;

  take(value: Json | undefined): void {
    this.#count(value, 0);
  }

  #count(value: Json | undefined, depth: number): void {
    this.#left -= 1 + (typeof value === "string" ? value.length : 0);
    if (this.#left < 0) throw invalidTemplate("the values of its expressions are too large");
    if (typeof value !== "object" || value === null) return;
    if (depth > deepestValue) throw invalidTemplate("the values of its expressions are too deep");
    for (const [name, each] of Object.entries(value)) {
      this.#left -= name.length;
      this.#count(each, depth + 1);
    }
  }
}

/** As deep as a body can be. */
const deepestValue = 100;

/** The names of resources that an expression anywhere in a value refers to. */
export function referencesIn(value: Json): string[] {
  const text = JSON.stringify(value);
  return [...text.matchAll(/reference\('([^']+)'/g)].map(([, name = ""]) => name);
}

/** The refusal of a template that cannot be deployed. */
export function invalidTemplate(why: string): Refusal {
  return new Refusal(400, "InvalidTemplate", `Deployment template validation failed: '${why}'.`, {
    by: "gateway",
  });
}

/** Reads and evaluates one expression. */
class Reader {
  readonly #tokens: string[];
  readonly #scope: Scope;
  #at = 0;
  #depth = 0;

  constructor(text: string, scope: Scope) {
    this.#scope = scope;
    this.#tokens = text.match(/'(?:[^']|'')*'|-?\d+|\w+|[^\s\w]/g) ?? [];
  }

  whole(): Json | undefined {
    const value = this.#value();
    if (this.#at < this.#tokens.length) throw this.#unreadable();
    return value;
  }

  #value(): Json | undefined {
    if (++this.#depth > deepest) throw invalidTemplate("an expression is nested too deeply");
    const token = this.#next();
    let value: Json | undefined;
    if (token.startsWith("'")) value = token.slice(1, -1).replaceAll("''", "'");
    else if (/^-?\d+$/.test(token)) value = Number(token);
    else if (token === "true" || token === "false") value = token === "true";
    else if (token === "null") value = null;
    else value = this.#call(token);
    for (;;) {
      if (this.#take(".")) value = fieldOf(value, this.#next());
      else if (this.#take("[")) {
        value = fieldOf(value, String(this.#value()));
        this.#expect("]");
      } else break;
    }
    this.#depth--;
    return value;
  }

  #call(name: string): Json | undefined {
    if (!/^\w+$/.test(name)) throw this.#unreadable();
    const word = name.toLowerCase();
    const call = Object.hasOwn(functions, word) ? functions[word] : undefined;
    if (!call)
      throw new Refusal(
        501,
        "NotSupportedBySimulator",
        `The simulator does not evaluate the template function '${name.slice(0, 60)}'. What it does is listed in docs/reference/simulator.md.`,
        { by: "gateway" },
      );
    this.#expect("(");
    const args: Json[] = [];
    while (!this.#take(")")) {
      if (args.length > 0) this.#expect(",");
      args.push(this.#value() ?? null);
    }
    const value = call(args, this.#scope);
    this.#scope.budget.take(value);
    return value;
  }

  #next(): string {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw this.#unreadable();
    return token;
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }

  #expect(token: string): void {
    if (!this.#take(token)) throw this.#unreadable();
  }

  #unreadable(): Refusal {
    const text = this.#tokens.join("").slice(0, 200);
    return invalidTemplate(`Unable to parse language expression '${text}'`);
  }
}

function declaredValue(from: ReadonlyMap<string, Json>, what: string, name: string): Json {
  const value = from.get(name.toLowerCase());
  if (value === undefined)
    throw invalidTemplate(`The template ${what} '${name.slice(0, 60)}' is not found`);
  return value;
}

function fieldOf(value: Json | undefined, name: string): Json | undefined {
  if (Array.isArray(value) && value[Number(name)] !== undefined) return value[Number(name)];
  if (isObject(value) && Object.hasOwn(value, name)) return value[name];
  throw invalidTemplate(`The language expression property '${name.slice(0, 60)}' doesn't exist`);
}

/** `resourceId([subscription], [group], 'Provider/type/child', 'name', 'child name')`. */
function resourceId(args: readonly string[], scope: Scope): string {
  const at = args.findIndex((each) => each.includes("/"));
  const [type = "", ...names] = args.slice(at);
  const before = args.slice(0, Math.max(at, 0));
  const group = before.pop() ?? scope.resourceGroup;
  const subscription = before.pop() ?? scope.subscription;
  const [provider, ...words] = type.split("/");
  if (at < 0 || words.length !== names.length || before.length > 0)
    throw invalidTemplate("resourceId needs a type and one name for each of its words");
  const path = words.map((word, i) => `${word}/${names[i]}`).join("/");
  return `/subscriptions/${subscription}/resourceGroups/${group}/providers/${provider}/${path}`;
}

function reference(name: string, full: boolean, scope: Scope): Json {
  const type = scope.typeNamed(name);
  const id = name.startsWith("/") ? name : type && resourceId([type, ...name.split("/")], scope);
  const shown = id === undefined ? undefined : scope.shown(id);
  if (!shown)
    throw invalidTemplate(
      `The resource '${name.slice(0, 200)}' referenced in output is not defined`,
    );
  return full ? shown : (shown.properties ?? {});
}

function isList(value: Json | undefined): value is Json[] | JsonObject {
  return typeof value === "object" && value !== null;
}
