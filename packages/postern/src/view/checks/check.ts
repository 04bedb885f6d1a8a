import type { World } from "../world.ts";

/** What came of looking at one thing. */
export interface Finding {
  /** Which check it was, in words that stay the same. */
  check: string;
  /** What was looked at: a cluster, a subnet, an identity. */
  about: string;
  verdict: "ok" | "warning" | "wrong" | "not looked at";
  found: string;
  remedy?: string;
  /** No later check can say anything: without a credential or a cluster each would only repeat this. */
  blocks?: true;
}

/** A check over the world: pure, and quiet about what it has nothing to say of. */
export interface WorldCheck {
  name: string;
  run(world: World): Finding[];
}

/** Findings of one check, with its name. */
export function findings(check: string, all: readonly Omit<Finding, "check">[]): Finding[] {
  return all.map((each) => ({ check, ...each }));
}
