import { fieldElement } from "./field-path.ts";
import { type FieldSet, graft, insert } from "./field-set.ts";
import {
  type FieldType,
  fieldType,
  itemElement,
  type Kind,
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
  if (before === undefined) {
    graft(changes.added, path, allFields(type, after));
    return;
  }
  if (after === undefined) {
    graft(changes.removed, path, allFields(type, before));
    return;
  }
  const [was, is] = [kindOf(type, before), kindOf(type, after)];
  compareAs(was, changes, path, type, before, after);
  if (is !== was) compareAs(is, changes, path, type, before, after);
}

function compareAs(
  kind: Kind,
  changes: Changes,
  path: string[],
  type: FieldType,
  before: unknown,
  after: unknown,
): void {
  if (kind === "map") compareMap(changes, path, type.map as MapType, before, after);
  else if (kind === "list") compareList(changes, path, type.list as ListType, before, after);
  else compareLeaf(changes, path, before, after);
}

function compareLeaf(changes: Changes, path: string[], before: unknown, after: unknown): void {
  if (!same(before, after)) insert(changes.modified, path);
}

const nothing: Record<string, unknown> = {};

function compareMap(
  changes: Changes,
  path: string[],
  type: MapType,
  before: unknown,
  after: unknown,
): void {
  const old = isMap(before) ? before : nothing;
  const now = isMap(after) ? after : nothing;
  if (type.atomic || (hasNone(old) && hasNone(now))) {
    compareLeaf(changes, path, before, after);
    return;
  }
  for (const name in old) {
    const value = own(now, name);
    if (value === old[name]) continue;
    path.push(fieldElement(name));
    compareValue(changes, path, fieldType(type, name), old[name], value);
    path.pop();
  }
  for (const name in now) {
    if (Object.hasOwn(old, name)) continue;
    path.push(fieldElement(name));
    compareValue(changes, path, fieldType(type, name), undefined, now[name]);
    path.pop();
  }
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
): void {
  const old = Array.isArray(before) ? before : [];
  const now = Array.isArray(after) ? after : [];
  if (type.atomic || (old.length === 0 && now.length === 0)) {
    compareLeaf(changes, path, before, after);
    return;
  }
  if (same(old, now)) return;
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

/** All fields of a value that is there on one side alone: what it holds, and itself. */
function allFields(type: FieldType, value: unknown): FieldSet {
  const kind = kindOf(type, value);
  if (kind === "map" && isMap(value) && !type.map?.atomic)
    return allOfMap(type.map as MapType, value);
  if (kind === "list" && Array.isArray(value) && !type.list?.atomic) {
    return allOfList(type.list as ListType, value);
  }
  return {};
}

function allOfMap(type: MapType, value: Record<string, unknown>): FieldSet {
  if (hasNone(value)) return {};
  const node: FieldSet = { ".": {} };
  for (const name in value)
    node[fieldElement(name)] = allFields(fieldType(type, name), value[name]);
  return node;
}

function allOfList(type: ListType, value: unknown[]): FieldSet {
  if (value.length === 0) return {};
  const node: FieldSet = { ".": {} };
  for (const item of value) {
    const element = itemElement(type, item);
    if (element === undefined) continue;
    node[element] = element in node ? {} : allFields(type.item, item);
  }
  return node;
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
  let count = 0;
  for (const name in a) {
    if (!Object.hasOwn(b, name) || !same(a[name], b[name])) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
}
