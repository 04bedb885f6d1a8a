import { createHash } from "node:crypto";
import {
  type Alias,
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLMap,
} from "yaml";
import { type Entry, type Place, type Seed, seedError } from "./seed-entry.ts";
import type { JsonObject } from "./store.ts";

type List = Exclude<keyof Seed, "digest">;

/** What an entry of each list may say; a resource may say all that Resource Manager takes. */
export const knownFields: Record<List, readonly string[] | undefined> = {
  tenants: ["id", "name"],
  subscriptions: ["id", "tenant", "name"],
  issuers: ["issuer", "keys"],
  applications: [
    "name",
    "tenant",
    "clientId",
    "objectId",
    "secret",
    "certificate",
    "federatedCredentials",
  ],
  roleAssignments: ["principal", "role", "scope"],
  resources: undefined,
};

/** Which of them every entry must have, as a text. */
export const neededFields: Record<List, readonly string[]> = {
  tenants: ["id"],
  subscriptions: ["id", "tenant"],
  issuers: ["issuer"],
  applications: ["name", "tenant"],
  roleAssignments: ["principal", "role", "scope"],
  resources: ["id"],
};

/** Read a seed. What is wrong is told with its line and column. */
export function readSeed(text: string, file: string): Seed {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const placeOf = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col };
  };
  const [error] = document.errors;
  if (error)
    throw seedError(
      placeOf(error.pos[0]),
      (error.message.split("\n")[0] ?? "").replace(/ at line \d+.*/, ""),
    );
  putInPlace(document, (alias, why) => seedError(placeOf(alias.range?.[0] ?? 0), why));
  const root = document.contents;
  if (root === null || (isScalar(root) && root.value === null))
    throw seedError(placeOf(0), "it is empty; an example is examples/simulator/world.yaml");
  return seedIn(root, text, (node) => placeOf((node as Node | null)?.range?.[0] ?? 0));
}

/** Put what an alias stands for in its place: a node by itself does not know what that is. */
export function putInPlace(
  document: Document.Parsed,
  mistake: (alias: Alias, why: string) => Error,
): void {
  visit(document, {
    Alias(_key, alias, path) {
      const meant = alias.resolve(document);
      const { source } = alias;
      if (meant === undefined)
        throw mistake(alias, `*${source} stands for nothing: no &${source} comes before it`);
      if (path.some((each) => each === meant))
        throw mistake(alias, `*${source} is a part of what it stands for`);
      return meant;
    },
  });
}

/** Read the seed that a part of a file is; `text` tells it from others, and `at` says where a part of it stands. */
export function seedIn(root: unknown, text: string, at: (node: unknown) => Place): Seed {
  const seed: Seed = {
    digest: createHash("sha256").update(text).digest("base64url"),
    tenants: [],
    subscriptions: [],
    issuers: [],
    applications: [],
    roleAssignments: [],
    resources: [],
  };
  if (!isMap(root)) throw seedError(at(root), "a seed is a map of lists");
  for (const { key, value } of root.items) {
    const list = isScalar(key) ? String(key.value) : "";
    if (!Object.hasOwn(knownFields, list))
      throw seedError(
        at(key),
        `'${list}' is not known; known are ${Object.keys(knownFields).join(", ")}`,
      );
    if (isScalar(value) && value.value === null) continue;
    if (!isSeq(value)) throw seedError(at(value), `'${list}' must be a list`);
    value.items.forEach((item, index) => {
      const name = `${list}[${index}]`;
      if (!isMap(item)) throw seedError(at(item), `${name} must be a map`);
      seed[list as List].push(entryOf(item, name, list as List, at));
    });
  }
  return seed;
}

function entryOf(item: YAMLMap, name: string, list: List, at: (node: unknown) => Place): Entry {
  const fields = knownFields[list];
  for (const { key } of item.items) {
    const field = isScalar(key) ? String(key.value) : "";
    if (fields && !fields.includes(field))
      throw seedError(
        at(key),
        `${name} has '${field}', which is not known; known are ${fields.join(", ")}`,
      );
  }
  const value = item.toJSON() as JsonObject;
  for (const field of neededFields[list])
    if (typeof value[field] !== "string" || value[field] === "")
      throw seedError(at(item), `${name} must have a text as its '${field}'`);
  return {
    name,
    value,
    at: (field) => at(field === undefined ? item : (item.get(field, true) ?? item)),
  };
}
