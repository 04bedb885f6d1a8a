import {
  type LinkServiceIPConfiguration,
  type PrivateLinkService,
  withoutAnswers,
} from "../../azure/gateways/private-link-services.ts";
import {
  type Owner,
  ownedTags,
  ownerIn,
  ownership,
  ownerTag,
  resourceTypeTag,
} from "../../model/ownership.ts";
import { sameId } from "../../model/resource-id.ts";
import { tagOf, withTags } from "../../model/tags.ts";

/** The name of the one address that a link service translates to. */
const natConfiguration = "pls-nat-ip";
const resourceType = "private-link-service";

/** A link service as it should be. */
export interface WantedService {
  hostedCluster: string;
  owner: Owner;
  location: string;
  frontend: string;
  /** The subnet of its address. Undefined where any will do, as it does for a service that has one. */
  natSubnet: string | undefined;
  /** The subscriptions that see it and that need no approval. */
  allowed: readonly string[];
}

/** The body that makes a link service. */
export function newService(wanted: WantedService & { natSubnet: string }): PrivateLinkService {
  return {
    location: wanted.location,
    tags: ownedTags(wanted.hostedCluster, resourceType, wanted.owner),
    properties: {
      loadBalancerFrontendIpConfigurations: [{ id: wanted.frontend }],
      ipConfigurations: [address(wanted.natSubnet)],
      visibility: { subscriptions: [...wanted.allowed] },
      autoApproval: { subscriptions: [...wanted.allowed] },
      enableProxyProtocol: false,
    },
  };
}

function address(subnet: string): LinkServiceIPConfiguration {
  return {
    name: natConfiguration,
    properties: {
      subnet: { id: subnet },
      primary: true,
      privateIPAllocationMethod: "Dynamic",
      privateIPAddressVersion: "IPv4",
    },
  };
}

/** How a link service differs from what it should be, in words; what Azure changes in place and what it never does. */
export interface Differences {
  /** hashicorp/terraform-provider-azurerm#12250 and #13411: these stay as they were made, so the service must be made anew. */
  fixed: string[];
  changeable: string[];
}

/** Compare every property that we set. */
export function differences(found: PrivateLinkService, wanted: WantedService): Differences {
  const { properties } = found;
  const frontends = (properties.loadBalancerFrontendIpConfigurations ?? []).map(({ id }) => id);
  const fixed: string[] = [];
  const changeable: string[] = [];
  const [frontend] = frontends;
  if (frontends.length !== 1 || !sameId(frontend ?? "", wanted.frontend))
    fixed.push("its load balancer frontend is another");
  if (plainLocation(found.location) !== plainLocation(wanted.location))
    fixed.push("it is in another region than its load balancer");
  const subnet = natSubnetOf(found);
  if (wanted.natSubnet !== undefined && !sameId(subnet ?? "", wanted.natSubnet))
    fixed.push("its NAT subnet is another");
  if (!hasOneAddress(properties.ipConfigurations ?? []))
    changeable.push("its NAT addresses were changed");
  if (!sameSet(properties.visibility?.subscriptions, wanted.allowed))
    changeable.push("other subscriptions may see it");
  if (!sameSet(properties.autoApproval?.subscriptions, wanted.allowed))
    changeable.push("other subscriptions are approved");
  if (properties.enableProxyProtocol === true) changeable.push("it speaks the proxy protocol");
  const tags = found.tags ?? {};
  if (withTags(tags, ownedTags(wanted.hostedCluster, resourceType, wanted.owner)) !== tags)
    changeable.push("its tags were changed");
  if (/^(failed|canceled)$/i.test(properties.provisioningState ?? ""))
    changeable.push(`its provisioning state is ${properties.provisioningState}`);
  return { fixed, changeable };
}

/** The body that gives a link service another owner, and leaves the rest of it as it is. */
export function adopted(found: PrivateLinkService, { clusterID, uid }: Owner): PrivateLinkService {
  const { tags = {}, ...rest } = withoutAnswers(found);
  return { ...rest, tags: { ...withTags(tags, { [ownerTag]: `${clusterID}/${uid}` }) } };
}

/** The body that puts right what can be changed, with all that others have set. */
export function repaired(found: PrivateLinkService, wanted: WantedService): PrivateLinkService {
  const { properties: settings, ...top } = withoutAnswers(found);
  const held = settings.ipConfigurations ?? [];
  const ipConfigurations = hasOneAddress(held) ? held : [address(natSubnetOf(found) ?? "")];
  const { tags } = newService({ ...wanted, natSubnet: "" });
  return {
    ...top,
    tags: { ...withTags(found.tags ?? {}, tags ?? {}) },
    properties: {
      ...settings,
      ipConfigurations,
      visibility: { subscriptions: [...wanted.allowed] },
      autoApproval: { subscriptions: [...wanted.allowed] },
      enableProxyProtocol: false,
    },
  };
}

/** The subnet in which a link service has its address. */
export function natSubnetOf({ properties }: PrivateLinkService): string | undefined {
  const held = properties.ipConfigurations ?? [];
  const primary = held.find((each) => each.properties.primary === true) ?? held[0];
  return primary?.properties.subnet?.id;
}

/** Who may see a link service: the guest, and whoever else the object names; nobody twice. */
export function allowedSubscriptions(guest: string, additional: readonly string[]): string[] {
  const seen = new Set<string>();
  return [guest, ...additional].filter((each) => {
    const key = each.toLowerCase();
    return !seen.has(key) && seen.add(key);
  });
}

/** Whose a link service is. */
export type Whose = { is: "ours" } | { is: "another"; whose: string };

/**
 * Whether a link service is the object's own: by our tag, or because HyperShift wrote both its tag and the status that names
 * the service. Without a cluster, which may be gone at a deletion, the uid of the object decides alone: nobody else has it.
 */
export function whose(
  { tags }: PrivateLinkService,
  us: { uid: string; clusterID: string | undefined; namedByStatus: boolean },
): Whose {
  const { uid, clusterID = ownerIn(tags)?.clusterID ?? "" } = us;
  const found = ownership(tags, { clusterID, uid });
  if (found.is === "ours") return { is: "ours" };
  if (found.is === "another") return { is: "another", whose: found.whose };
  if (us.namedByStatus && tagOf(tags, resourceTypeTag) !== undefined) return { is: "ours" };
  return {
    is: "another",
    whose:
      found.hostedCluster === undefined
        ? "somebody who put no owner on it"
        : `hosted cluster ${found.hostedCluster} of HyperShift`,
  };
}

function hasOneAddress(held: readonly LinkServiceIPConfiguration[]): boolean {
  const [one] = held;
  return (
    held.length === 1 &&
    one?.name === natConfiguration &&
    one.properties.primary !== false &&
    !/^static$/i.test(one.properties.privateIPAllocationMethod ?? "") &&
    !/^ipv6$/i.test(one.properties.privateIPAddressVersion ?? "")
  );
}

function sameSet(a: readonly string[] | undefined, b: readonly string[]): boolean {
  const [x, y] = [a ?? [], b].map((list) => new Set(list.map((each) => each.toLowerCase())));
  return x !== undefined && y !== undefined && x.size === y.size && [...x].every((e) => y.has(e));
}

function plainLocation(location: string | undefined): string {
  return (location ?? "").toLowerCase().replaceAll(" ", "");
}
