import { hasNone, own } from "./compare.ts";
import {
  type FieldType,
  fieldType,
  itemElement,
  kindOf,
  type ListType,
  type MapType,
} from "./field-type.ts";
import { isMap } from "./refusal.ts";

/** A live value with what was applied laid over it. Nothing is removed; undefined is a value that is not there. */
export function mergeApplied(type: FieldType, live: unknown, applied: unknown): unknown {
  const kind = kindOf(type, applied === undefined ? live : applied);
  if (kind === "map") return mergeMap(type.map as MapType, live, applied);
  if (kind === "list") return mergeList(type.list as ListType, live, applied);
  return applied === undefined ? live : applied;
}

function mergeMap(type: MapType, live: unknown, applied: unknown): unknown {
  const old = isMap(live) ? live : {};
  const now = isMap(applied) ? applied : {};
  // Both empty: kept as it was said, because null and {} are not the same.
  if (type.atomic || (hasNone(old) && hasNone(now))) return applied === undefined ? live : applied;
  const merged: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
    const value = mergeApplied(fieldType(type, name), own(old, name), own(now, name));
    if (value !== undefined) merged[name] = value;
  }
  return hasNone(merged) ? undefined : merged;
}

function mergeList(type: ListType, live: unknown, applied: unknown): unknown {
  const old: unknown[] = Array.isArray(live) ? live : [];
  const now: unknown[] = Array.isArray(applied) ? applied : [];
  if (type.atomic || (old.length === 0 && now.length === 0)) {
    return applied === undefined ? live : applied;
  }
  return mergeItems(type, old, now);
}

/** Items of both lists in the order of what was applied; those of the live list alone stay between their neighbours. */
function mergeItems(type: ListType, live: unknown[], applied: unknown[]): unknown[] {
  const oldElements = live.map((item) => itemElement(type, item));
  const newElements = applied.map((item) => itemElement(type, item));
  const inApplied = new Set(newElements);
  const shared = newElements.filter((element) => oldElements.includes(element));
  const done = new Set<string | undefined>();
  const merged: unknown[] = [];
  const add = (value: unknown) => value !== undefined && merged.push(value);
  const liveItem = (element: string | undefined) =>
    // Duplicates are not merged with what replaces all of them.
    oldElements.indexOf(element) === oldElements.lastIndexOf(element)
      ? live[oldElements.indexOf(element)]
      : null;
  let [left, right] = [0, 0];
  while (left < live.length || right < applied.length) {
    const element = oldElements[left];
    const wanted = newElements[right];
    if (left < live.length && right < applied.length) {
      if (
        element !== wanted &&
        inApplied.has(element) &&
        shared.length > 0 &&
        shared[0] !== element
      ) {
        left++;
        continue;
      }
    }
    if (left < live.length && (right >= applied.length || element !== wanted)) {
      if (!inApplied.has(element)) {
        add(mergeApplied(type.item, live[left], undefined));
        left++;
        continue;
      }
      if (done.has(element)) left++;
    }
    if (right < applied.length) {
      const both = left < live.length && element === wanted;
      done.add(wanted);
      add(
        mergeApplied(
          type.item,
          oldElements.includes(wanted) ? liveItem(wanted) : undefined,
          applied[right],
        ),
      );
      right++;
      if (both) left++;
      if (both || shared[0] === wanted) shared.shift();
    }
  }
  return merged;
}
