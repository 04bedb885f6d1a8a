import type { Json, JsonObject } from "../state/store.ts";
import { Refusal } from "./refusal.ts";

/** Reading fields of a body as Azure's parser does: what has the wrong type is refused with its path. */

/** A text, or the default where there is none. */
export function text<D extends string | undefined>(
  from: JsonObject,
  name: string,
  otherwise: D,
): string | D {
  const value = from[name];
  if (value === undefined || value === null) return otherwise;
  if (typeof value === "string") return value;
  throw wrongType(name, "a string");
}

/** One of a few words, in the spelling given here whatever case it came in. */
export function oneOf<W extends string, D extends W | undefined>(
  from: JsonObject,
  name: string,
  words: readonly W[],
  otherwise: D,
): W | D {
  const value = text(from, name, undefined);
  if (value === undefined) return otherwise;
  const found = words.find((word) => word.toLowerCase() === value.toLowerCase());
  if (found !== undefined) return found;
  throw invalid(
    "InvalidRequestFormat",
    "Cannot parse the request.",
    "InvalidJson",
    `The value '${value.slice(0, 60)}' of '${name}' is not one of ${words.join(", ")}.`,
  );
}

/** A whole number. */
export function number<D extends number | undefined>(
  from: JsonObject,
  name: string,
  otherwise: D,
): number | D {
  const value = from[name];
  if (value === undefined || value === null) return otherwise;
  if (typeof value === "number" && Number.isInteger(value)) return value;
  throw wrongType(name, "a whole number");
}

export function flag<D extends boolean | undefined>(
  from: JsonObject,
  name: string,
  otherwise: D,
): boolean | D {
  const value = from[name];
  if (value === undefined || value === null) return otherwise;
  if (typeof value === "boolean") return value;
  throw wrongType(name, "true or false");
}

/** An object, or undefined. */
export function object(from: JsonObject, name: string): JsonObject | undefined {
  const value = from[name];
  if (value === undefined || value === null) return undefined;
  if (isObject(value)) return value;
  throw wrongType(name, "an object");
}

/** A list of objects; empty where there is none. */
export function objects(from: JsonObject, name: string): JsonObject[] {
  const value = list(from, name);
  return value.map((each) => {
    if (isObject(each)) return each;
    throw wrongType(name, "a list of objects");
  });
}

/** A list of texts; empty where there is none. */
export function texts(from: JsonObject, name: string): string[] {
  return list(from, name).map((each) => {
    if (typeof each === "string") return each;
    throw wrongType(name, "a list of strings");
  });
}

/** The id in a reference `{ id }`, whatever else was sent with it. */
export function reference(from: JsonObject, name: string): string | undefined {
  const value = object(from, name);
  if (value === undefined) return undefined;
  const id = text(value, "id", undefined);
  if (
    id === undefined ||
    !/^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/[^/]+(\/[^/]+\/[^/]+)+$/i.test(id)
  )
    // The code is that of Azure/azure-quickstart-templates#2080.
    throw invalid(
      "InvalidRequestFormat",
      "Cannot parse the request.",
      "InvalidJsonReferenceFormat",
      `Reference Id ${String(id).slice(0, 300)} is not formatted correctly. Path ${name}.`,
    );
  return id;
}

/** The tags of a body, each a text. */
export function tags(body: JsonObject): JsonObject {
  const given = object(body, "tags");
  if (given === undefined) return {};
  for (const name in given)
    if (typeof given[name] !== "string") throw wrongType(`tags.${name}`, "a string");
  return { tags: given };
}

/** The same, and the edge zone that a network resource is in. */
export function tagsAndZone(body: JsonObject): JsonObject {
  return { ...tags(body), extendedLocation: object(body, "extendedLocation") };
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A refusal with one line under it. */
export function invalid(
  code: string,
  message: string,
  detailCode: string,
  detail: string,
): Refusal {
  return new Refusal(400, code, message, { details: [{ code: detailCode, message: detail }] });
}

/** The same object without the fields that are undefined. */
export function defined(from: JsonObject): JsonObject {
  const made: JsonObject = {};
  for (const name in from) if (from[name] !== undefined) made[name] = from[name];
  return made;
}

function list(from: JsonObject, name: string): Json[] {
  const value = from[name];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw wrongType(name, "a list");
}

function wrongType(name: string, wanted: string): Refusal {
  return invalid(
    "InvalidRequestFormat",
    "Cannot parse the request.",
    "InvalidJson",
    `'${name}' must be ${wanted}.`,
  );
}
