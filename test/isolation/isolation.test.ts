import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { seeded } from "../setup/random.ts";
import type { Action } from "./attack.ts";
import { attacks, harmless } from "./attacks.ts";
import { type Kubernetes, startKubernetes } from "./kubernetes.ts";
import { type Observed, run, told, violations } from "./law.ts";

describe("two tenants, one hostile", () => {
  let kubernetes: Kubernetes;
  let baseline: Observed;

  beforeAll(async () => {
    // It takes a quarter of a second of real time, in which a clock that is moved goes far.
    await import("@azure/identity");
    // What is spread at random falls at the same time in every run.
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    kubernetes = await startKubernetes();
    baseline = await run(kubernetes, []);
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await kubernetes?.close();
  });

  const check = async (actions: readonly Action[]) => {
    const wrong = violations(baseline, await run(kubernetes, actions));
    const shownMost = 20;
    const rest = wrong.length > shownMost ? `\n… and ${wrong.length - shownMost} more` : "";
    const what = wrong.slice(0, shownMost).join("\n");
    expect(wrong.length, `the attack\n${told(actions)}\nchanged\n${what}${rest}\n`).toBe(0);
  };

  test("alone, the victim becomes available and goes without a trace", () => {
    const [before, , available, , , deleted] = baseline.states;
    expect([...baseline.times.keys()]).toEqual(
      expect.arrayContaining(["blue/on-e is available", "blue-capi/two is available"]),
    );
    expect([...(deleted?.azure.keys() ?? [])]).toEqual([...(before?.azure.keys() ?? [])]);
    expect(available?.azure.size).toBeGreaterThan(before?.azure.size ?? 0);
  });

  test("the same life twice is observed as the same", () => check([]));

  test.each(Object.keys(harmless))("the victim does not notice %s", (name) =>
    check(harmless[name] ?? []),
  );

  test.each(Object.keys(attacks))("refused: %s", (name) => check(attacks[name] ?? []));

  test.todo(`random attacks (${seeded})`);
});
