import type { Limit } from "./bucket.ts";

/** The three things that Azure counts. */
export type Kind = "reads" | "writes" | "deletes";

/**
 * The limits of Azure, by name: of each identity in a subscription and region; of all identities of the subscription together; of the
 * resource provider Microsoft.Network in the subscription, where deletes count as writes; and of the DNS reads among its reads.
 */
export const limitNames = [
  "reads",
  "writes",
  "deletes",
  "subscription-reads",
  "subscription-writes",
  "subscription-deletes",
  "network-reads",
  "network-writes",
  "dns-reads",
] as const;
export type LimitName = (typeof limitNames)[number];

/** A limit for each name. */
export type Limits = Readonly<Record<LimitName, Limit>>;

const inFiveMinutes = (count: number): Limit => ({ burst: count, perSecond: count / 300 });

/** What Azure allows: https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling */
export const azureLimits: Limits = {
  reads: { burst: 250, perSecond: 25 },
  writes: { burst: 200, perSecond: 10 },
  deletes: { burst: 200, perSecond: 10 },
  "subscription-reads": { burst: 15 * 250, perSecond: 15 * 25 },
  "subscription-writes": { burst: 15 * 200, perSecond: 15 * 10 },
  "subscription-deletes": { burst: 15 * 200, perSecond: 15 * 10 },
  "network-reads": inFiveMinutes(10_000),
  "network-writes": inFiveMinutes(1_000),
  "dns-reads": inFiveMinutes(500),
};

/** Which resource provider answers, as far as it has limits of its own. */
export type Provider = "network" | "dns" | "none";

/** The provider of a request, by the type in its path: `Microsoft.Network/privateDnsZones`. */
export function providerOf(resource: string): Provider {
  const type = resource.toLowerCase();
  // Operations of private DNS are polled at `privateDnsOperationStatuses`, and count as its reads.
  if (/^microsoft\.network\/(privatedns|dnszones)/.test(type)) return "dns";
  return type.startsWith("microsoft.network/") ? "network" : "none";
}

/** The limits that a request counts towards beside its identity's, the most specific last. */
export function sharedLimitsOf(kind: Kind, provider: Provider): LimitName[] {
  const names: LimitName[] = [`subscription-${kind}`];
  if (provider !== "none") names.push(kind === "reads" ? "network-reads" : "network-writes");
  if (provider === "dns" && kind === "reads") names.push("dns-reads");
  return names;
}
