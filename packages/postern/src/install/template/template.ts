// The objects of an installation are written once, as templates. `evaluate.ts` makes objects of them, for `postern install`,
// the plain manifests and kustomize; `scripts/chart/helm-template.ts` writes the same templates in the language of Helm.

/** Marks what is not plain data. */
export const node: unique symbol = Symbol("template node");

/** A value that is known when the settings are: one of them, of the release, or of the item of the innermost `each`. */
export interface Reference {
  readonly [node]: "reference";
  readonly of: "settings" | "release" | "item";
  readonly path: readonly string[];
}

/** A string with values in it. */
export interface Text {
  readonly [node]: "text";
  readonly parts: readonly TextPart[];
}

/** A part of a string: text of its own, a value, a part that depends on a condition, or one for each item of a list. */
export type TextPart = string | Reference | Text | Choice<TextPart> | Repeat<TextPart>;

/** One of two templates; without the second one, an entry that may be absent. */
export interface Choice<T> {
  readonly [node]: "choice";
  readonly condition: Condition;
  readonly value: T;
  readonly otherwise: T | undefined;
}

/** One template for each item of a list. */
export interface Repeat<T> {
  readonly [node]: "repeat";
  readonly list: Reference;
  readonly each: T;
}

/** A value as JSON, within a string; or the SHA-256 of that. */
export interface Json {
  readonly [node]: "json";
  readonly of: Reference;
  readonly hashed: boolean;
}

/** What can be asked about the settings. A reference is true as Go's templates have it: not empty, zero or false. */
export type Condition =
  | Reference
  | { readonly not: Condition }
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly is: Reference; readonly value: string };

/** Data of which parts depend on settings. */
export type Template =
  | string
  | number
  | boolean
  | Reference
  | Text
  | Json
  | Choice<Template>
  | Repeat<Template>
  | readonly Template[]
  | TemplateMap;

/** A map of templates. Under the key `...` is a map of the settings, whose entries are added to it. */
export interface TemplateMap {
  readonly [key: string]: Template;
}

/** An object of Kubernetes, as a template. */
export interface ObjectTemplate extends TemplateMap {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: TemplateMap;
}

/** What a list of objects consists of. */
export type Document = ObjectTemplate | Choice<Document> | Repeat<Document> | readonly Document[];

/** A setting by its path, such as `azure.clientId`. */
export function setting(path: string): Reference {
  return { [node]: "reference", of: "settings", path: path.split(".") };
}

/** The item of the innermost `each`, or a field of it. */
export function item(path?: string): Reference {
  return { [node]: "reference", of: "item", path: path?.split(".") ?? [] };
}

/** The namespace that is installed into. */
export const releaseNamespace: Reference = {
  [node]: "reference",
  of: "release",
  path: ["namespace"],
};

/** The version that is installed. */
export const releaseVersion: Reference = { [node]: "reference", of: "release", path: ["version"] };

/** A string of literal parts and the values between them. */
export function text(literals: TemplateStringsArray, ...values: Exclude<TextPart, string>[]): Text {
  const parts = literals.flatMap((literal, at): TextPart[] => {
    const value = values[at];
    return [...(literal === "" ? [] : [literal]), ...(value === undefined ? [] : [value])];
  });
  return { [node]: "text", parts };
}

/** The parts of a string, one after the other. */
export function textOf(parts: readonly TextPart[]): Text {
  return { [node]: "text", parts };
}

/** A template that is there only where the condition is true, or else another. */
export function when<T>(condition: Condition, value: T, otherwise?: T): Choice<T> {
  return { [node]: "choice", condition, value, otherwise };
}

/** A template for each item of a list. */
export function forEach<T>(list: Reference, each: T): Repeat<T> {
  return { [node]: "repeat", list, each };
}

/** A setting as JSON. */
export function json(of: Reference): Json {
  return { [node]: "json", of, hashed: false };
}

/** A string that changes with a setting. */
export function checksum(of: Reference): Json {
  return { [node]: "json", of, hashed: true };
}

export const not = (condition: Condition): Condition => ({ not: condition });
export const all = (...conditions: Condition[]): Condition => ({ all: conditions });
export const any = (...conditions: Condition[]): Condition => ({ any: conditions });
export const is = (reference: Reference, value: string): Condition => ({ is: reference, value });

/** A template that is not plain data. */
export type Node<T = Template> = Reference | Text | Json | Choice<T> | Repeat<T>;

/** Whether a template is a node, and not plain data. */
export function isNode<T>(value: T): value is Extract<T, { readonly [node]: string }> {
  return typeof value === "object" && value !== null && node in value;
}
