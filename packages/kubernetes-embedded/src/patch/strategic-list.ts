import { goValue } from "./go-text.ts";
import { isMap, Unpatchable, unexplained } from "./refusal.ts";

/** How the items of a list are told apart and merged. */
export interface ItemRules {
  /** The field that tells items apart; without it, items are their own keys. */
  key: string | undefined;
  merge(old: Record<string, unknown>, patch: Record<string, unknown>): Record<string, unknown>;
}

type Item = Record<string, unknown>;

/** A list after a patch that names only the items that change. */
export function mergeList(rules: ItemRules, old: unknown[], patch: unknown[]): unknown[] {
  if (old.length === 0 && patch.length === 0) return old;
  if (!areMaps(old, patch)) {
    return ordered(rules, [...new Set([...old, ...patch])], patch, old);
  }
  if (rules.key === undefined)
    throw new Unpatchable(unexplained("cannot merge lists without merge key"));
  const { kept, changes, replaced } = withoutDirectives(rules, old as Item[], patch as Item[]);
  if (replaced) return changes;
  return ordered(rules, mergedItems(rules, kept, changes), changes, kept);
}

/** Items in the order that was asked for; those that it does not name stay where they were among the old ones. */
export function ordered(
  rules: ItemRules,
  items: unknown[],
  order: unknown[],
  old: unknown[],
): unknown[] {
  const key = keyOf(rules);
  const places = placesOf(order.map(key));
  const before = placesOf(old.map(key));
  const byPlace = (where: Map<unknown, number>) => (a: unknown, b: unknown) =>
    (where.get(key(a)) ?? 0) - (where.get(key(b)) ?? 0);
  const named = items.filter((item) => places.has(key(item))).sort(byPlace(places));
  const others = items.filter((item) => !places.has(key(item))).sort(byPlace(before));
  const result: unknown[] = [];
  while (named.length > 0 && others.length > 0) {
    const [mine, theirs] = [before.get(key(others[0])), before.get(key(named[0]))];
    const earlier = mine !== undefined && theirs !== undefined && mine < theirs;
    result.push((earlier ? others : named).shift());
  }
  return [...result, ...named, ...others];
}

/** Refuses an order that does not fit the items that the same patch sends. */
export function checkOrder(rules: ItemRules, patch: unknown[], order: unknown[]): void {
  if (patch.length === 0 || order.length === 0) return;
  const key = keyOf(rules);
  const sent = patch.filter((item) => !(isMap(item) && "$patch" in item));
  let next = 0;
  for (const item of order) if (next < sent.length && key(sent[next]) === key(item)) next++;
  if (next < sent.length) {
    const message = `The order in patch list:\n${goValue(patch)}\n doesn't match $setElementOrder list:\n${goValue(order)}\n`;
    throw new Unpatchable(unexplained(message));
  }
}

function placesOf(keys: unknown[]): Map<unknown, number> {
  return new Map(keys.map((key, index) => [key, index] as const).toReversed());
}

function keyOf({ key }: ItemRules): (item: unknown) => unknown {
  if (key === undefined) return (item) => item;
  return (item) => {
    const value = isMap(item) ? item[key] : undefined;
    if (value === undefined) throw new Unpatchable(unexplained(missingKey(item, key)));
    return value;
  };
}

function missingKey(item: unknown, key: string): string {
  return `map: ${goValue(item)} does not contain declared merge key: ${key}`;
}

function areMaps(...lists: unknown[][]): boolean {
  const items = lists.flat();
  // A list in a list cannot be told from another.
  if (items.some(Array.isArray)) {
    const message = "the server rejected our request due to an error in our request";
    throw new Unpatchable({ code: 422, reason: "Invalid", message });
  }
  return items.some(isMap);
}

/** Carries `$patch: delete` and `$patch: replace` out. */
function withoutDirectives(
  rules: ItemRules,
  old: Item[],
  patch: Item[],
): { kept: Item[]; changes: Item[]; replaced: boolean } {
  const key = keyOf(rules);
  let kept = old;
  let replaced = false;
  const changes: Item[] = [];
  for (const item of patch) {
    if (!("$patch" in item)) changes.push(item);
    else if (item.$patch === "delete") kept = kept.filter((one) => key(one) !== key(item));
    else if (item.$patch === "replace") replaced = true;
    else if (item.$patch === "merge") {
      throw new Unpatchable(unexplained("merging lists cannot yet be specified in the patch"));
    } else throw new Unpatchable(unexplained(unknownDirective(item)));
  }
  return { kept, changes, replaced };
}

/** What is said of a directive that does not exist. */
export function unknownDirective(map: Item): string {
  return `unknown patch type: ${goValue(map.$patch)} in map: ${goValue(map)}`;
}

function mergedItems(rules: ItemRules, old: Item[], changes: Item[]): Item[] {
  const key = keyOf(rules);
  const items = [...old];
  for (const change of changes) {
    const index = items.findIndex((item) => key(item) === key(change));
    const existing = items[index];
    if (existing) items[index] = rules.merge(existing, change);
    else items.push(change);
  }
  return items;
}
