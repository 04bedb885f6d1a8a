import { idKey, parentOf, type ResourceId, tryParseResourceId } from "@postern/core/resource-id.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";

/** https://learn.microsoft.com/azure/azure-resource-manager/management/azure-subscription-service-limits#azure-private-link-limits */
export const mostOnBalancer = 8;

/** The key of the load balancer that a link service is in front of; undefined where its frontend has no valid id. */
export function balancerOf({
  loadBalancerFrontendIpConfigurations: [first] = [],
}: PrivateLinkService["properties"]): string | undefined {
  const frontend = tryParseResourceId(
    first?.id,
    "Microsoft.Network/loadBalancers/frontendIPConfigurations",
  );
  const balancer = frontend && parentOf(frontend);
  return balancer && idKey(balancer);
}

/** Whether a load balancer has as many of these link services as Azure allows. */
export function isBalancerFull(
  balancer: ResourceId,
  services: readonly Pick<PrivateLinkService, "properties">[],
): boolean {
  const key = idKey(balancer);
  const used = services.filter(({ properties }) => balancerOf(properties) === key).length;
  return used >= mostOnBalancer;
}

/** Why no link service is created. */
export function balancerFullMessage(what: string, balancer: string, remedy: string): string {
  return `${what} cannot be created · load balancer ${balancer} already has ${mostOnBalancer} link services, the most that Azure allows · ${remedy}`;
}
