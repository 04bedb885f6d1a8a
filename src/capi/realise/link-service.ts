import {
  type LinkServiceIPConfiguration,
  type PrivateLinkService,
  withoutAnswers,
} from "../../azure/gateways/private-link-services.ts";
import { sameId } from "../../model/resource-id.ts";
import { withTags } from "../../model/tags.ts";
import { isBroken, sameRegion, sameSet, sameText } from "./same.ts";
import type { WantedLink } from "./wanted.ts";

/** How something differs from what it should be, in words. */
export interface Differences {
  /** What Azure never changes: it must be made anew. */
  fixed: string[];
  changeable: string[];
}

/** The body that makes a link service. */
export function newService(wanted: WantedLink): PrivateLinkService {
  return {
    location: wanted.location,
    tags: { ...wanted.tags },
    properties: {
      loadBalancerFrontendIpConfigurations: wanted.frontends.map((id) => ({ id })),
      ipConfigurations: addresses(wanted),
      ...settings(wanted),
    },
  };
}

function settings({ allowed, autoApproved, proxyProtocol }: WantedLink) {
  return {
    visibility: { subscriptions: [...allowed] },
    autoApproval: { subscriptions: [...autoApproved] },
    enableProxyProtocol: proxyProtocol,
  };
}

function addresses({ nat }: WantedLink): LinkServiceIPConfiguration[] {
  return nat.map(({ name, subnet, address }, at) => ({
    name,
    properties: {
      subnet: { id: subnet },
      primary: at === 0,
      privateIPAddressVersion: address?.includes(":") ? ("IPv6" as const) : ("IPv4" as const),
      ...(address === undefined
        ? { privateIPAllocationMethod: "Dynamic" as const }
        : { privateIPAllocationMethod: "Static" as const, privateIPAddress: address }),
    },
  }));
}

/** Compare every property that can be asked for. */
export function linkDifferences(found: PrivateLinkService, wanted: WantedLink): Differences {
  const { properties, tags = {} } = found;
  const fixed: string[] = [];
  const changeable: string[] = [];
  const frontends = (properties.loadBalancerFrontendIpConfigurations ?? []).map(({ id }) => id);
  // hashicorp/terraform-provider-azurerm#12250 and #13411: these stay as they were made.
  if (!sameSet(frontends, wanted.frontends)) fixed.push("its load balancer frontends are others");
  if (!sameRegion(found.location, wanted.location)) fixed.push("it is in another region");
  if (!sameId(primaryOf(found)?.properties.subnet?.id ?? "", wanted.nat[0]?.subnet ?? ""))
    fixed.push("its first NAT address is in another subnet");
  if (!hasAddresses(found, wanted)) changeable.push("its NAT addresses are others");
  if (!sameSet(properties.visibility?.subscriptions, wanted.allowed))
    changeable.push("other subscriptions may see it");
  if (!sameSet(properties.autoApproval?.subscriptions, wanted.autoApproved))
    changeable.push("other subscriptions need no approval");
  if ((properties.enableProxyProtocol ?? false) !== wanted.proxyProtocol)
    changeable.push(`it ${wanted.proxyProtocol ? "does not speak" : "speaks"} the proxy protocol`);
  if (withTags(tags, wanted.tags) !== tags) changeable.push("its tags are others");
  if (isBroken(properties.provisioningState))
    changeable.push(`its provisioning state is ${properties.provisioningState}`);
  return { fixed, changeable };
}

/** The body that puts right what can be changed, with all that others have set. */
export function repairedService(found: PrivateLinkService, wanted: WantedLink): PrivateLinkService {
  const { properties: kept, ...top } = withoutAnswers(found);
  return {
    ...top,
    tags: { ...withTags(found.tags ?? {}, wanted.tags) },
    properties: {
      ...kept,
      ...settings(wanted),
      ipConfigurations: hasAddresses(found, wanted)
        ? (kept.ipConfigurations ?? [])
        : addresses(wanted),
    },
  };
}

/** Whether a link service has the NAT addresses that it should have. */
export function hasAddresses({ properties }: PrivateLinkService, wanted: WantedLink): boolean {
  const held = properties.ipConfigurations ?? [];
  if (held.length !== wanted.nat.length) return false;
  return wanted.nat.every(({ name, subnet, address }, at) => {
    const one = held.find((each) => sameText(each.name, name))?.properties;
    if (one === undefined || !sameId(one.subnet?.id ?? "", subnet)) return false;
    if ((one.primary ?? at === 0) !== (at === 0)) return false;
    const isStatic = /^static$/i.test(one.privateIPAllocationMethod ?? "");
    return address === undefined ? !isStatic : isStatic && sameText(one.privateIPAddress, address);
  });
}

function primaryOf({ properties }: PrivateLinkService): LinkServiceIPConfiguration | undefined {
  const held = properties.ipConfigurations ?? [];
  return held.find((each) => each.properties.primary === true) ?? held[0];
}
