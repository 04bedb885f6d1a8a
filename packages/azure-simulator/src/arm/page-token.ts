import type { Resource } from "../state/store.ts";
import { Refusal } from "./refusal.ts";
import type { Listed } from "./resource-type.ts";

/**
 * Where a list goes on: behind the last one that was given, by its id and its place in the count of all resources.
 * A number of entries to pass over would leave one out whenever another is deleted between two pages.
 */
export function pageToken(last: Resource | Listed | undefined): string {
  return Buffer.from(JSON.stringify([sequenceOf(last), idOf(last)])).toString("base64url");
}

/** The first entry of the page that a token asks for. */
export function pageStart(found: readonly (Resource | Listed)[], token: string | null): number {
  if (token === null) return 0;
  const [sequence, id] = read(token);
  const last = found.findIndex((each) => idOf(each) === id);
  if (last >= 0) return last + 1;
  // The last one is gone. Lists are in the order of the count, but for those that are sorted by their names.
  const counted = found.every((each, i) => i === 0 || sequenceOf(found[i - 1]) <= sequenceOf(each));
  const next = found.findIndex((each) => (counted ? sequenceOf(each) > sequence : idOf(each) > id));
  return next < 0 ? found.length : next;
}

function read(token: string): [number, string] {
  try {
    const value: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    if (Array.isArray(value) && typeof value[0] === "number" && typeof value[1] === "string")
      return [value[0], value[1]];
  } catch {
    // Not one of ours: refused below.
  }
  throw new Refusal(400, "InvalidSkipToken", "The skip token is not one that was given out.", {
    by: "gateway",
  });
}

function sequenceOf(entry: Resource | Listed | undefined): number {
  return entry !== undefined && "sequence" in entry ? (entry.sequence ?? 0) : 0;
}

function idOf(entry: Resource | Listed | undefined): string {
  if (entry === undefined) return "";
  return "shown" in entry ? String(entry.shown.id ?? "") : entry.key;
}
