import type { Applied } from "../../../kube/feature.ts";
import type { Pass } from "../../../kube/pass.ts";
import { writeEndpoints } from "../spec/write.ts";
import type { ManagementSources } from "./observe.ts";
import type { ManagementStep } from "./steps.ts";

/** Carry out one step. */
export async function apply(
  { target, write }: ManagementStep,
  { kube, writes, lastWrite }: ManagementSources,
  pass: Pass,
): Promise<Applied> {
  lastWrite.at = pass.now().getTime();
  writes.wrote(target, await writeEndpoints(kube, target, write, pass.signal));
  return { state: "done" };
}
