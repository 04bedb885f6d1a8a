import type { Environment } from "@marcbachmann/cel-js";
import { equalValues } from "../values.ts";
import { type Functions, register, registerNamespace } from "./register.ts";

/** What has an order: numbers, texts, times. */
export function compareValues(one: unknown, other: unknown): number {
  const [a, b] = [one as number, other as number];
  if (a < b) return -1;
  return a > b ? 1 : 0;
}

const functions: Functions = {
  "list.isSorted(): bool": (list: unknown[]) =>
    list.every((item, index) => index === 0 || compareValues(list[index - 1], item) <= 0),
  "list<A>.sum(): A": sum,
  "list<A>.min(): A": (list: unknown[]) => extreme(list, "min", -1),
  "list<A>.max(): A": (list: unknown[]) => extreme(list, "max", 1),
  "list<A>.indexOf(A): int": (list: unknown[], item: unknown) =>
    BigInt(list.findIndex((one) => equalValues(one, item))),
  "list<A>.lastIndexOf(A): int": (list: unknown[], item: unknown) =>
    BigInt(list.findLastIndex((one) => equalValues(one, item))),
  "list<A>.slice(int, int): list<A>": slice,
  "list.flatten(): list<dyn>": (list: unknown[]) => list.flat(1),
  "list.flatten(int): list<dyn>": (list: unknown[], depth: bigint) => {
    if (depth < 0n) throw new Error("level must be non-negative");
    return list.flat(Number(depth));
  },
  "list<A>.distinct(): list<A>": (list: unknown[]) =>
    list.filter((item, index) => list.findIndex((one) => equalValues(one, item)) === index),
  "list<A>.reverse(): list<A>": (list: unknown[]) => list.toReversed(),
  "list<A>.sort(): list<A>": (list: unknown[]) => list.toSorted(compareValues),
  "ListsNamespace.range(int): list<int>": (_: unknown, count: bigint) =>
    Array.from({ length: Number(count) }, (__, index) => BigInt(index)),
  "SetsNamespace.contains(list, list): bool": (_: unknown, list: unknown[], part: unknown[]) =>
    holdsAll(list, part),
  "SetsNamespace.equivalent(list, list): bool": (_: unknown, one: unknown[], other: unknown[]) =>
    holdsAll(one, other) && holdsAll(other, one),
  "SetsNamespace.intersects(list, list): bool": (_: unknown, one: unknown[], other: unknown[]) =>
    one.some((item) => other.some((candidate) => equalValues(item, candidate))),
};

/** Lists, and lists as sets. */
export function registerLists(environment: Environment): void {
  registerNamespace(environment, "lists", "ListsNamespace");
  registerNamespace(environment, "sets", "SetsNamespace");
  register(environment, functions);
}

function holdsAll(list: unknown[], part: unknown[]): boolean {
  return part.every((item) => list.some((candidate) => equalValues(item, candidate)));
}

interface Addable {
  addDuration(other: unknown): unknown;
}

function sum(list: unknown[]): unknown {
  return list.length === 0 ? 0n : list.reduce(added);
}

function added(one: unknown, other: unknown): unknown {
  if (typeof one === "bigint" && typeof other === "bigint") return one + other;
  if (typeof one === "number" && typeof other === "number") return one + other;
  if (typeof one === "object" && one !== null && "addDuration" in one) {
    return (one as Addable).addDuration(other);
  }
  throw new Error("no such overload: sum(list)");
}

function extreme(list: unknown[], name: string, sign: number): unknown {
  if (list.length === 0) throw new Error(`${name} called on empty list`);
  return list.reduce((best, item) => (compareValues(item, best) * sign > 0 ? item : best));
}

function slice(list: unknown[], start: bigint, end: bigint): unknown[] {
  if (start < 0n || end < 0n) {
    throw new Error(`cannot slice(${start}, ${end}), negative indexes not supported`);
  }
  if (start > end) {
    throw new Error(
      `cannot slice(${start}, ${end}), start index must be less than or equal to end index`,
    );
  }
  if (end > BigInt(list.length)) {
    throw new Error(`cannot slice(${start}, ${end}), list is length ${list.length}`);
  }
  return list.slice(Number(start), Number(end));
}
