import { AzureError } from "../azure/errors.ts";
import { type KubeObject, keyOf } from "../model/kind.ts";
import type { AzureCluster } from "../model/kinds/azure-cluster.ts";
import { idKey } from "../model/resource-id.ts";
import {
  allowsIdentity,
  allowsName,
  allowsResourceGroup,
  allowsSubscription,
  type TenantPolicy,
} from "../model/tenant-policy.ts";
import { privateLinksOf } from "./private-links.ts";

/** What decides whether Postern acts for an AzureCluster. */
export interface TenancyFacts {
  cluster: AzureCluster;
  policy: TenantPolicy;
  /** The domain in which clusters get their names, if they do. */
  baseDomain?: string | undefined;
  /** The names of its identity: `namespace/name`, and the client id where the identity exists. */
  identity: readonly string[];
  /** The AzureClusters with the same resource group, this one included. */
  neighbours: readonly AzureCluster[];
  /** The AzureCluster of the management cluster, which belongs to whoever runs the operator. */
  management: AzureCluster | undefined;
}

/**
 * Why Postern does not act for an AzureCluster; undefined where it does:
 *
 *   the policy of its namespace   the resource group is also that of another namespace's  →
 *   forbids what it uses                                                                   NotAllowedByPolicy
 *   lists the resource group                                                               it acts
 *   lists no resource groups      the management cluster's, one that the policy lists       ResourceGroupTaken
 *                                 it for, or an older one's
 *   lists no resource groups      no                                                        it acts
 *
 * Without the last rule a tenant who shares an identity with others could name their resource group, and Postern would
 * count its objects among theirs.
 */
export function refusalOf(facts: TenancyFacts): AzureError | undefined {
  const { cluster, management } = facts;
  if (management !== undefined && keyOf(management) === keyOf(cluster)) return undefined;
  return forbidden(facts) ?? taken(facts);
}

/** Where an AzureCluster is, as a key for look-ups; undefined where it does not say. */
export function groupKeyOf(cluster: AzureCluster): string | undefined {
  const group = groupIdOf(cluster);
  return group && idKey(group);
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
  const subscription = [cluster.spec.subscriptionID ?? "", ...admitted].find(
    (each) => each !== "" && !allowsSubscription(rules, each),
  );
  if (subscription !== undefined)
    return refuse(`subscription ${JSON.stringify(shown(subscription))}`);
  const group = [groupIdOf(cluster), networkGroupOf(cluster)].find(
    (each) => each !== undefined && !allowsResourceGroup(rules, each),
  );
  return group === undefined ? undefined : refuse(`resource group ${shown(group)}`);
}

/** The refusal of something that the policy does not allow a namespace. */
export function notAllowed(whom: string, namespace: string, what: string): AzureError {
  return new AzureError({
    code: "NotAllowedByPolicy",
    what: `act in Azure for ${whom}`,
    said: `the tenant policy does not allow ${what} for namespace ${namespace}`,
  });
}

function taken(facts: TenancyFacts): AzureError | undefined {
  const { cluster } = facts;
  const group = groupIdOf(cluster);
  return group === undefined
    ? undefined
    : groupTaken(`AzureCluster ${keyOf(cluster)}`, { ...facts, object: cluster, group });
}

/** The refusal of a resource group that is that of an AzureCluster in another namespace. */
export function groupTaken(
  whom: string,
  facts: Pick<TenancyFacts, "policy" | "neighbours" | "management"> & {
    object: KubeObject;
    group: string;
  },
): AzureError | undefined {
  const { object, group, policy, neighbours, management } = facts;
  const listed = ({ metadata }: KubeObject) =>
    policy.rulesOf(metadata.namespace ?? "").resourceGroups;
  if (listed(object) !== undefined) return undefined;
  const goesFirst = (other: AzureCluster) => {
    if (management !== undefined && keyOf(other) === keyOf(management)) return true;
    const rules = policy.rulesOf(other.metadata.namespace ?? "");
    if (!allowsResourceGroup(rules, group)) return false;
    return listed(other) !== undefined || ageOf(other) < ageOf(object);
  };
  const first = neighbours.find(
    (each) => each.metadata.namespace !== object.metadata.namespace && goesFirst(each),
  );
  return (
    first &&
    new AzureError({
      code: "ResourceGroupTaken",
      what: `act in Azure for ${whom}`,
      said: `resource group ${shown(group)} is that of a cluster in another namespace`,
    })
  );
}

function groupIdOf({ metadata, spec }: AzureCluster): string | undefined {
  // CAPZ's webhook fills the group in the same way.
  return spec.subscriptionID
    ? idIn(spec.subscriptionID, spec.resourceGroup || metadata.name)
    : undefined;
}

/** The resource group of the network, where it is another one: subnets in it are changed too. */
function networkGroupOf({ spec }: AzureCluster): string | undefined {
  const { id, resourceGroup } = spec.networkSpec?.vnet ?? {};
  const [within] = /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+/i.exec(id ?? "") ?? [];
  if (within !== undefined) return within;
  return resourceGroup && spec.subscriptionID
    ? idIn(spec.subscriptionID, resourceGroup)
    : undefined;
}

function idIn(subscription: string, group: string): string {
  return `/subscriptions/${subscription}/resourceGroups/${group}`;
}

function ageOf({ metadata }: KubeObject): string {
  return `${metadata.creationTimestamp} ${metadata.namespace}`;
}

function shown(text: string): string {
  return text.slice(0, 200);
}
