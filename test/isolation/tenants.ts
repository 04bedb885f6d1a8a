import { afterAll, beforeAll, vi } from "vitest";
import { fc, seeded } from "../setup/random.ts";
import type { Action } from "./attack.ts";
import { afterVictim, claimsOf, givenUp } from "./first-come.ts";
import { type Kubernetes, startKubernetes } from "./kubernetes.ts";
import { formatAttack, type Observed, run, violations } from "./law.ts";
import { type Variant, variants } from "./variant.ts";

/** Two tenants for the tests of a file. */
export interface Tenants {
  /** The victim's life without an attacker. */
  baseline(variant: Variant): Promise<Observed>;
  /** The victim's life beside an attacker. */
  observe(variant: Variant, actions: readonly Action[]): Promise<Observed>;
  /** An error that shows the attack and what it changed for the victim, where it changed anything. */
  check(variant: Variant, actions: readonly Action[]): Promise<void>;
  /** The same for many random attacks, under all variants: the error shows the smallest one that was found. */
  checkAll(attacks: fc.Arbitrary<readonly Action[]>, count: number): Promise<void>;
}

/** How many smaller attacks are tried after one has succeeded; each takes as long as the first. */
const shrinkRuns = 80;

/** Start what the tests of a file share. */
export function startTenants(): Tenants {
  let kubernetes: Kubernetes;
  const baselines = new Map<Variant, Promise<Observed>>();
  beforeAll(async () => {
    // It takes a quarter of a second of real time, in which a clock that is moved goes far.
    await import("@azure/identity");
    // What is spread at random falls at the same time in every run.
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    kubernetes = await startKubernetes();
  }, 60_000);
  afterAll(async () => {
    vi.restoreAllMocks();
    await kubernetes?.close();
  });
  const observe: Tenants["observe"] = (variant, actions) => run(kubernetes, variant, actions);
  const baseline: Tenants["baseline"] = (variant) => {
    const known = baselines.get(variant) ?? observe(variant, []);
    baselines.set(variant, known);
    return known;
  };
  const check: Tenants["check"] = async (variant, given) => {
    const actions = afterVictim(given, variant);
    const alone = await baseline(variant);
    const until = claimsOf(given, variant).length > 0 ? givenUp : undefined;
    const found = await run(kubernetes, variant, actions, until);
    const wrong = violations(variant, alone, found);
    if (wrong.length > 0) throw new Error(report(variant, actions, wrong));
  };
  return {
    baseline,
    observe,
    check,
    checkAll: async (attacks, numRuns) => {
      let left: number | undefined;
      const some = fc.tuple(fc.constantFrom(...variants), attacks);
      const property = fc.asyncProperty(some, async ([variant, actions]) => {
        if (left !== undefined && left-- <= 0) return;
        await check(variant, actions).catch((error: unknown) => {
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

function report({ name }: Variant, actions: readonly Action[], wrong: readonly string[]): string {
  const rest = wrong.length > shownMost ? [`… and ${wrong.length - shownMost} more`] : [];
  const changes = [...wrong.slice(0, shownMost), ...rest].join("\n");
  return `With ${name}, the attacker\n\n${formatAttack(actions)}\n\nchanged for the victim\n\n${changes}\n`;
}
