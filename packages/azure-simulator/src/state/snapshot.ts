import type { Json, JsonObject, Resource, Store } from "./store.ts";

/** A resource in a snapshot: all that is kept of it but what changes with every write. */
export interface Shot {
  type: string;
  state: string;
  top: JsonObject;
  properties: JsonObject;
}

/** The world at a moment, by id. */
export interface Snapshot {
  at: string;
  resources: Record<string, Shot>;
}

/** A value that differs between two snapshots. Absent is absent. */
export interface Change {
  /** Where in the resource, such as `properties.subnets[0].name`. */
  path: string;
  from?: Json | undefined;
  to?: Json | undefined;
}

/** What differs between two snapshots. */
export interface Difference {
  added: string[];
  removed: string[];
  changed: { id: string; changes: Change[] }[];
}

/** Take a snapshot. It shares nothing with the world. */
export function snapshotOf(store: Store, now: number): Snapshot {
  const resources: Record<string, Shot> = {};
  for (const each of [...store.all()].sort(byKey))
    resources[each.id] = structuredClone({
      type: each.type,
      state: each.state,
      top: each.top,
      properties: each.properties,
    });
  return { at: new Date(now).toISOString(), resources };
}

/** Say what differs between two snapshots. Ids are compared without case. */
export function difference(from: Snapshot, to: Snapshot): Difference {
  const before = byLowerId(from);
  const after = byLowerId(to);
  const made: Difference = { added: [], removed: [], changed: [] };
  for (const [key, [id, shot]] of after) {
    const old = before.get(key);
    if (!old) {
      made.added.push(id);
      continue;
    }
    const changes: Change[] = [];
    compare(old[1] as unknown as JsonObject, shot as unknown as JsonObject, "", changes);
    if (changes.length > 0) made.changed.push({ id, changes });
  }
  for (const [key, [id]] of before) if (!after.has(key)) made.removed.push(id);
  return made;
}

function byKey(a: Resource, b: Resource): number {
  return a.key < b.key ? -1 : 1;
}

function byLowerId({ resources }: Snapshot): Map<string, [string, Shot]> {
  return new Map(Object.entries(resources).map((each) => [each[0].toLowerCase(), each]));
}

function compare(
  from: Json | undefined,
  to: Json | undefined,
  path: string,
  changes: Change[],
): void {
  if (from === to) return;
  if (Array.isArray(from) && Array.isArray(to)) {
    for (let i = 0; i < Math.max(from.length, to.length); i++)
      compare(from[i], to[i], `${path}[${i}]`, changes);
    return;
  }
  if (isPlain(from) && isPlain(to)) {
    for (const name of new Set([...Object.keys(from), ...Object.keys(to)]))
      compare(from[name], to[name], path === "" ? name : `${path}.${name}`, changes);
    return;
  }
  changes.push({
    path,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  });
}

function isPlain(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
