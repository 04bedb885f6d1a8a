import { describe, expect, test } from "vitest";
import type { Plan } from "./feature.ts";
import { effectivePolicy, restrictPlan, stepPolicies, withheldReason } from "./step-policy.ts";

const create = {
  do: "create DNS zone",
  name: "one.local",
  why: "it does not exist",
  verb: "create",
} as const;
const remove = {
  do: "delete private endpoint",
  name: "one",
  why: "it is not desired",
  verb: "delete",
} as const;
const notReady = { type: "Ready", status: "False", reason: "Creating", message: "" } as const;

function plan(over: Partial<Plan> = {}): Plan {
  return { steps: [create, remove], conditions: [notReady], requeue: "drift", ...over };
}

describe("the policy of an object", () => {
  test("is the flag's without an annotation", () => {
    for (const each of stepPolicies) expect(effectivePolicy(each)).toBe(each);
  });

  test("can be stricter than the flag, and never less strict", () => {
    expect(effectivePolicy("sync", ["upsert-only"])).toBe("upsert-only");
    expect(effectivePolicy("observe-only", ["sync"])).toBe("observe-only");
    expect(effectivePolicy("upsert-only", ["sync", "observe-only"])).toBe("observe-only");
  });

  test.each(["", "Sync", "dry-run"])("is the strictest where the annotation is %j", (text) => {
    expect(effectivePolicy("sync", [text])).toBe("observe-only");
  });
});

describe("a plan", () => {
  test("is unchanged under sync", () => {
    const given = plan({ finalizer: "add" });
    expect(restrictPlan(given, "sync", "Ready")).toBe(given);
  });

  test("deletes nothing under upsert-only, and says so", () => {
    const { steps, withheld, conditions, finalizer, events } = restrictPlan(
      plan({ finalizer: "add" }),
      "upsert-only",
      "Ready",
    );
    expect({ steps, withheld, finalizer }).toEqual({
      steps: [create],
      withheld: [remove],
      finalizer: "add",
    });
    expect(conditions[0]?.reason).toBe(withheldReason);
    expect(conditions[0]?.message).toContain("delete private endpoint one (it is not desired)");
    expect(events?.map(({ reason }) => reason)).toEqual([withheldReason]);
  });

  test("keeps its finalizer while a deletion is withheld", () => {
    const given = plan({ steps: [remove], finalizer: "remove" });
    expect(restrictPlan(given, "upsert-only", "Ready").finalizer).toBeUndefined();
    const over = plan({ steps: [], finalizer: "remove" });
    expect(restrictPlan(over, "upsert-only", "Ready").finalizer).toBe("remove");
  });

  test("writes nothing under observe-only, not even a finalizer", () => {
    for (const finalizer of ["add", "remove"] as const)
      for (const steps of [[create, remove], []]) {
        const restricted = restrictPlan(plan({ steps, finalizer }), "observe-only", "Ready");
        expect(restricted.steps).toEqual([]);
        expect(restricted.finalizer).toBeUndefined();
      }
  });

  test("leaves a condition that is True, and one of another step", () => {
    const conditions = [
      { type: "Ready", status: "True", reason: "Ready", message: "" },
      { type: "Names", status: "False", reason: "Waiting", message: "" },
    ] as const;
    const restricted = restrictPlan(plan({ conditions }), "observe-only", "Ready");
    expect(restricted.conditions).toEqual(conditions);
  });

  test("says what is withheld also where it keeps the status as it is, unless that is True", () => {
    const given = plan({ conditions: [], retainsStatus: true });
    expect(restrictPlan(given, "observe-only", "Ready").conditions).toMatchObject([
      { type: "Ready", status: "False", reason: withheldReason },
    ]);
    expect(restrictPlan(given, "observe-only", "Ready", "True").conditions).toEqual([]);
    expect(restrictPlan(given, "observe-only", undefined).conditions).toEqual([]);
  });

  test("names three withheld steps and counts the others", () => {
    const steps = Array.from({ length: 5 }, (_, index) => ({ ...remove, name: `${index}` }));
    const { conditions } = restrictPlan(plan({ steps }), "upsert-only", "Ready");
    expect(conditions[0]?.message).toContain(
      "delete private endpoint 2 (it is not desired), 2 more",
    );
  });
});
