import { keyOf } from "@postern/core/kind.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { ownerIn } from "@postern/core/ownership.ts";
import { idKey } from "@postern/core/resource-id.ts";
import { shellWord } from "@postern/core/shell.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import { balancerOf, mostOnBalancer } from "../../hosted/link/service/service-list.ts";
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

/** A link service stands only before a Standard load balancer with a private frontend in a subnet. */
export const balancerSku = ofLinks("load balancer SKU", (link, index) => {
  const balancer = index.loadBalancer(link.status?.internalLoadBalancerID);
  if (balancer === undefined) return undefined;
  const sku = balancer.sku?.name ?? "Basic";
  if (sku === "Standard" && isIpBased(balancer))
    return {
      verdict: "wrong",
      found:
        "it has a backend pool of IP addresses, and a link service needs pools of network interfaces",
      remedy:
        "set the cloud provider's loadBalancerBackendPoolConfigurationType to nodeIPConfiguration",
    };
  return sku === "Standard"
    ? { verdict: "ok", found: "Standard" }
    : {
        verdict: "wrong",
        found: `it is ${sku}, and a link service needs Standard`,
        remedy: "make the Service anew with a load balancer of SKU Standard",
      };
});

/** Azure makes a link service only in the region and the network of its load balancer. */
export const balancerPlace = ofLinks("region and network of the load balancer", (link, index) => {
  const { status, spec } = link;
  const balancer = index.loadBalancer(status?.internalLoadBalancerID);
  if (balancer === undefined) return undefined;
  const location = (balancer.location ?? "").toLowerCase().replaceAll(" ", "");
  if (location !== spec.location.toLowerCase())
    return {
      verdict: "wrong",
      found: `the load balancer is in ${location}, and the link is wanted in ${spec.location}`,
      remedy: "name the region of the management cluster in the HostedCluster",
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
      verdict: "wrong",
      found: "the NAT subnet lies in another network than the load balancer",
      remedy: "name a NAT subnet in the network of the load balancer, or none",
    };
  return { verdict: "ok", found: `both in ${location}` };
});

/** Azure allows so many link services in front of a load balancer, and refuses the next cluster's. */
export const balancerRoom: WorldCheck = {
  name: "link services of the load balancer",
  run({ azure, kube }) {
    const own = new Set(
      kube.links.map(({ status }) => idKey(status?.internalLoadBalancerID ?? "")),
    );
    const services = Map.groupBy(azure.linkServices, ({ properties }) => balancerOf(properties));
    const all = azure.loadBalancers.flatMap(({ id = "" }): LinkFinding[] => {
      if (!own.has(idKey(id))) return [];
      const used = services.get(idKey(id))?.length ?? 0;
      const found = `${used} of at most ${mostOnBalancer}`;
      return used < mostOnBalancer
        ? [{ about: id, verdict: "ok", found }]
        : [
            {
              about: id,
              verdict: "warning",
              found,
              remedy:
                "have the cloud provider spread Services over several load balancers before the next cluster is created",
            },
          ];
    });
    return findings(balancerRoom.name, all);
  },
};

/** The guest must see the link service, and be let in without a person. */
export const admission = ofLinks("visibility and approval", (link, index) => {
  const service = index.linkService(link.status?.privateLinkServiceID);
  if (service === undefined) return undefined;
  const { visibility, autoApproval } = service.properties;
  const subscription = link.spec.subscriptionID.toLowerCase();
  const has = (all: readonly string[] = []) =>
    all.includes("*") || all.some((each) => each.toLowerCase() === subscription);
  if (visibility?.subscriptions?.includes("*"))
    return {
      verdict: "warning",
      found: "every subscription of Azure can see it",
      remedy: "name the subscriptions that may: additionalAllowedSubscriptions",
    };
  if (!has(visibility?.subscriptions) || !has(autoApproval?.subscriptions))
    return {
      verdict: "wrong",
      found: `the guest's subscription ${subscription} is not let in by itself`,
      remedy: "see postern plan: the operator puts it on both lists",
    };
  return { verdict: "ok", found: "the guest's subscription sees it and is let in" };
});

/** The link services that Postern made, or that an object names: those of others are none of its business. */
export function ownServices({ azure, kube }: World): PrivateLinkService[] {
  const ids = kube.links.flatMap(({ status }) => status?.privateLinkServiceID ?? []);
  const named = new Set([...ids, ...askedIn(kube).linkServices].map(idKey));
  return azure.linkServices.filter(
    ({ id = "", tags }) => ownerIn(tags) !== undefined || named.has(idKey(id)),
  );
}

/** Connections that nobody has decided on. */
export const waiting: WorldCheck = {
  name: "connections that wait",
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
              verdict: "warning" as const,
              found: `${each.name} waits for a decision`,
              remedy: `postern approve ${selector}, or postern reject ${selector}`,
            };
          }),
      ),
    );
  },
};

/** A link service that is left over from an earlier load balancer leads nowhere. */
export const leadsSomewhere: WorldCheck = {
  name: "load balancer behind the link service",
  run(world) {
    const index = indexOf(world);
    const orphaned = ownServices(world).filter(
      (service) => index.loadBalancer(balancerIdOf(service)) === undefined,
    );
    return findings(
      leadsSomewhere.name,
      orphaned.map(({ id = "" }) => ({
        about: id,
        verdict: "warning",
        found: "its load balancer is gone, or cannot be seen by us",
        remedy:
          "see postern plan; where nothing is planned, the credential lacks the right to read it",
      })),
    );
  },
};
