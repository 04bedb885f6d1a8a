import type { Arm } from "../azure/arm.ts";
import type { MakeFeature } from "../kube/runtime.ts";

/** Everything that the operator does, one line each. */
export function controllers(_parts: { arm: Arm }): readonly MakeFeature[] {
  return [];
}
