import type { MakeFeature } from "../kube/runtime.ts";

/** Everything that the operator does, one line each. */
export const controllers: readonly MakeFeature[] = [];
