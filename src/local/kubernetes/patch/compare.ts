import { fieldElement } from "./field-path.ts";
import { type FieldSet, insert } from "./field-set.ts";
import {
  type FieldType,
  fieldType,
  itemElement,
  kindOf,
  type ListType,
  type MapType,
} from "./field-type.ts";
import { isMap } from "./refusal.ts";

/** Which fields differ between two objects. */
export interface Changes {
  added: FieldSet;
  modified: FieldSet;
  removed: FieldSet;
}

/** Which fields differ between two values of a type; undefined is a value that is not there. */
export function compare(type: FieldType, before: unknown, after: unknown): Changes {
  const changes: Changes = { added: {}, modified: {}, removed: {} };
  compareValue(changes, [], type, before, after);
  return changes;
}

function compareValue(
  changes: Changes,
  path: string[],
  type: FieldType,
  before: unknown,
  after: unknown,
): void {
  if (before === after) return;
  const kinds = new Set<ReturnType<typeof kindOf>>();
  if (before !== undefined) kinds.add(kindOf(type, before));
  if (after !== undefined) kinds.add(kindOf(type, after));
  let leaf = false;
  for (const kind of kinds) {
    // Where a value changes from one kind to another, what it is after decides whether it was a leaf.
    if (kind === "map") leaf = compareMap(changes, path, type.map as MapType, before, after);
    else if (kind === "list")
      leaf = compareList(changes, path, type.list as ListType, before, after);
    else leaf = compareLeaf(changes, path, before, after);
  }
  if (leaf) return;
  if (before === undefined) insert(changes.added, path);
  else if (after === undefined) insert(changes.removed, path);
}

function compareLeaf(changes: Changes, path: string[], before: unknown, after: unknown): true {
  if (before === undefined) insert(changes.added, path);
  else if (after === undefined) insert(changes.removed, path);
  else if (!same(before, after)) insert(changes.modified, path);
  return true;
}

const nothing: Record<string, unknown> = {};

function compareMap(
  changes: Changes,
  path: string[],
  type: MapType,
  before: unknown,
  after: unknown,
): boolean {
  const old = isMap(before) ? before : nothing;
  const now = isMap(after) ? after : nothing;
  if (type.atomic || (hasNone(old) && hasNone(now)))
    return compareLeaf(changes, path, before, after);
  for (const name in old) {
    path.push(fieldElement(name));
    compareValue(changes, path, fieldType(type, name), old[name], own(now, name));
    path.pop();
  }
  for (const name in now) {
    if (Object.hasOwn(old, name)) continue;
    path.push(fieldElement(name));
    compareValue(changes, path, fieldType(type, name), undefined, now[name]);
    path.pop();
  }
  return false;
}

/** A field of a map; never one that all objects inherit. */
export function own(map: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

/** Whether a map is empty. */
export function hasNone(map: Record<string, unknown>): boolean {
  for (const _ in map) return false;
  return true;
}

function compareList(
  changes: Changes,
  path: string[],
  type: ListType,
  before: unknown,
  after: unknown,
): boolean {
  const old = Array.isArray(before) ? before : [];
  const now = Array.isArray(after) ? after : [];
  if (type.atomic || (old.length === 0 && now.length === 0)) {
    return compareLeaf(changes, path, before, after);
  }
  const oldItems = itemsByElement(type, old);
  const nowItems = itemsByElement(type, now);
  for (const element of new Set([...oldItems.keys(), ...nowItems.keys()])) {
    path.push(element);
    compareItems(
      changes,
      path,
      type.item,
      oldItems.get(element) ?? [],
      nowItems.get(element) ?? [],
    );
    path.pop();
  }
  return false;
}

/** The items of a list by their place in it. A list that was not applied may hold several for one. */
function itemsByElement(type: ListType, list: unknown[]): Map<string, unknown[]> {
  const items = new Map<string, unknown[]>();
  for (const item of list) {
    const element = itemElement(type, item);
    if (element === undefined) continue;
    const alike = items.get(element);
    if (alike) alike.push(item);
    else items.set(element, [item]);
  }
  return items;
}

/** Duplicates count as one value that is owned as a whole. */
function compareItems(
  changes: Changes,
  path: string[],
  type: FieldType,
  before: unknown[],
  after: unknown[],
): void {
  if (before.length <= 1 && after.length <= 1) {
    compareValue(changes, path, type, before[0], after[0]);
  } else if (before.length > 1 && after.length > 1) {
    if (!same(before, after)) insert(changes.modified, path);
  } else if (before.length > 1) {
    if (after.length > 0) compareValue(changes, path, type, undefined, after[0]);
    insert(changes.removed, path);
  } else {
    if (before.length > 0) compareValue(changes, path, type, before[0], undefined);
    insert(changes.added, path);
  }
}

/** Whether two JSON values are equal. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) && a.length === b.length && a.every((item, index) => same(item, b[index]))
    );
  }
  if (!isMap(a) || !isMap(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && same(a[name], b[name]))
  );
}
