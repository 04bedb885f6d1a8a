import type { Applied } from "../../../kube/feature.ts";
import type { Reconcile } from "../../../kube/reconcile.ts";
import { writeEndpoints } from "../spec/write.ts";
import type { ManagementSources } from "./observe.ts";
import type { ManagementStep } from "./steps.ts";

/** Begins one step. */
export async function apply(
  { target, write }: ManagementStep,
  { kube, writes, lastWrite }: ManagementSources,
  reconcile: Reconcile,
): Promise<Applied> {
  lastWrite.at = reconcile.now().getTime();
  writes.wrote(target, await writeEndpoints(kube, target, write, reconcile.signal));
  return { state: "done" };
}
