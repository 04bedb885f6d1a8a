import { describe, expect, test } from "vitest";
import {
  conditionOf,
  isReported,
  isTrue,
  type ObservedCondition,
  withCondition,
  withConditions,
  withoutConditions,
} from "./conditions.ts";
import type { Condition } from "./kinds/condition.ts";

const then = "2026-08-22T11:00:00Z";
const now = new Date("2026-08-22T12:00:00.123Z");

function planned(over: Partial<ObservedCondition> = {}): ObservedCondition {
  const condition: ObservedCondition = {
    type: "Ready",
    status: "True",
    reason: "Connected",
    message: "Reachable.",
    observedGeneration: 1,
  };
  return { ...condition, ...over };
}

const at = (over: Partial<ObservedCondition> = {}): Condition => ({
  ...planned(over),
  lastTransitionTime: then,
});

describe("a condition is put in its place", () => {
  test("a new one goes to the end, with the time in whole seconds", () => {
    expect(withCondition([at({ type: "Other" })], planned(), now)).toEqual([
      at({ type: "Other" }),
      { ...planned(), lastTransitionTime: "2026-08-22T12:00:00Z" },
    ]);
  });

  test("an equal one gives back the same array", () => {
    const all = [at({ type: "Other" }), at()];
    expect(withCondition(all, planned(), now)).toBe(all);
  });

  test("a new reason keeps the time and the place", () => {
    const all = [at(), at({ type: "Other" })];
    expect(withCondition(all, planned({ reason: "Drifted" }), now)).toEqual([
      at({ reason: "Drifted" }),
      at({ type: "Other" }),
    ]);
  });

  test("a new status moves the time", () => {
    const [moved] = withCondition([at()], planned({ status: "False" }), now);
    expect(moved?.lastTransitionTime).toBe("2026-08-22T12:00:00Z");
  });

  test("a new generation is written", () => {
    const [moved] = withCondition([at()], planned({ observedGeneration: 2 }), now);
    expect(moved).toEqual(at({ observedGeneration: 2 }));
  });

  test("a message of any length is cut, and is then equal", () => {
    const long = planned({ message: `${"x".repeat(4_095)}😀`.repeat(1_000) });
    const all = withCondition([], long, now);
    expect(all[0]?.message).toHaveLength(4_097);
    expect(all[0]?.message.isWellFormed()).toBe(true);
    expect(withCondition(all, long, now)).toBe(all);
  });

  test("a message that quotes a secret is written without it", () => {
    const [made] = withCondition([], planned({ message: 'it says {"password":"canary"}' }), now);
    expect(made?.message).toBe('It says {"password":"[redacted]"}.');
  });

  test("a message is written as sentences, and is then equal", () => {
    const parts = planned({ message: "connection rejected · ask its owner · az network show" });
    const all = withCondition([], parts, now);
    expect(all[0]?.message).toBe("Connection rejected. Ask its owner. az network show");
    expect(withCondition(all, parts, now)).toBe(all);
    expect(isReported(all[0], parts)).toBe(true);
    expect(isReported(all[0], planned())).toBe(false);
  });

  test("a message of an earlier release is written again, once", () => {
    const parts = planned({ message: "rejected · ask" });
    const all = withCondition([at({ message: parts.message })], parts, now);
    expect(all).toEqual([at({ message: "Rejected. Ask." })]);
    expect(withCondition(all, parts, now)).toBe(all);
  });

  test("one that is only carried along stays as it is", () => {
    const all = [at({ message: "as another · wrote it" })];
    expect(withCondition(all, at({ message: "as another · wrote it" }), now)).toBe(all);
    const { message: _, ...bare } = at();
    const without = [bare as Condition];
    expect(withCondition(without, bare as Condition, now)).toBe(without);
  });

  test("what was given is not changed", () => {
    const all = Object.freeze([Object.freeze(at())]);
    expect(withCondition(all, planned({ status: "False" }), now)).not.toBe(all);
    expect(all).toEqual([at()]);
  });
});

describe("conditions that are no longer wanted", () => {
  test("go, and the others stay", () => {
    expect(withoutConditions([at(), at({ type: "Other" })], ["Ready", "Never"])).toEqual([
      at({ type: "Other" }),
    ]);
  });

  test("that are not there leave the same array", () => {
    const all = [at()];
    expect(withoutConditions(all, ["Never"])).toBe(all);
  });
});

describe("all conditions of a plan", () => {
  test("take their places, ours that it lacks go, and everybody else's stay", () => {
    const all = [at({ type: "Theirs" }), at({ type: "Gone" }), at()];
    expect(
      withConditions(all, [planned({ reason: "New" })], ["Ready", "Gone"], now).map(
        ({ type, reason }) => [type, reason],
      ),
    ).toEqual([
      ["Theirs", "Connected"],
      ["Ready", "New"],
    ]);
  });

  test("leave the same array where nothing differs", () => {
    const all = [at({ type: "Theirs" }), at()];
    expect(withConditions(all, [planned()], ["Ready", "Gone"], now)).toBe(all);
  });
});

test("a condition is true only when it is there and True", () => {
  const all = [at(), at({ type: "Bad", status: "False" }), at({ type: "Dim", status: "Unknown" })];
  expect(["Ready", "Bad", "Dim", "Absent"].map((type) => isTrue(all, type))).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(isTrue(undefined, "Ready")).toBe(false);
  expect(conditionOf(all, "Bad")?.status).toBe("False");
});
