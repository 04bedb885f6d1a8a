import {
  TypeError as CheckError,
  type Environment,
  EvaluationError,
  ParseError,
  parse,
} from "@marcbachmann/cel-js";
import { regexOf } from "../patterns.ts";
import { hasMacro } from "./has.ts";
import type { Node } from "./node.ts";
import { equalValues } from "./values.ts";

/** An expression that is wrong whatever it is asked about. */
export class CompileError extends Error {
  override readonly name = "CompileError";
}

/** An expression made ready to be asked. */
export interface Expression {
  type: string;
  usesOldSelf: boolean;
  evaluate(variables: Variables): unknown;
}

/** What an expression is asked about: each is made when it is read, for that may fail. */
export interface Variables {
  self(): unknown;
  oldSelf(): unknown;
}

/** By which names an environment knows `self` and `oldSelf`: one environment serves all rules of a schema. */
export interface Names {
  self: string;
  oldSelf: string;
}

/** Parses an expression and checks its types; throws `CompileError`. */
export function compile(text: string, environment: Environment, names: Names): Expression {
  try {
    const parsed = environment.parse(text);
    const nodes = nodesOf(parsed.ast as unknown as Node);
    for (const node of nodes) prepare(node, names);
    const checked = parsed.check();
    if (!checked.valid) throw checked.error;
    for (const node of nodes) adapt(node);
    const Lazy = lazily(names);
    return {
      type: checked.type ?? "dyn",
      usesOldSelf: nodes.some((node) => node.op === "id" && node.args === names.oldSelf),
      evaluate: (variables) => parsed(new Lazy(variables)),
    };
  } catch (error) {
    throw new CompileError(compileMessage(error, text));
  }
}

/** What makes a context whose fields are made when they are read; a class is much cheaper than getters for each. */
function lazily(names: Names): new (variables: Variables) => Record<string, unknown> {
  const Lazy = class {
    readonly variables: Variables;

    constructor(variables: Variables) {
      this.variables = variables;
    }

    get [names.self](): unknown {
      return this.variables.self();
    }

    get [names.oldSelf](): unknown {
      return this.variables.oldSelf();
    }
  };
  return Lazy as unknown as new (
    variables: Variables,
  ) => Record<string, unknown>;
}

/** What went wrong when an expression was asked, in the words of Kubernetes where they differ. */
export function failureOf(error: unknown): string {
  if (!(error instanceof EvaluationError)) return (error as Error).message;
  const { code, summary } = error as EvaluationError & { summary: string };
  if (code === "no_such_key") return summary.replace(/^No such key/, "no such key");
  const index = /index out of bounds, index (-?\d+)/.exec(summary);
  if (index) return `index out of bounds: ${index[1]}`;
  if (code === "numeric_overflow") return summary.replace(/: -?\d+$/, "");
  if (code === "optional_value_missing") return "optional.none() dereference";
  return summary;
}

function compileMessage(error: unknown, text: string): string {
  const known =
    error instanceof ParseError || error instanceof CheckError || error instanceof EvaluationError;
  if (!known) return `ERROR: <input>:1:1: ${(error as Error).message}\n | ${text}\n | ^`;
  const { summary, range } = error as ParseError & { summary: string; range?: { start: number } };
  const words = wordsOf(summary);
  // A field is told of at its dot.
  const start = (range?.start ?? 0) - (words.startsWith("undefined field") ? 1 : 0);
  const before = text.slice(0, start).split("\n");
  const column = before.at(-1)?.length ?? 0;
  const line = text.split("\n")[before.length - 1] ?? "";
  const place = `<input>:${before.length}:${column + 1}`;
  return `ERROR: ${place}: ${words}\n | ${line}\n | ${".".repeat(column)}^`;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "op" in value && "meta" in value;
}

function nodesOf(root: Node): Node[] {
  const seen = new Set<unknown>();
  const nodes: Node[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    if (isNode(value)) {
      nodes.push(value);
      visit(value.meta.alternate);
      visit(value.meta.macro);
      visit(value.args);
    } else if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype) {
      Object.values(value).forEach(visit);
    }
  };
  visit(root);
  return nodes;
}

function prepare(node: Node, names: Names): void {
  const { op, args } = node;
  if (op === "id" && (args === "self" || args === "oldSelf")) node.args = names[args];
  if (!Array.isArray(args)) return;
  if (op === "call" && args[0] === "has" && node.meta.macro) {
    node.setMeta("macro", hasMacro(node.meta.macro.args as Node[]));
  }
  if (op !== "rcall") return;
  const [name, receiver, given] = args as [string, Node, Node[]];
  if (name === "format" && given[0]?.op === "list") given[0].args = mixed(given[0].args as Node[]);
  if (name === "bind" && receiver.op === "id" && receiver.args === "cel") {
    throw new Error("undeclared reference to 'cel' (in container '')");
  }
}

/** The values that a text is formatted with may be of different types, other lists may not. */
function mixed(items: Node[]): Node[] {
  const { check, evaluate } = (parse("dyn(1)").ast as unknown as Node).meta;
  const call = { name: "call", check, evaluate };
  return items.map((item) => item.clone(call, ["dyn", [item]]));
}

/** The library's words in those of Kubernetes. */
function wordsOf(summary: string): string {
  const key = /^No such key: (.*)$/.exec(summary);
  if (key) return `undefined field '${key[1]}'`;
  const variable = /^Unknown variable: (.*)$/.exec(summary);
  if (variable) return `undeclared reference to '${variable[1]}' (in container '')`;
  const operator = /^no such overload: (\S.*) ([^\w\s<>]+|in|[<>]=?) (.*)$/.exec(summary);
  if (operator) {
    const [, left, sign, right] = operator;
    return `found no matching overload for '_${sign}_' applied to '(${left}, ${right})'`;
  }
  return summary.replace(/^(List elements|Map \w+ uses).*, (?=expected)/, "");
}

/** What the library does in another way than Kubernetes, and does not let be registered anew. */
function adapt(node: Node): void {
  const { op, args } = node;
  if (op === "==") node.handle = (one: unknown, other: unknown) => equalValues(one, other);
  if (op === "!=") node.handle = (one: unknown, other: unknown) => !equalValues(one, other);
  if (op === "in") node.handle = isIn;
  if (op === "rcall" && Array.isArray(args)) adaptCall(node, args);
}

function isIn(value: unknown, all: unknown): boolean {
  if (Array.isArray(all)) return all.some((one) => equalValues(value, one));
  if (all instanceof Map) return all.has(value);
  return typeof all === "object" && all !== null && Object.hasOwn(all, value as string);
}

function adaptCall(node: Node, [name, , given]: unknown[]): void {
  const replaced = texts[name as string];
  const count = Array.isArray(given) ? given.length : 0;
  if (replaced === undefined || replaced.arguments !== count) return;
  const next = node.handle;
  node.handle = (values: unknown[], ...rest: never[]) => {
    if (values.every((value) => typeof value === "string")) return replaced.of(...values);
    return next?.(values as never, ...rest);
  };
  if (name !== "matches") return;
  const [pattern] = given as Node[];
  if (pattern?.op === "value") regexOf(pattern.args as string);
}

const texts: Readonly<Record<string, { arguments: number; of(...texts: string[]): unknown }>> = {
  matches: { arguments: 1, of: (text = "", pattern = "") => regexOf(pattern).test(text) },
  lowerAscii: {
    arguments: 0,
    of: (text = "") => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
  },
  upperAscii: {
    arguments: 0,
    of: (text = "") => text.replace(/[a-z]/g, (letter) => letter.toUpperCase()),
  },
};
