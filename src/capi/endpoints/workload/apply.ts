import type { ArmView } from "../../../azure/arm.ts";
import { privateEndpoints } from "../../../azure/gateways/private-endpoints.ts";
import type { KubeClient } from "../../../kube/client.ts";
import type { Applied } from "../../../kube/feature.ts";
import type { Pass } from "../../../kube/pass.ts";
import { type LastWrites, writeAnnotations, writeEndpoints } from "../write.ts";
import type { WorkloadStep } from "./seen.ts";

/** Carry out one step, and say whether it is over. */
export async function apply(
  step: WorkloadStep,
  pass: Pass,
  parts: { kube: KubeClient; writes: LastWrites; management: ArmView | undefined },
): Promise<Applied> {
  const { kube, writes } = parts;
  switch (step.do) {
    case "change cluster": {
      const { target, endpoints, annotations } = step;
      if (endpoints)
        writes.wrote(target, await writeEndpoints(kube, target, endpoints, pass.signal));
      if (annotations)
        writes.wrote(target, await writeAnnotations(kube, target, annotations, pass.signal));
      return { state: "done" };
    }
    case "delete endpoint": {
      if (parts.management === undefined)
        throw new Error("a step of a pass that has not looked at Azure");
      const write = await privateEndpoints(parts.management).remove(step.id, {
        ifMatch: step.etag,
      });
      if (write.state === "done") return { state: "done" };
      return { state: "running", retryAfterMs: write.retryAfterMs };
    }
  }
}
