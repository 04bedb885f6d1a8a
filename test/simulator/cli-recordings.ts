import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json, JsonObject } from "@postern/azure-simulator/state/store.ts";

/** One request of the Azure CLI's own tests, and what Azure answered. */
export interface CliInteraction {
  method: string;
  /** Path and query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body: Json;
  status: number;
  answerHeaders: Readonly<Record<string, string>>;
  answer: Json;
}

/** The recorded run of one test. */
export interface CliRecording {
  name: string;
  interactions: readonly CliInteraction[];
  /** The resource groups of the run, in lower case. */
  groups: ReadonlySet<string>;
}

/** Every recording in a folder. */
export function readCliRecordings(folder: string): CliRecording[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  return files.sort().map((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    const interactions = JSON.parse(text) as CliInteraction[];
    const groups = interactions.flatMap(
      ({ path }) => /\/resourcegroups\/([^/?]+)/i.exec(path)?.[1]?.toLowerCase() ?? [],
    );
    return { name: file.replace(/^test_|\.json$/g, ""), interactions, groups: new Set(groups) };
  });
}

/** Whether a request asks how far an operation is. How often that is done depends on the day. */
export function isPoll({ method, path }: CliInteraction): boolean {
  const [plain = ""] = path.split("?");
  return (
    method === "GET" && /\/(\w*operations|\w*operation(results|statuses))\/[^/]+$/i.test(plain)
  );
}

/** Resources that a recording reads before it writes any: they were there when it began. */
export function standing({ interactions }: CliRecording): { id: string; body: JsonObject }[] {
  const found = new Map<string, JsonObject>();
  const written = new Set<string>();
  for (const { method, path, status, answer, body } of interactions) {
    const key = (path.split("?")[0] ?? "").toLowerCase();
    const group = /^\/subscriptions\/[^/]+\/resourcegroups\/[^/]+/.exec(key)?.[0];
    if (method === "PUT") {
      written.add(key);
      const template = (body as { properties?: { template?: JsonObject } })?.properties?.template;
      for (const each of (template?.resources as { type: string; name: string }[] | undefined) ??
        [])
        written.add(`${group}/providers/${each.type}/${each.name}`.toLowerCase());
    }
    if (group !== undefined && !found.has(group) && !written.has(group))
      found.set(group, { location: placeOf(interactions, group) });
    const isOne = key.split("/").length === 9 || key === group;
    if (method !== "GET" || status !== 200 || !isOne || written.has(key)) continue;
    if (typeof answer !== "object" || answer === null || Array.isArray(answer)) continue;
    if (typeof answer.id !== "string" || (found.has(key) && key !== group)) continue;
    const { location, tags, sku, kind, properties } = answer;
    found.set(key, JSON.parse(JSON.stringify({ location, tags, sku, kind, properties })));
    if (key === group) delete found.get(key)?.properties;
  }
  return [...found].map(([id, body]) => ({ id, body }));
}

/** A group that is never read is where the first resource in it is. */
function placeOf(interactions: readonly CliInteraction[], group: string): string {
  for (const { path, body } of interactions) {
    if (!path.toLowerCase().startsWith(`${group}/`)) continue;
    const location = (body as JsonObject | null)?.location;
    if (typeof location === "string" && location !== "global") return location;
  }
  return "westus";
}
