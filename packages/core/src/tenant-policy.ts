import { isBelow, plainName, sameName } from "./dns-name.ts";
import { idKey } from "./resource-id.ts";

/** What the clusters of one namespace may use. An absent list allows everything of its kind, except for domains. */
export interface TenantRules {
  /**
   * Hostnames must be one of these domains or below one. Without the list a HostedCluster publishes no hostname, and a cluster
   * of Cluster API may have any name in the base domain.
   */
  domains?: readonly string[];
  /** Subscription ids: that of the cluster, and those that its link service accepts connections from. */
  subscriptions?: readonly string[];
  /** Resource groups by id, `/subscriptions/S/resourceGroups/G`. */
  resourceGroups?: readonly string[];
  /** Client ids of workload identities, or `namespace/name` of AzureClusterIdentities. */
  identities?: readonly string[];
}

/** The rules of one namespace, or of several that share a prefix. */
export interface TenantEntry extends TenantRules {
  /** A namespace of HostedClusters or AzureClusters; a `*` at the end stands for any rest. */
  namespace: string;
}

/** Who may use what: the first entry that matches a namespace applies. */
export interface TenantPolicy {
  rulesOf(namespace: string): TenantRules;
  /**
   * For whom else than `by` a namespace of a control plane is reserved: the longest name of a tenant in the policy with which it
   * begins, and a dash.
   */
  reservedFor(namespace: string, by: string): string | undefined;
  /** Whether an entry lists a resource group by its name, and not by a pattern. */
  namesGroup(id: string): boolean;
}

const nothing: TenantRules = { domains: [], subscriptions: [], resourceGroups: [], identities: [] };

/**
 * Without a policy no hostname is allowed, because Postern publishes hostnames by its own permissions. Everything else
 * is used by the tenant's own credential, or in front of the tenant's own load balancer.
 */
export const defaultPolicy: TenantPolicy = {
  rulesOf: () => ({}),
  reservedFor: () => undefined,
  namesGroup: () => false,
};

/** A policy for a management cluster with a single tenant, and for local mode. */
export const openPolicy: TenantPolicy = {
  rulesOf: () => ({ domains: ["*"] }),
  reservedFor: () => undefined,
  namesGroup: () => false,
};

/** A namespace that no entry matches may use nothing. */
export function tenantPolicy(entries: readonly TenantEntry[]): TenantPolicy {
  const named = entries.map(({ namespace }) => namespace).filter((each) => !each.endsWith("*"));
  const groups = new Set(entries.flatMap(({ resourceGroups = [] }) => resourceGroups.map(idKey)));
  return {
    namesGroup: (id) => groups.has(idKey(id)),
    reservedFor: (namespace, by) => {
      const fitting = named.filter((each) => namespace.startsWith(`${each}-`));
      const longest = fitting.sort((a, b) => b.length - a.length)[0];
      return longest === by ? undefined : longest;
    },
    rulesOf: (namespace) =>
      entries.find((entry) => matchesPattern(namespace, entry.namespace)) ?? nothing,
  };
}

/** Whether a hostname is one of the allowed domains, or below one. What is no hostname, such as a list of them, is not. */
export function allowsHost({ domains = [] }: TenantRules, hostname: string): boolean {
  const host = plainName(hostname);
  if (!isHostname(host)) return false;
  return domains.some((domain) => {
    if (domain === "*") return true;
    const allowed = domain.replace(/^\*\./, "");
    return sameName(host, allowed) || isBelow(host, allowed);
  });
}

/** Whether a cluster of Cluster API may have a name in the base domain. */
export function allowsName(rules: TenantRules, hostname: string): boolean {
  return rules.domains === undefined || allowsHost(rules, hostname);
}

/** Whether a subscription is allowed. */
export function allowsSubscription({ subscriptions }: TenantRules, id: string): boolean {
  return isListed(subscriptions, idKey(id));
}

/** Whether a resource group is allowed. */
export function allowsResourceGroup({ resourceGroups }: TenantRules, id: string): boolean {
  return isListed(resourceGroups, idKey(id));
}

/** How a policy allows a resource group: by its name, by a pattern, or by having no list; or not at all. */
export type Listing = "name" | "pattern" | "open" | "none";

/** How the rules allow a resource group. A pattern says which names are allowed, and not whose an existing group is. */
export function listingOf({ resourceGroups }: TenantRules, id: string): Listing {
  if (resourceGroups === undefined) return "open";
  const fitting = resourceGroups.map(idKey).filter((each) => matchesPattern(idKey(id), each));
  if (fitting.length === 0) return "none";
  return fitting.includes(idKey(id)) ? "name" : "pattern";
}

/** Whether an identity is allowed: a client id, or `namespace/name`. */
export function allowsIdentity({ identities }: TenantRules, identity: string): boolean {
  return isListed(identities, identity.toLowerCase());
}

function isListed(list: readonly string[] | undefined, value: string): boolean {
  return list === undefined || list.some((each) => matchesPattern(value, idKey(each)));
}

function matchesPattern(value: string, pattern: string): boolean {
  return pattern.endsWith("*") ? value.startsWith(pattern.slice(0, -1)) : value === pattern;
}

function isHostname(host: string): boolean {
  const label = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
  return host.length <= 253 && host.split(".").every((each) => label.test(each));
}
