import { describe, expect, test } from "vitest";
import { whenItMatters } from "../../kube/when-it-matters.ts";
import { ZoneTurns } from "./zone-turns.ts";

describe("turns", () => {
  test("ten zones of an identity have their turn in five minutes, and each identity its own ten", () => {
    const turns = new ZoneTurns();
    const [one, other] = [{}, {}];
    const granted = Array.from({ length: 30 }, (_, n) => turns.take(one, n * 1_000));
    expect(granted.filter(Boolean)).toHaveLength(10);
    expect(turns.take(other, 30_000)).toBe(true);
    expect(turns.take(one, 299_999)).toBe(false);
    expect(turns.take(one, 300_001)).toBe(true);
  });
});

describe("what matters", () => {
  const object = (size: number, deleted = false) => ({
    metadata: { name: "a", ...(deleted && { deletionTimestamp: "now" }) },
    size,
  });
  const keys = whenItMatters(
    () => ["woken"],
    (each) => (each as unknown as { size: number }).size,
  );

  test("wakes when it changes, and not when anything else does", () => {
    expect(keys(object(1))).toEqual(["woken"]);
    expect(keys(object(1))).toEqual([]);
    expect(keys(object(2))).toEqual(["woken"]);
  });

  test("wakes at every change of what is being deleted", () => {
    expect(keys(object(2, true))).toEqual(["woken"]);
    expect(keys(object(2, true))).toEqual(["woken"]);
  });
});
