import type { PrivateLink } from "@postern/core/kinds/api-server-load-balancer.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { annotations } from "./names.ts";

/** Azure takes 8 on a load balancer. Each is compared with those of every other cluster. */
const mostLinks = 64;
/** Of all links together. */
const mostSubscriptions = 1_000;
/** Eight links take some 4 KB. What is longer is not parsed: it takes the event loop 10 ms for each 100 KB. */
const longestAnnotation = 16_384;

/** The links that an AzureCluster requests, or why the request is invalid. */
export interface RequestedLinks {
  links: readonly PrivateLink[];
  /** The subscriptions that the links let in. */
  admitted: readonly string[];
  problem?: string;
}

/** Objects of the cache do not change, and each is read in every reconcile of the management cluster. */
const parsed = new WeakMap<AzureCluster, RequestedLinks>();

/**
 * The private links of an AzureCluster: those of its load balancer, or where the installed CRD has no place for them,
 * those of the annotation. A list of somebody else's making may hold nulls.
 */
export function privateLinksOf(cluster: AzureCluster): RequestedLinks {
  const before = parsed.get(cluster);
  if (before !== undefined) return before;
  const requested = readLinks(cluster);
  parsed.set(cluster, requested);
  return requested;
}

function readLinks({ spec, metadata }: AzureCluster): RequestedLinks {
  const listed = named(spec.networkSpec?.apiServerLB?.privateLinks);
  if (listed.length > 0) return limited(listed, "spec.networkSpec.apiServerLB.privateLinks");
  const text = metadata.annotations?.[annotations.privateLinks];
  if (text === undefined || text.trim() === "") return { links: [], admitted: [] };
  const where = `annotation ${annotations.privateLinks}`;
  if (text.length > longestAnnotation)
    return unusable(`${where} is longer than ${longestAnnotation} characters · shorten it`);
  try {
    const parsed: unknown = JSON.parse(text);
    if (Array.isArray(parsed)) return limited(named(parsed), where);
  } catch {
    // Told below: the error of the parser would repeat a part of the annotation.
  }
  const problem = `the private links cannot be read · ${where} is not a list in JSON · write it as apiServerLB.privateLinks would be`;
  return { links: [], admitted: [], problem };
}

function limited(links: PrivateLink[], where: string): RequestedLinks {
  if (links.length > mostLinks)
    return unusable(`${where} has more than ${mostLinks} entries · remove some`);
  const lists: unknown[] = links.flatMap(
    ({ allowedSubscriptions, autoApprovedSubscriptions }): unknown[] => [
      allowedSubscriptions,
      autoApprovedSubscriptions,
    ],
  );
  const arrays = lists.filter((each): each is unknown[] => Array.isArray(each));
  const count = arrays.reduce((sum, { length }) => sum + length, 0);
  if (count > mostSubscriptions)
    return unusable(`${where} admits more than ${mostSubscriptions} subscriptions · remove some`);
  const admitted = arrays.flat().flatMap((each) => (typeof each === "string" ? each.trim() : []));
  return { links, admitted: [...new Set(admitted)] };
}

function unusable(why: string): RequestedLinks {
  return { links: [], admitted: [], problem: `the private links are not used · ${why}` };
}

function named(list: unknown): PrivateLink[] {
  if (!Array.isArray(list)) return [];
  return list.filter((each): each is PrivateLink => typeof each?.name === "string");
}
