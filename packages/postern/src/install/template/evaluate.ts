import { createHash } from "node:crypto";
import type { KubeObject } from "@postern/core/kind.ts";
import {
  type Condition,
  type Document,
  isNode,
  type Node,
  node,
  type Reference,
  type Template,
  type TemplateMap,
  type TextPart,
} from "./template.ts";

/** All that templates refer to. */
export interface Values {
  settings: object;
  release: { namespace: string; version: string };
  item?: unknown;
}

const absent: unique symbol = Symbol("absent");

/** The objects of templates. */
export function evaluateObjects(document: Document, values: Values): KubeObject[] {
  if (Array.isArray(document)) return document.flatMap((each) => evaluateObjects(each, values));
  const only = document as Exclude<Document, readonly Document[]>;
  if (!isNode(only)) return [evaluate(only, values) as unknown as KubeObject];
  if (only[node] === "repeat")
    return itemsOf(only.list, values).flatMap((item) =>
      evaluateObjects(only.each, { ...values, item }),
    );
  const branch = holds(only.condition, values) ? only.value : only.otherwise;
  return branch === undefined ? [] : evaluateObjects(branch, values);
}

/** The data of a template. */
export function evaluate(template: Template, values: Values): unknown {
  const value = dataOf(template, values);
  if (value === absent) throw new Error("only an entry of a map or a list can be absent");
  return value;
}

/** Whether a condition is true. */
export function holds(condition: Condition, values: Values): boolean {
  if ("not" in condition) return !holds(condition.not, values);
  if ("all" in condition) return condition.all.every((each) => holds(each, values));
  if ("any" in condition) return condition.any.some((each) => holds(each, values));
  if ("is" in condition) return read(condition.is, values) === condition.value;
  return isTrue(read(condition, values));
}

function dataOf(template: Template, values: Values): unknown {
  if (Array.isArray(template)) return template.flatMap((each) => entriesOf(each, values));
  if (isNode(template)) return nodeValue(template, values);
  if (typeof template !== "object") return template;
  const entries = Object.entries(template as TemplateMap).flatMap(
    ([key, each]): [string, unknown][] => {
      const value = dataOf(each, values);
      if (value === absent) return [];
      return key === "..." ? Object.entries((value ?? {}) as object) : [[key, value]];
    },
  );
  return Object.fromEntries(entries);
}

function nodeValue(template: Node, values: Values): unknown {
  switch (template[node]) {
    case "reference":
      return required(template, values);
    case "text":
      return textIn(template, values);
    case "json": {
      const text = goJson(required(template.of, values));
      return template.hashed ? createHash("sha256").update(text).digest("hex") : text;
    }
    case "choice": {
      const branch = holds(template.condition, values) ? template.value : template.otherwise;
      return branch === undefined ? absent : dataOf(branch, values);
    }
    case "repeat":
      throw new Error("a repeat stands in a list");
  }
}

function entriesOf(template: Template, values: Values): unknown[] {
  if (isNode(template) && template[node] === "repeat")
    return itemsOf(template.list, values).flatMap((item) =>
      entriesOf(template.each, { ...values, item }),
    );
  const value = dataOf(template, values);
  return value === absent ? [] : [value];
}

function textIn(part: TextPart, values: Values): string {
  if (typeof part === "string") return part;
  switch (part[node]) {
    case "reference":
      return String(required(part, values));
    case "text":
      return part.parts.map((each) => textIn(each, values)).join("");
    case "choice": {
      const branch = holds(part.condition, values) ? part.value : part.otherwise;
      return branch === undefined ? "" : textIn(branch, values);
    }
    case "repeat":
      return itemsOf(part.list, values)
        .map((item) => textIn(part.each, { ...values, item }))
        .join("");
  }
}

function itemsOf(list: Reference, values: Values): unknown[] {
  return (read(list, values) ?? []) as unknown[];
}

function required(reference: Reference, values: Values): unknown {
  const value = read(reference, values);
  if (value === undefined) throw new Error(`no value for ${reference.path.join(".")}`);
  return value;
}

function read({ of, path }: Reference, values: Values): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined,
    values[of],
  );
}

/** What is true in Go's templates. */
function isTrue(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return Boolean(value);
  return Object.keys(value).length > 0;
}

/** JSON as Go writes it: keys in order, and the characters that HTML gives a meaning escaped. */
function goJson(value: unknown): string {
  const sorted = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(sorted);
    if (typeof each !== "object" || each === null) return each;
    return Object.fromEntries(
      Object.entries(each)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, inner]) => [key, sorted(inner)]),
    );
  };
  return JSON.stringify(sorted(value)).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
