import type { ArmClient } from "../arm.ts";
import { type ArmResource, type ResourceGateway, resourceGateway } from "../gateway.ts";
import { apiVersions } from "./api-versions.ts";

/** A resource group. */
export type ResourceGroup = ArmResource<{ provisioningState?: string }>;

/** Resource groups; they are listed in a subscription. */
export function resourceGroups(arm: ArmClient): ResourceGateway<ResourceGroup> {
  return resourceGateway(arm, { apiVersion: apiVersions.resources, collection: "resourceGroups" });
}
