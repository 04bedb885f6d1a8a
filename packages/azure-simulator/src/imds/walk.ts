import { isObject } from "../arm/fields.ts";
import type { Json, JsonObject } from "../state/store.ts";
import { type ImdsAnswer, refused } from "./answer.ts";

/** Go down a document by the words of a path, and show what is there as JSON or as text. */
export function walk(
  document: JsonObject,
  words: readonly string[],
  format: string | null,
): ImdsAnswer {
  let at: Json | undefined = document;
  for (const word of words) {
    at = childOf(at, word);
    if (at === undefined) throw refused(404, "Not found");
  }
  const leaf = typeof at !== "object" || at === null;
  switch (format?.toLowerCase() ?? "json") {
    case "json":
      // A text alone is no JSON document to this service.
      if (leaf) throw refused(400, "Bad request. A leaf is shown with format=text only");
      return { status: 200, body: at };
    case "text":
      return { status: 200, body: leaf ? String(at) : childrenOf(at).join("\n") };
    default:
      throw refused(400, "Bad request. format must be json or text");
  }
}

function childOf(value: Json | undefined, word: string): Json | undefined {
  if (Array.isArray(value)) return /^\d{1,6}$/.test(word) ? value[Number(word)] : undefined;
  if (!isObject(value)) return undefined;
  const name = Object.keys(value).find((each) => each.toLowerCase() === word);
  return name === undefined ? undefined : value[name];
}

/** As a directory is listed: what has children ends with a slash. */
function childrenOf(value: Json): string[] {
  if (Array.isArray(value)) return value.map((each, i) => nameOf(String(i), each));
  return isObject(value) ? Object.entries(value).map(([name, each]) => nameOf(name, each)) : [];
}

function nameOf(name: string, value: Json | undefined): string {
  return typeof value === "object" && value !== null ? `${name}/` : name;
}
