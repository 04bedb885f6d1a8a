import { counted } from "@postern/core/counted.ts";
import { keyOf } from "@postern/core/kind.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { ownerIn } from "@postern/core/ownership.ts";
import { regionName, sameRegion } from "@postern/core/region.ts";
import { idKey } from "@postern/core/resource-id.ts";
import { shellWord } from "@postern/core/shell.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import { balancerOf, mostOnBalancer } from "../../private-link/link-service/balancer.ts";
import { isIpBased } from "../../private-link/link-service/frontends.ts";
import { askedIn } from "../cluster-objects.ts";
import { indexOf, networkOf, type WorldIndex } from "../index-of.ts";
import { connectionSelectors } from "../own-endpoints.ts";
import { balancerIdOf } from "../parts/states.ts";
import type { World } from "../world.ts";
import { type Finding, findings, type WorldCheck } from "./check.ts";

type LinkFinding = Omit<Finding, "check">;

/** A check of every link of a hosted cluster. */
function ofLinks(
  name: string,
  check: (
    link: AzurePrivateLinkService,
    index: WorldIndex,
  ) => Omit<LinkFinding, "about"> | undefined,
): WorldCheck {
  return {
    name,
    run(world: World) {
      const index = indexOf(world);
      const all = world.kube.links.flatMap((link): LinkFinding[] => {
        const finding = check(link, index);
        return finding ? [{ about: keyOf(link), ...finding }] : [];
      });
      return findings(name, all);
    },
  };
}

/** Azure creates a link service only for a Standard load balancer with a private frontend in a subnet. */
export const balancerSku = ofLinks("load balancer SKU", (link, index) => {
  const balancer = index.loadBalancer(link.status?.internalLoadBalancerID);
  if (balancer === undefined) return undefined;
  const sku = balancer.sku?.name ?? "Basic";
  if (sku === "Standard" && isIpBased(balancer))
    return {
      result: "failed",
      found:
        "The load balancer has a backend pool of IP addresses, but a link service needs pools of network interfaces.",
      remedy:
        "Set the cloud provider's loadBalancerBackendPoolConfigurationType to nodeIPConfiguration.",
    };
  return sku === "Standard"
    ? { result: "ok", found: "The SKU is Standard." }
    : {
        result: "failed",
        found: `The SKU of the load balancer is ${sku}, but a link service needs Standard.`,
        remedy:
          "Set the cloud provider's loadBalancerSku to standard, then delete and recreate the Service.",
      };
});

/** Azure creates a link service only in the region and the virtual network of its load balancer. */
export const balancerPlace = ofLinks("load balancer region and network", (link, index) => {
  const { status, spec } = link;
  const balancer = index.loadBalancer(status?.internalLoadBalancerID);
  if (balancer === undefined) return undefined;
  const location = regionName(balancer.location ?? "");
  if (!sameRegion(location, spec.location))
    return {
      result: "failed",
      found: `The load balancer is in ${location}, but the cluster asks for its link service in ${spec.location}.`,
      remedy: `Set the location of the HostedCluster to ${location}, the region of the management cluster.`,
    };
  const service = index.linkService(status?.privateLinkServiceID);
  const nat = networkOf(
    service?.properties.ipConfigurations?.[0]?.properties.subnet?.id ?? spec.natSubnetID,
  );
  const home = networkOf(
    balancer.properties.frontendIPConfigurations?.find(({ properties }) => properties.subnet)
      ?.properties.subnet?.id,
  );
  if (nat !== undefined && home !== undefined && nat !== home)
    return {
      result: "failed",
      found: "The NAT subnet is in another virtual network than the load balancer.",
      remedy:
        "Use a NAT subnet in the virtual network of the load balancer, or remove it from the HostedCluster so that Postern creates one.",
    };
  return { result: "ok", found: `Both are in ${location}.` };
});

