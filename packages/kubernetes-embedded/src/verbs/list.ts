import { badRequest, expired, tooLarge } from "../answers.ts";
import type { Answer, Call, List, World } from "../call.ts";
import { convertTo, storageCollection, type VersionedObject } from "../conversion.ts";
import { type ListOptions, listOptions } from "../options.ts";
import type { Resource } from "../resource.ts";
import { nameAskedFor, type Selector, selectorOf } from "../selectors.ts";
import type { Entry } from "../store.ts";

/** Objects of a resource, all of them or a page. */
export function list(call: Call, world: World): Answer {
  const { resource, query } = call;
  const options = listOptions(query, false);
  const selector = selectorOf(resource, query);
  const place = startOf(options, world);
  const entries = entriesFrom(call, world, place);
  return { code: 200, list: page(resource, entries, selector, options, place), resource };
}

/** From where a list goes on, and at which revision. */
interface Place {
  revision: number;
  /** The first key that may be in it. */
  from: string;
  /** False where the past is known no more and a client takes what there is now. */
  consistent: boolean;
}

function startOf(options: ListOptions, { store }: World): Place {
  const { continueFrom, resourceVersion = 0, match } = options;
  if (continueFrom !== "") {
    const token = readToken(continueFrom);
    const consistent = token.revision > 0;
    return { revision: consistent ? token.revision : store.revision, from: token.from, consistent };
  }
  if (resourceVersion > store.revision) throw tooLarge(resourceVersion, store.revision);
  // A page asked for at a revision is of that revision, unless any later one will do.
  const exact = match === "Exact" || (match === "" && options.limit > 0 && resourceVersion > 0);
  return { revision: exact ? resourceVersion : store.revision, from: "", consistent: true };
}

function entriesFrom(call: Call, { store }: World, place: Place): Entry[] {
  const { namespace, query } = call;
  const collection = storageCollection(call.resource);
  const name = nameAskedFor(query);
  const now = place.revision === store.revision;
  if (now && name !== undefined && (namespace !== undefined || !call.resource.namespaced)) {
    const entry = store.get(collection, namespace === undefined ? name : `${namespace}/${name}`);
    return entry && entry.key >= place.from ? [entry] : [];
  }
  const found = store.listAt(collection, place.revision, namespace, place.from);
  if (!found) throw tooOld(place);
  return found;
}

function tooOld(place: Place): Error {
  if (place.from === "") return expired("The resourceVersion for the provided list is too old.");
  const error = expired(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
  );
  Object.assign(error.status.metadata, { continue: makeToken(-1, place.from) });
  return error;
}

function page(
  resource: Resource,
  entries: readonly Entry[],
  selector: Selector | undefined,
  { limit }: ListOptions,
  place: Place,
): List {
  const items: VersionedObject[] = [];
  const resourceVersion = String(place.revision);
  for (const [i, entry] of entries.entries()) {
    if (limit > 0 && items.length === limit) {
      const from = makeToken(place.consistent ? place.revision : -1, entry.key);
      // How many of the rest a selector picks is not known.
      const remaining = selector ? {} : { remainingItemCount: entries.length - i };
      return { items, resourceVersion, continue: from, ...remaining };
    }
    const seen = convertTo(resource, entry);
    if (!selector || selector(seen.object)) items.push(seen);
  }
  return { items, resourceVersion };
}

function makeToken(revision: number, from: string): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start: from })).toString(
    "base64url",
  );
}

function readToken(token: string): { revision: number; from: string } {
  try {
    const { v, rv, start } = JSON.parse(Buffer.from(token, "base64url").toString());
    if (v === "meta.k8s.io/v1" && Number.isInteger(rv) && typeof start === "string")
      return { revision: rv, from: start };
  } catch {
    // Told below.
  }
  throw badRequest("invalid continue token: continue key is not valid");
}
