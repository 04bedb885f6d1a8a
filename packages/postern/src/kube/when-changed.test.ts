import { describe, expect, test } from "vitest";
import { whenChanged } from "./when-changed.ts";

describe("what matters", () => {
  const object = (size: number, deleted = false) => ({
    metadata: { name: "a", ...(deleted && { deletionTimestamp: "now" }) },
    size,
  });
  const keys = whenChanged(
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
