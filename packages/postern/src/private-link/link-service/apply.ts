import { nameOf } from "@postern/core/resource-id.ts";
import type { ArmClient } from "../../azure/arm.ts";
import { decision, endpointConnections } from "../../azure/gateways/endpoint-connections.ts";
import { privateLinkServices } from "../../azure/gateways/private-link-services.ts";
import type { Applied } from "../../kube/feature.ts";
import { applyResourceStep } from "../apply-resource.ts";
import type { LinkServiceStep } from "./steps.ts";

/** Begin one step. `beforeCreate` is called just before the write that creates a link service. */
export async function applyLinkServiceStep(
  step: LinkServiceStep,
  view: ArmClient,
  beforeCreate?: () => void,
): Promise<Applied> {
  if (step.on === "link service")
    return applyResourceStep(step, privateLinkServices(view), beforeCreate);
  const connections = endpointConnections(view);
  if (step.verb === "remove") return connections.remove(step.id);
  const body = decision(nameOf(step.id), "Rejected", "the service is being deleted");
  return connections.put(step.id, body);
}
