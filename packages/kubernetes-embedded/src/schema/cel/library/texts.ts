import type { Environment } from "@marcbachmann/cel-js";
import { goQuoted } from "../../causes.ts";
import { regexOf } from "../../patterns.ts";
import { ObjectValue } from "../values.ts";
import { type Functions, register, registerNamespace } from "./register.ts";

const functions: Functions = {
  "string.find(string): string": (text: string, pattern: string) =>
    regexOf(pattern).exec(text)?.[0] ?? "",
  "string.findAll(string): list<string>": (text: string, pattern: string) => findAll(text, pattern),
  "string.findAll(string, int): list<string>": (text: string, pattern: string, most: bigint) => {
    const all = findAll(text, pattern);
    return most < 0n ? all : all.slice(0, Number(most));
  },
  "matches(string, string): bool": (text: string, pattern: string) => regexOf(pattern).test(text),
  "string.charAt(int): string": charAt,
  "string.replace(string, string): string": (text: string, old: string, next: string) =>
    text.replaceAll(old, () => next),
  "string.replace(string, string, int): string": replaceSome,
  "string.format(list): string": formatted,
  "StringsNamespace.quote(string): string": (_: unknown, text: string) => goQuoted(text),
};

/** Texts, and what is found in them. */
export function registerTexts(environment: Environment): void {
  registerNamespace(environment, "strings", "StringsNamespace");
  register(environment, functions);
}

function findAll(text: string, pattern: string): string[] {
  const { source, flags } = regexOf(pattern);
  return [...text.matchAll(new RegExp(source, `${flags}g`))].map(([found]) => found);
}

function charAt(text: string, index: bigint): string {
  const characters = [...text];
  if (index < 0n || index > BigInt(characters.length)) {
    throw new Error(`index out of range: ${index}`);
  }
  return characters[Number(index)] ?? "";
}

function replaceSome(text: string, old: string, next: string, most: bigint): string {
  if (most < 0n) return text.replaceAll(old, () => next);
  let left = Number(most);
  return text.replaceAll(old, (found) => {
    if (left === 0) return found;
    left -= 1;
    return next;
  });
}

function formatted(template: string, values: unknown[]): string {
  let at = 0;
  const out = template.replace(
    /%(?:%|(\.\d+)?([a-zA-Z]))/g,
    (whole, precision?: string, verb?: string) => {
      if (verb === undefined) return whole === "%%" ? "%" : whole;
      if (at >= values.length) throw new Error(`index ${at} out of range`);
      const value = values[at];
      at += 1;
      return clause(value, verb, precision === undefined ? undefined : Number(precision.slice(1)));
    },
  );
  return out;
}

function clause(value: unknown, verb: string, precision: number | undefined): string {
  switch (verb) {
    case "s":
      return textOf(value);
    case "d":
      if (typeof value === "bigint") return value.toString();
      throw new Error("error during formatting: decimal clause can only be used on integers");
    case "f":
      return fixed(Number(value), precision ?? 6);
    case "e": {
      const [mantissa = "", power = ""] = Number(value)
        .toExponential(precision ?? 6)
        .split("e");
      return `${mantissa}e${power[0]}${power.slice(1).padStart(2, "0")}`;
    }
    case "x":
    case "X": {
      const text = hex(value);
      return verb === "X" ? text.toUpperCase() : text;
    }
    case "o":
      return (value as bigint).toString(8);
    case "b":
      return typeof value === "boolean" ? (value ? "1" : "0") : (value as bigint).toString(2);
    default:
      throw new Error(`error during formatting: unrecognized formatting clause "${verb}"`);
  }
}

/** With a number of digits behind the point: halves go to the even side, where JavaScript takes them up. */
function fixed(value: number, digits: number): string {
  const exact = Math.abs(value).toFixed(Math.min(100, digits + 60));
  const cut = exact.length - Math.min(100, digits + 60) + digits;
  const isHalf = /^50*$/.test(exact.slice(cut));
  const down = exact.slice(0, digits === 0 ? cut - 1 : cut);
  if (!isHalf || !/[02468]\.?$/.test(down)) return value.toFixed(digits);
  return value < 0 ? `-${down}` : down;
}

function hex(value: unknown): string {
  if (typeof value === "bigint") return value.toString(16);
  return Buffer.from(value as string | Uint8Array).toString("hex");
}

/** A value as `%s` writes it. */
export function textOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `[${value.map(textOf).join(", ")}]`;
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (value instanceof Date) return value.toISOString().replace(/\.?0*Z$/, "Z");
  if (value instanceof Map && !(value instanceof ObjectValue)) {
    const entries = [...value].map(([key, one]) => `${textOf(key)}: ${textOf(one)}`);
    return `{${entries.sort().join(", ")}}`;
  }
  return String(value);
}
