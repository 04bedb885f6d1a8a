import { afterAll, beforeAll, vi } from "vitest";
import { fc, seeded } from "../setup/random.ts";
import type { Action } from "./attack.ts";
import { type Kubernetes, startKubernetes } from "./kubernetes.ts";
import { formatAttack, type Observed, run, violations } from "./law.ts";

/** Two tenants for the tests of a file. */
export interface Tenants {
  /** The victim's life without an attacker. */
  readonly baseline: Observed;
  /** An error that shows the attack and what it changed for the victim, where it changed anything. */
  check(actions: readonly Action[]): Promise<void>;
  /** The same for many random attacks: the error shows the smallest one that was found. */
  checkAll(attacks: fc.Arbitrary<readonly Action[]>, count: number): Promise<void>;
}

/** How many smaller attacks are tried after one has succeeded; each takes as long as the first. */
const shrinkRuns = 80;

/** Start what the tests of a file share, and observe the victim alone. */
export function startTenants(): Tenants {
  let kubernetes: Kubernetes;
  let baseline: Observed;
  beforeAll(async () => {
    // It takes a quarter of a second of real time, in which a clock that is moved goes far.
    await import("@azure/identity");
    // What is spread at random falls at the same time in every run.
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    kubernetes = await startKubernetes();
    baseline = await run(kubernetes, []);
  }, 60_000);
  afterAll(async () => {
    vi.restoreAllMocks();
    await kubernetes?.close();
  });
  const check: Tenants["check"] = async (actions) => {
    const wrong = violations(baseline, await run(kubernetes, actions));
    if (wrong.length > 0) throw new Error(report(actions, wrong));
  };
  return {
    get baseline() {
      return baseline;
    },
    check,
    checkAll: async (attacks, numRuns) => {
      let left: number | undefined;
      const property = fc.asyncProperty(attacks, async (actions) => {
        if (left !== undefined && left-- <= 0) return;
        await check(actions).catch((error: unknown) => {
          left ??= shrinkRuns;
          throw error;
        });
      });
      const { failed, numRuns: tried, errorInstance } = await fc.check(property, { numRuns });
      if (!failed) return;
      const { message } = errorInstance as Error;
      throw new Error(`attack ${tried} of ${numRuns} succeeds (${seeded})\n\n${message}`);
    },
  };
}

const shownMost = 20;

function report(actions: readonly Action[], wrong: readonly string[]): string {
  const rest = wrong.length > shownMost ? [`… and ${wrong.length - shownMost} more`] : [];
  const changes = [...wrong.slice(0, shownMost), ...rest].join("\n");
  return `The attacker\n\n${formatAttack(actions)}\n\nchanged for the victim\n\n${changes}\n`;
}
