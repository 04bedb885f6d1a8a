import type { World } from "../world.ts";

/** The result of one check of one thing. */
export interface Finding {
  /** The name of the check. */
  check: string;
  /** What was checked: a cluster, a subnet, an identity. */
  about: string;
  result: "ok" | "warning" | "failed" | "not checked";
  found: string;
  remedy?: string;
  /** No later check can run: without a credential or a cluster each would only repeat this. */
  blocks?: true;
}

/** A check over the world: a pure function, which reports nothing where it does not apply. */
export interface WorldCheck {
  name: string;
  run(world: World): Finding[];
}

/** Findings of one check, with its name. */
export function findings(check: string, all: readonly Omit<Finding, "check">[]): Finding[] {
  return all.map((each) => ({ check, ...each }));
}
