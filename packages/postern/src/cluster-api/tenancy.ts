import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { idKey } from "@postern/core/resource-id.ts";
import {
  allowsIdentity,
  allowsName,
  allowsResourceGroup,
  allowsSubscription,
  type Listing,
  listingOf,
  type TenantPolicy,
} from "@postern/core/tenant-policy.ts";
import { AzureError } from "../azure/errors.ts";
import type { GroupClaim } from "./group-claims.ts";
import { everyLink, managementLinkGroupName, managementLinkName } from "./names.ts";
import { asObject, entriesIn, textsIn } from "./private-links/spec/parse.ts";
import { privateLinksOf } from "./requested-links.ts";

/** Far more than a cluster has: each is looked up in the policy, and among the groups of all clusters. */
const mostGroups = 50;
/** Azure's limit of private endpoints for a network. */
const mostReferences = 1_000;

/** What decides whether Postern acts for an AzureCluster. */
export interface TenancyFacts {
  cluster: AzureCluster;
  policy: TenantPolicy;
  /** The domain in which clusters get their names, if they do. */
  baseDomain?: string | undefined;
  /** The names of its identity: `namespace/name`, and the client id where the identity exists. */
  identity: readonly string[];
  /** The namespaces with AzureClusters of which this is one of the `groupKeysOf`. */
  claimsOn(groupKey: string): readonly GroupClaim[];
  /** The AzureCluster of the management cluster, which belongs to whoever runs the operator. */
  management: AzureCluster | undefined;
}

/**
 * Why Postern does not act for an AzureCluster; undefined where it does:
 *
 *   the policy of its namespace    a resource group that it uses is also that of another namespace's  →
 *   forbids what it uses                                                                               NotAllowedByPolicy
 *   lists the group by its name                                                                        it acts
 *   lists it by a pattern or not   by its name, in the policy                                           refused
 *   lists it by a pattern or not   the management cluster's; one's with a pattern, if this one has       refused
 *                                  none; or an older one's
 *   lists it by a pattern or not   no                                                                   it acts
 *
 * The refusal is ResourceGroupTaken for the group of the cluster itself, and ResourceGroupOfAnother for those of its network,
 * of its private zone and of what its private endpoints connect to. Without this rule a tenant who shares an identity with
 * others could name their resource groups, and Postern would act in them by that identity.
 */
export function refusalOf(facts: TenancyFacts): AzureError | undefined {
  const { cluster, management } = facts;
  if (management !== undefined && keyOf(management) === keyOf(cluster)) return undefined;
  return forbidden(facts) ?? taken(facts);
}

/** Where an AzureCluster is, as keys for look-ups: its resource group and that of its network. */
export function groupKeysOf(cluster: AzureCluster): string[] {
  const groups = [groupIdOf(cluster), ...networkGroupsOf(cluster)];
  return [...new Set(groups.filter((each) => each !== undefined).map(idKey))];
}

function forbidden({ cluster, policy, baseDomain, identity, management }: TenancyFacts) {
  const namespace = cluster.metadata.namespace ?? "";
  const rules = policy.rulesOf(namespace);
  const refuse = (what: string) => notAllowed(`AzureCluster ${keyOf(cluster)}`, namespace, what);
  const named = identity.some((each) => allowsIdentity(rules, each));
  if (identity.length > 0 && !named) return refuse(`identity ${identity[0]}`);
  const name = `${cluster.metadata.name}.${baseDomain}`;
  if (baseDomain !== undefined && !allowsName(rules, name)) return refuse(`the name ${name}`);
  const own = management?.spec.subscriptionID ?? "";
  // A link that lets the management cluster in gives nothing away.
  const admitted = privateLinksOf(cluster).admitted.filter((each) => idKey(each) !== idKey(own));
  const groups = usedGroupsOf(cluster, management);
  if (groups === undefined)
    return refuse(`private endpoints to more than ${mostGroups} resource groups`);
  const subscription = [
    cluster.spec.subscriptionID ?? "",
    ...admitted,
    ...groups.map(subscriptionIn),
  ].find((each) => each !== "" && !allowsSubscription(rules, each));
  if (subscription !== undefined)
    return refuse(`subscription ${JSON.stringify(shown(subscription))}`);
  const group = groups.find((each) => !allowsResourceGroup(rules, each));
  return group === undefined ? undefined : refuse(`resource group ${shown(group)}`);
}

/** The refusal of something that the policy does not allow a namespace. */
export function notAllowed(whom: string, namespace: string, what: string): AzureError {
  return new AzureError({
    code: "NotAllowedByPolicy",
    what: `act in Azure for ${whom}`,
    detail: `the tenant policy does not allow ${what} for namespace ${namespace}`,
  });
}

