import type { Cause } from "../resource.ts";
import { isFields } from "./plain.ts";

/** Stands for a value that a message leaves out. */
export const omitted = Symbol("omitted");

/** How a message calls a field when there is none to name. */
export const noField = "<nil>";

/** A value that is refused: what was given, and why. */
export function invalid(field: string, value: unknown, detail: string): Cause {
  return cause("FieldValueInvalid", field, withValue("Invalid value", value), detail);
}

/** A value of the wrong type. */
export function wrongType(field: string, value: unknown, detail: string): Cause {
  return cause("FieldValueTypeInvalid", field, withValue("Invalid value", value), detail);
}

/** A field that is missing. */
export function required(field: string, detail = ""): Cause {
  return cause("FieldValueRequired", field, "Required value", detail);
}

/** A field that may not be set, or not so. */
export function forbidden(field: string, detail: string): Cause {
  return cause("FieldValueForbidden", field, "Forbidden", detail);
}

/** A value that is there twice. */
export function duplicate(field: string, value: unknown): Cause {
  return cause("FieldValueDuplicate", field, withValue("Duplicate value", value), "");
}

/** A value that is none of a few. */
export function unsupported(field: string, value: unknown, supported: readonly unknown[]): Cause {
  const words = supported.map((one) => goQuoted(typeof one === "string" ? one : goJson(one)));
  const detail = words.length === 0 ? "" : `supported values: ${words.join(", ")}`;
  return cause("FieldValueNotSupported", field, withValue("Unsupported value", value), detail);
}

/** A text that is longer than it may be. Kubernetes says bytes and counts characters. */
export function tooLong(field: string, most: number): Cause {
  const unit = most === 1 ? "byte" : "bytes";
  return cause("FieldValueTooLong", field, "Too long", `may not be more than ${most} ${unit}`);
}

/** A list or a map with more in it than it may have. */
export function tooMany(field: string, count: number, most: number): Cause {
  const unit = most === 1 ? "item" : "items";
  return cause(
    "FieldValueTooMany",
    field,
    `Too many: ${count}`,
    `must have at most ${most} ${unit}`,
  );
}

function cause(reason: Cause["reason"], field: string, body: string, detail: string): Cause {
  return { reason, field, message: detail === "" ? body : `${body}: ${detail}` };
}

function withValue(body: string, value: unknown): string {
  return value === omitted ? body : `${body}: ${shown(value)}`;
}

function shown(value: unknown): string {
  if (typeof value === "string") return goQuoted(value);
  if (typeof value === "number") return goNumber(value);
  return goJson(value);
}

/** A text in quotes, as Go's `%q` writes it. */
export function goQuoted(text: string): string {
  let out = "";
  for (const character of text) out += escapes[character] ?? printable(character);
  return `"${out}"`;
}

const escapes: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  '"': '\\"',
  "\\": "\\\\",
};

function printable(character: string): string {
  if (character === " " || /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, "0")}`;
  return `\\U${code.toString(16).padStart(8, "0")}`;
}

/** A number as Go's `%v` writes it: a fraction or a huge one with an exponent, an integer with all its digits. */
export function goNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return BigInt(value).toString();
  return goFloat(value);
}

/** A floating-point number as Go's `%v` writes it, whether it is whole or not. */
export function goFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  const [mantissa = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 6) return value.toString();
  const sign = power < 0 ? "-" : "+";
  return `${mantissa}e${sign}${Math.abs(power).toString().padStart(2, "0")}`;
}

/** JSON as Go writes it: names in order, and nothing in it that HTML would read as a tag. */
export function goJson(value: unknown): string {
  const text = JSON.stringify(sorted(value)) ?? "null";
  return text.replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isFields(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}
