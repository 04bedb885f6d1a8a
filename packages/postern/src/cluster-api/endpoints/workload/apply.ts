import type { ArmClient } from "../../../azure/arm.ts";
import { privateEndpoints } from "../../../azure/gateways/private-endpoints.ts";
import type { KubeClient } from "../../../kube/client.ts";
import type { Applied } from "../../../kube/feature.ts";
import type { Reconcile } from "../../../kube/reconcile.ts";
import { type LastWrites, writeAnnotations, writeEndpoints } from "../spec/write.ts";
import type { WorkloadStep } from "./steps.ts";

/** What the steps need beside what they say. */
export interface WorkloadContext {
  kube: KubeClient;
  writes: LastWrites;
  /** The ARM client that observed the management side; undefined where that was not read. */
  arm?: ArmClient | undefined;
}

/** Begins one step. */
export async function apply(
  step: WorkloadStep,
  { kube, writes, arm }: WorkloadContext,
  reconcile: Reconcile,
): Promise<Applied> {
  switch (step.do) {
    case "update AzureCluster": {
      const { target, endpoints, annotations } = step;
      if (endpoints)
        writes.wrote(target, await writeEndpoints(kube, target, endpoints, reconcile.signal));
      if (annotations)
        writes.wrote(target, await writeAnnotations(kube, target, annotations, reconcile.signal));
      return { state: "done" };
    }
    case "delete private endpoint": {
      if (arm === undefined) throw new Error("a step of a reconcile that did not read Azure");
      const write = await privateEndpoints(arm).remove(step.id, {
        ifMatch: step.etag,
      });
      if (write.state === "done") return { state: "done" };
      return { state: "running", retryAfterMs: write.retryAfterMs };
    }
  }
}