function taken(facts: TenancyFacts): AzureError | undefined {
  const { cluster, management } = facts;
  const whom = `AzureCluster ${keyOf(cluster)}`;
  const own = idKey(groupIdOf(cluster) ?? "");
  for (const group of usedGroupsOf(cluster, management) ?? []) {
    const code = idKey(group) === own ? "ResourceGroupTaken" : "ResourceGroupOfAnother";
    const refusal = groupTaken(whom, { ...facts, object: cluster, group, code });
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

const precedence: Record<Listing, number> = { name: 2, pattern: 1, open: 0, none: -1 };

/** The refusal of a resource group to which another namespace has a better right. */
export function groupTaken(
  whom: string,
  facts: Pick<TenancyFacts, "policy" | "claimsOn" | "management"> & {
    object: KubeObject;
    group: string;
    code?: "ResourceGroupTaken" | "ResourceGroupOfAnother";
  },
): AzureError | undefined {
  const { object, group, policy, claimsOn, management, code = "ResourceGroupTaken" } = facts;
  const { namespace: own = "" } = object.metadata;
  const rightOf = (namespace: string) => precedence[listingOf(policy.rulesOf(namespace), group)];
  const right = rightOf(own);
  if (right === precedence.name) return undefined;
  const key = idKey(group);
  const isManagements =
    management !== undefined &&
    management.metadata.namespace !== own &&
    groupKeysOf(management).includes(key);
  const precedes = ({ namespace, age }: GroupClaim) => {
    if (namespace === own) return false;
    const better = rightOf(namespace) - right;
    return better > 0 || (better === 0 && age < ageOf(object));
  };
  if (!policy.namesGroup(group) && !isManagements && !claimsOn(key).some(precedes))
    return undefined;
  return new AzureError({
    code,
    what: `act in Azure for ${whom}`,
    detail: `resource group ${shown(group)} is that of a cluster in another namespace`,
  });
}

function groupIdOf({ metadata, spec }: AzureCluster): string | undefined {
  // The schema of CAPZ accepts an object without a spec.
  const { subscriptionID, resourceGroup } = spec ?? {};
  // CAPZ's webhook fills the group in the same way.
  return subscriptionID ? idIn(subscriptionID, resourceGroup || metadata.name) : undefined;
}

/** The keys of the resource groups on which the refusal of a cluster depends. */
export function usedGroupKeysOf(
  cluster: AzureCluster,
  management: AzureCluster | undefined,
): string[] {
  return (usedGroupsOf(cluster, management) ?? []).map(idKey);
}

/**
 * The resource groups that a cluster makes Postern act in or connect to, its own first; undefined where these are too many. The
 * links by which the management cluster is reached are there for everybody.
 */
function usedGroupsOf(
  cluster: AzureCluster,
  management: AzureCluster | undefined,
): string[] | undefined {
  const { spec } = cluster;
  const { privateDNSZoneResourceGroup: zoneGroup } = spec.networkSpec ?? {};
  const known = new Set(management ? managementLinkIds(management) : []);
  const references = referencesOf(cluster).filter((each) => !known.has(idKey(each)));
  if (references.length > mostReferences) return undefined;
  const groups = [
    groupIdOf(cluster),
    ...networkGroupsOf(cluster),
    ...(zoneGroup && spec.subscriptionID ? [idIn(spec.subscriptionID, zoneGroup)] : []),
    ...references.map(groupIn),
  ].filter((each) => each !== undefined);
  const distinct = new Map(groups.map((each) => [idKey(each), each]));
  return distinct.size > mostGroups ? undefined : [...distinct.values()];
}

/**
 * The resource groups of the network, in which subnets are changed. What reads the spec prefers the id, where it can be read: both
 * count, so that one cannot hide the other.
 */
function networkGroupsOf({ spec }: AzureCluster): string[] {
  const { id, resourceGroup } = spec?.networkSpec?.vnet ?? {};
  const named = resourceGroup && spec?.subscriptionID;
  return [
    ...(id ? [groupIn(id)] : []),
    ...(named ? [idIn(spec.subscriptionID ?? "", resourceGroup)] : []),
  ];
}

/** The ids of everything that the private endpoints of a cluster are to be connected to, or be part of. */
function referencesOf({ spec }: AzureCluster): string[] {
  return entriesIn(spec.networkSpec?.subnets)
    .flatMap(({ entry }) => entriesIn(asObject(entry)?.privateEndpoints))
    .flatMap(({ entry }) => {
      const { privateLinkServiceConnections: connections, applicationSecurityGroups } =
        asObject(entry) ?? {};
      const services = entriesIn(connections).map(
        (each) => asObject(each.entry)?.privateLinkServiceID,
      );
      return [...textsIn(services), ...textsIn(applicationSecurityGroups)];
    });
}

function managementLinkIds(management: AzureCluster): string[] {
  const { metadata, spec } = management;
  const { name } = metadata;
  const { links } = privateLinksOf(management);
  const type = "providers/Microsoft.Network/privateLinkServices";
  return everyLink.map((link) => {
    const group = managementLinkGroupName({ name, group: spec.resourceGroup || name, links }, link);
    const id = idIn(spec.subscriptionID ?? "", group);
    return idKey(`${id}/${type}/${managementLinkName(name, link)}`);
  });
}

/** The resource group of an id. An id that is in none stands for itself, so that no rule takes it for harmless. */
function groupIn(id: string): string {
  return /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+/i.exec(id)?.[0] ?? id;
}

function subscriptionIn(id: string): string {
  return /^\/subscriptions\/([^/]+)/i.exec(id)?.[1] ?? "";
}

function idIn(subscription: string, group: string): string {
  return `/subscriptions/${subscription}/resourceGroups/${group}`;
}

/** By which objects are compared: the lower text is the older one. */
export function ageOf({ metadata }: KubeObject): string {
  return `${metadata.creationTimestamp} ${metadata.namespace}`;
}

function shown(text: string): string {
  return text.slice(0, 200);
}