/** Azure limits the link services of one load balancer, and rejects the next cluster's. */
export const balancerRoom: WorldCheck = {
  name: "link services per load balancer",
  run({ azure, kube }) {
    const own = new Set(
      kube.links.map(({ status }) => idKey(status?.internalLoadBalancerID ?? "")),
    );
    const services = Map.groupBy(azure.linkServices, ({ properties }) => balancerOf(properties));
    const all = azure.loadBalancers.flatMap(({ id = "" }): LinkFinding[] => {
      if (!own.has(idKey(id))) return [];
      const used = services.get(idKey(id))?.length ?? 0;
      const found = `It has ${counted(used, "link service")}; the limit is ${mostOnBalancer}.`;
      return used < mostOnBalancer
        ? [{ about: id, result: "ok", found }]
        : [
            {
              about: id,
              result: "warning",
              found,
              remedy:
                "Before you create another cluster, configure the cloud provider to use several load balancers.",
            },
          ];
    });
    return findings(balancerRoom.name, all);
  },
};

/** The subscription of the hosted cluster must see the link service, and its connection must be approved automatically. */
export const admission = ofLinks("visibility and approval", (link, index) => {
  const service = index.linkService(link.status?.privateLinkServiceID);
  if (service === undefined) return undefined;
  const { visibility, autoApproval } = service.properties;
  const subscription = link.spec.subscriptionID.toLowerCase();
  const has = (all: readonly string[] = []) =>
    all.includes("*") || all.some((each) => each.toLowerCase() === subscription);
  if (visibility?.subscriptions?.includes("*"))
    return {
      result: "warning",
      found: "The link service is visible to every Azure subscription.",
      remedy:
        "List the allowed subscriptions in additionalAllowedSubscriptions of the HostedCluster.",
    };
  if (!has(visibility?.subscriptions) || !has(autoApproval?.subscriptions))
    return {
      result: "failed",
      found: `Connections from the hosted cluster's subscription ${subscription} are not approved automatically.`,
      remedy:
        "The operator adds the subscription to the visibility and auto-approval lists: postern plan",
    };
  return {
    result: "ok",
    found:
      "The hosted cluster's subscription sees the link service, and its connections are approved automatically.",
  };
});

/** The link services that Postern created or that an object names; those of others are not checked. */
export function ownServices({ azure, kube }: World): PrivateLinkService[] {
  const ids = kube.links.flatMap(({ status }) => status?.privateLinkServiceID ?? []);
  const named = new Set([...ids, ...askedIn(kube).linkServices].map(idKey));
  return azure.linkServices.filter(
    ({ id = "", tags }) => ownerIn(tags) !== undefined || named.has(idKey(id)),
  );
}

/** Connections that are neither approved nor rejected. */
export const waiting: WorldCheck = {
  name: "pending connections",
  run(world) {
    const selectorOf = connectionSelectors(world);
    return findings(
      waiting.name,
      ownServices(world).flatMap(({ id = "", properties }) =>
        (properties.privateEndpointConnections ?? [])
          .filter((each) =>
            /^pending$/i.test(each.properties.privateLinkServiceConnectionState?.status ?? ""),
          )
          .map((each) => {
            const selector = shellWord(selectorOf(each, id));
            return {
              about: id,
              result: "warning" as const,
              found: `Connection ${each.name} waits for approval.`,
              remedy: `Approve or reject it: postern approve ${selector}, or postern reject ${selector}`,
            };
          }),
      ),
    );
  },
};

/** A link service of a load balancer that was deleted forwards to nothing. */
export const hasBalancer: WorldCheck = {
  name: "load balancer of the link service",
  run(world) {
    const index = indexOf(world);
    const withoutBalancer = ownServices(world).filter(
      (service) => index.loadBalancer(balancerIdOf(service)) === undefined,
    );
    return findings(
      hasBalancer.name,
      withoutBalancer.map(({ id = "" }) => ({
        about: id,
        result: "warning",
        found: "Its load balancer does not exist, or this credential cannot read it.",
        remedy:
          "Run postern plan. If it shows no step for this link service, grant the credential read access to the load balancer.",
      })),
    );
  },
};
