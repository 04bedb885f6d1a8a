import { sameRegion } from "@postern/core/region.ts";
import { type ResourceId, sameId } from "@postern/core/resource-id.ts";
import { type Tags, withTags } from "@postern/core/tags.ts";
import { withAllTags } from "@postern/core/user-tags.ts";
import {
  type LinkServiceIPConfiguration,
  type PrivateLinkService,
  withoutAnswers,
} from "../../azure/gateways/private-link-services.ts";
import { type Differences, failedState } from "../plan-resource.ts";
import { sameSet, sameText } from "../same.ts";

/** A link service as it should be. */
export interface DesiredLinkService {
  id: ResourceId;
  location: string;
  tags: Tags;
  /** What somebody asks for beside them; undefined where that is not known. */
  userTags?: Tags | undefined;
  frontends: readonly string[];
  /** The addresses that it translates to; the first is the primary one. */
  nat: readonly NatAddress[];
  /** The subscriptions that see it, and those that need no approval. */
  allowed: readonly string[];
  autoApproved: readonly string[];
  proxyProtocol: boolean;
}

export interface NatAddress {
  name: string;
  /** Undefined where any will do, as it does for a service that has one. */
  subnet: string | undefined;
  /** One that is given is Static. */
  address?: string;
}

/** How a link service can differ from what it should be. */
export type LinkServiceDifference =
  | "frontends"
  | "region"
  | "natSubnet"
  | "natAddresses"
  | "visibility"
  | "autoApproval"
  | "speaksProxyProtocol"
  | "lacksProxyProtocol"
  | "tags";

/** The body that creates a link service. */
export function newLinkService(desired: DesiredLinkService): PrivateLinkService {
  return {
    location: desired.location,
    tags: { ...withAllTags({}, desired) },
    properties: {
      loadBalancerFrontendIpConfigurations: desired.frontends.map((id) => ({ id })),
      ipConfigurations: natAddresses(desired, ""),
      ...settings(desired),
    },
  };
}

function settings({ allowed, autoApproved, proxyProtocol }: DesiredLinkService) {
  return {
    visibility: { subscriptions: [...allowed] },
    autoApproval: { subscriptions: [...autoApproved] },
    enableProxyProtocol: proxyProtocol,
  };
}

function natAddresses({ nat }: DesiredLinkService, present: string): LinkServiceIPConfiguration[] {
  return nat.map(({ name, subnet = present, address }, at) => ({
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

/** Compare every property that can be desired. */
export function linkServiceDifferences(
  found: PrivateLinkService,
  desired: DesiredLinkService,
): Differences<LinkServiceDifference> {
  const { properties, tags = {} } = found;
  const fixed: LinkServiceDifference[] = [];
  const changeable: LinkServiceDifference[] = [];
  const frontends = (properties.loadBalancerFrontendIpConfigurations ?? []).map(({ id }) => id);
  // hashicorp/terraform-provider-azurerm#12250 and #13411: these stay as they were created.
  if (!sameSet(frontends, desired.frontends)) fixed.push("frontends");
  if (!sameRegion(found.location, desired.location)) fixed.push("region");
  const [primary] = desired.nat;
  if (primary?.subnet !== undefined && !sameId(natSubnetOf(found) ?? "", primary.subnet))
    fixed.push("natSubnet");
  if (!hasNatAddresses(found, desired)) changeable.push("natAddresses");
  if (!sameSet(properties.visibility?.subscriptions, desired.allowed))
    changeable.push("visibility");
  if (!sameSet(properties.autoApproval?.subscriptions, desired.autoApproved))
    changeable.push("autoApproval");
  if ((properties.enableProxyProtocol ?? false) !== desired.proxyProtocol)
    changeable.push(desired.proxyProtocol ? "lacksProxyProtocol" : "speaksProxyProtocol");
  if (withAllTags(tags, desired) !== tags) changeable.push("tags");
  return { fixed, changeable, failed: failedState(found) };
}

/** The body that puts right what can be changed, with all that others have set. */
export function repairedLinkService(
  found: PrivateLinkService,
  desired: DesiredLinkService,
): PrivateLinkService {
  const { properties: retained, ...top } = withoutAnswers(found);
  return {
    ...top,
    tags: { ...withAllTags(found.tags ?? {}, desired) },
    properties: {
      ...retained,
      ...settings(desired),
      ipConfigurations: hasNatAddresses(found, desired)
        ? (retained.ipConfigurations ?? [])
        : natAddresses(desired, natSubnetOf(found) ?? ""),
    },
  };
}

/** The body that gives a link service these tags, and leaves the rest of it as it is. */
export function retaggedLinkService(found: PrivateLinkService, tags: Tags): PrivateLinkService {
  const { tags: present = {}, ...rest } = withoutAnswers(found);
  return { ...rest, tags: { ...withTags(present, tags) } };
}

/** Whether a link service has the NAT addresses that it should have. */
export function hasNatAddresses(
  { properties }: PrivateLinkService,
  { nat }: DesiredLinkService,
): boolean {
  const present = properties.ipConfigurations ?? [];
  if (present.length !== nat.length) return false;
  return nat.every(({ name, subnet, address }, at) => {
    const one = present.find((each) => sameText(each.name, name))?.properties;
    if (one === undefined) return false;
    if (subnet !== undefined && !sameId(one.subnet?.id ?? "", subnet)) return false;
    if ((one.primary ?? at === 0) !== (at === 0)) return false;
    const isStatic = sameText(one.privateIPAllocationMethod, "Static");
    if (address !== undefined) return isStatic && sameText(one.privateIPAddress, address);
    return !isStatic && !sameText(one.privateIPAddressVersion, "IPv6");
  });
}

/** The subnet in which a link service has its primary address. */
export function natSubnetOf({ properties }: PrivateLinkService): string | undefined {
  const present = properties.ipConfigurations ?? [];
  const primary = present.find((each) => each.properties.primary === true) ?? present[0];
  return primary?.properties.subnet?.id;
}
