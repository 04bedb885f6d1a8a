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

/**
 * The items of both lists. Those that were applied come in the order in which they were; those of the live list alone
 * stay behind the neighbour that they had.
 */
function mergeItems(type: ListType, live: unknown[], applied: unknown[]): unknown[] {
  const old = elementsOf(type, live);
  const now = elementsOf(type, applied);
  const shared = now.order.filter((element) => old.items.has(element));
  const done = new Set<string | undefined>();
  const merged: unknown[] = [];
  let left = 0;
  let right = 0;
  while (left < live.length || right < applied.length) {
    const mine = old.order[left];
    const theirs = now.order[right];
    const both = left < live.length && right < applied.length;
    const meet = both && mine === theirs;
    const isShared = left < live.length && now.items.has(mine);
    if (both && !meet && isShared && shared.length > 0 && shared[0] !== mine) {
      // Applied too, but not next: it comes when its turn is.
      left++;
      continue;
    }
    if (left < live.length && !isShared) {
      merged.push(mergeApplied(type.item, live[left], undefined));
      left++;
      continue;
    }
    if (left < live.length && !meet && done.has(mine)) left++;
    if (right >= applied.length) continue;
    merged.push(mergeApplied(type.item, old.items.get(theirs), now.items.get(theirs)));
    done.add(theirs);
    right++;
    if (meet) left++;
    if (meet || shared[0] === theirs) shared.shift();
  }
  return merged;
}

/** The items of a list by their place in it; of several for one place none, because they are not merged. */
function elementsOf(type: ListType, list: unknown[]) {
  const order = list.map((item) => itemElement(type, item));
  const items = new Map<string | undefined, unknown>();
  for (const [index, element] of order.entries()) {
    items.set(element, items.has(element) ? null : list[index]);
  }
  return { order, items };
}
