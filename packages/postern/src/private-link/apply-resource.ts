import type { ArmResource, ResourceGateway } from "../azure/gateway.ts";
import type { Applied } from "../kube/feature.ts";
import type { ResourceStep } from "./plan-resource.ts";

/** Begin one step. `beforeCreate` is called just before the write that creates the resource. */
export async function applyResourceStep<T extends ArmResource>(
  step: ResourceStep<string, T>,
  gateway: ResourceGateway<T>,
  beforeCreate?: () => void,
): Promise<Applied> {
  switch (step.verb) {
    case "create":
      // Azure does not promise to heed If-None-Match for these: it is read just before too.
      if ((await gateway.get(step.id)) !== undefined) return { state: "done", isBegun: false };
      beforeCreate?.();
      return gateway.put(step.id, step.body, { ifNoneMatch: "*" });
    case "change":
      return gateway.put(step.id, step.body, { ifMatch: step.etag });
    case "delete":
      return gateway.remove(step.id, { ifMatch: step.etag });
  }
}
