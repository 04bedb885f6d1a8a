import { provisioningOf } from "@postern/core/provisioning.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { ArmClient } from "../../azure/arm.ts";
import { privateEndpoints } from "../../azure/gateways/private-endpoints.ts";
import { type Subnet, subnets } from "../../azure/gateways/subnets.ts";
import type { Applied } from "../../kube/feature.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import { applyResourceStep } from "../../private-link/apply-resource.ts";
import { applyLinkServiceStep } from "../../private-link/link-service/apply.ts";
import type { PrivateLinkParts } from "./azure/dependencies.ts";
import { isOpen } from "./azure/nat.ts";
import type { PrivateLinkStep } from "./steps.ts";

/** Begins one step. */
export async function apply(
  step: PrivateLinkStep,
  parts: PrivateLinkParts,
  reconcile: Reconcile,
): Promise<Applied> {
  const object = parts.objects.get(reconcile.key);
  // It was deleted since it was observed, without our finalizer: whatever exists has another owner by now.
  if (object === undefined) return { state: "done" };
  const arm = parts.clients.of(object, reconcile);
  const beforeCreate = () => parts.created.of(object).add(step.id);
  switch (step.on) {
    case "subnet":
      return open(arm, step.id);
    case "endpoint":
      return applyResourceStep(step, privateEndpoints(arm), beforeCreate);
    default:
      return applyLinkServiceStep(step, arm, beforeCreate);
  }
}

/** Change one property of a subnet and nothing else: read it, and write it back if nobody has changed it meanwhile. */
async function open(arm: ArmClient, id: ResourceId): Promise<Applied> {
  const gateway = subnets(arm);
  const found = await gateway.get(id);
  const isDone = found !== undefined && isOpen(found) && provisioningOf(found) !== "failed";
  if (found === undefined || isDone) return { state: "done" };
  const { etag, id: _id, name: _name, type: _type, ...top } = found;
  const {
    provisioningState: _state,
    ipConfigurations: _users,
    privateEndpoints: _endpoints,
    ...presentConditions
  } = found.properties;
  const body: Subnet = {
    ...top,
    properties: { ...presentConditions, privateLinkServiceNetworkPolicies: "Disabled" },
  };
  return gateway.put(id, body, { ifMatch: etag });
}
