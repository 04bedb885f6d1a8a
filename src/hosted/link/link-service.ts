import {
  type LinkServiceIPConfiguration,
  type PrivateLinkService,
  withoutAnswers,
} from "../../azure/gateways/private-link-services.ts";
import {
  installationTag,
  isLeftBehind,
  type Owner,
  ownedTags,
  ownerIn,
  ownership,
  ownerTag,
} from "../../model/ownership.ts";
import { sameId } from "../../model/resource-id.ts";
import { type Tags, tagOf, withTags } from "../../model/tags.ts";

/** The name of the one address that a link service translates to. */
const natConfiguration = "pls-nat-ip";
const resourceType = "private-link-service";

/** A link service as it should be. */
export interface WantedService {
  hostedCluster: string;
  owner: Owner;
  installation: string;
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
    tags: tagsOf(wanted),
    properties: {
      loadBalancerFrontendIpConfigurations: [{ id: wanted.frontend }],
      ipConfigurations: [address(wanted.natSubnet)],
      visibility: { subscriptions: [...wanted.allowed] },
      autoApproval: { subscriptions: [...wanted.allowed] },
      enableProxyProtocol: false,
    },
  };
}

function tagsOf({ hostedCluster, owner, installation }: WantedService): Tags {
  return { ...ownedTags(hostedCluster, resourceType, owner), [installationTag]: installation };
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
  if (withTags(tags, tagsOf(wanted)) !== tags) changeable.push("its tags were changed");
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
  return {
    ...top,
    tags: { ...withTags(found.tags ?? {}, tagsOf(wanted)) },
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
export type Whose = { is: "ours" } | { is: "left" } | { is: "another"; whose: string };

/** What an object can show for a link service under one of its names. */
export interface Claimant {
  uid: string;
  /** Of its verified HostedCluster; absent where that is gone. */
  clusterID: string | undefined;
  hostedCluster: string | undefined;
  /** Another HostedCluster says that it has the same clusterID: names alone prove nothing then. */
  sharesClusterID: boolean;
  namedByStatus: boolean;
  /** Whether a load balancer frontend was created for the object's own Service. */
  isOwnFrontend: (id: string) => boolean;
  /** Whether an object with this uid exists in this management cluster. */
  exists: (uid: string) => boolean;
  installation: string;
}

/**
 * Whether a link service under a name of the object is the object's own:
 *
 *   its owner tag     proof beside the name                                            →
 *   ours                                                                               ours
 *   same cluster      the object with that uid does not exist; clusterID not shared;   left: taken over
 *                     tag of this installation, or in front of our own frontend
 *   another's                                                                          another's
 *   none              it is in front of a load balancer frontend of our Service        ours: the tag was lost
 *   none              our status names it, clusterID not shared, no other cluster's    ours: the tag was lost, or
 *                     tag on it                                                        HyperShift created it
 *   none              nothing                                                          another's
 *
 * Without the cluster, which may be gone at a deletion, the uid in the tag decides alone: no other object has it.
 */
export function whose(found: PrivateLinkService, us: Claimant): Whose {
  const { tags } = found;
  const owner = ownerIn(tags);
  const { uid, clusterID = owner?.clusterID ?? "", sharesClusterID } = us;
  const is = ownership(tags, { clusterID, uid });
  if (is.is === "ours") return { is: "ours" };
  if (is.is === "another") {
    const left =
      !sharesClusterID && us.clusterID !== undefined && isLeftBehind(tags, us, us.exists);
    return left && isOfInstallation(found, us)
      ? { is: "left" }
      : { is: "another", whose: is.whose };
  }
  if (isInFront(found, us)) return { is: "ours" };
  const othersTag = is.hostedCluster !== undefined && is.hostedCluster !== us.hostedCluster;
  if (us.namedByStatus && us.clusterID !== undefined && !sharesClusterID && !othersTag)
    return { is: "ours" };
  return {
    is: "another",
    whose:
      is.hostedCluster === undefined
        ? "somebody who put no owner on it"
        : "another hosted cluster of HyperShift",
  };
}

/** Several management clusters may have one management group, and the objects of another are not known here. */
function isOfInstallation(found: PrivateLinkService, us: Claimant): boolean {
  const installation = tagOf(found.tags, installationTag);
  return installation === undefined ? isInFront(found, us) : installation === us.installation;
}

function isInFront({ properties }: PrivateLinkService, us: Claimant): boolean {
  const frontends = properties.loadBalancerFrontendIpConfigurations ?? [];
  return frontends.some(({ id }) => id !== undefined && us.isOwnFrontend(id));
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
