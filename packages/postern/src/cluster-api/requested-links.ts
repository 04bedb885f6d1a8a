import type { PrivateLink } from "@postern/core/kinds/api-server-load-balancer.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { whereIn } from "./json-position.ts";
import { annotations } from "./names.ts";

/** Azure takes 8 on a load balancer. Each is compared with those of every other cluster. */
const mostLinks = 64;
/** Of all links together. */
const mostSubscriptions = 1_000;
/** Eight links take some 4 KB. What is longer is not parsed: it takes the event loop 10 ms for each 100 KB. */
const longestAnnotation = 16_384;

/** The links that an AzureCluster requests, or why the request is invalid. Of an invalid one nothing is used. */
export interface RequestedLinks {
  /** Where they are requested, in words. */
  source: string;
  /** The list as it is written. */
  entries: readonly unknown[];
  /** Those of the list with a name. */
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

/** Whether the links are requested in the spec, and not by the annotation. */
export function hasLinksInSpec({ spec }: AzureCluster): boolean {
  const listed: unknown = spec.networkSpec?.apiServerLB?.privateLinks;
  return Array.isArray(listed) && listed.some((each) => each !== null);
}

function readLinks(cluster: AzureCluster): RequestedLinks {
  const { spec, metadata } = cluster;
  if (hasLinksInSpec(cluster))
    return limited(
      spec.networkSpec?.apiServerLB?.privateLinks ?? [],
      "spec.networkSpec.apiServerLB.privateLinks",
    );
  const text = metadata.annotations?.[annotations.privateLinks] ?? "";
  const source = `annotation ${annotations.privateLinks}`;
  if (text.trim() === "") return { source, ...none };
  if (text.length > longestAnnotation)
    return unusable(source, `is longer than ${longestAnnotation} characters · shorten it`);
  const unreadable = (why: string) => ({
    source,
    ...none,
    problem: `the private links cannot be read · ${source} ${why} · write the list that spec.networkSpec.apiServerLB.privateLinks would hold, as JSON`,
  });
  try {
    const entries: unknown = JSON.parse(text);
    return Array.isArray(entries) ? limited(entries, source) : unreadable("is JSON, but no list");
  } catch (error) {
    return unreadable(`is no JSON: ${whereIn(text, error)}`);
  }
}

const none = { entries: [], links: [], admitted: [] };

function limited(entries: readonly unknown[], source: string): RequestedLinks {
  if (entries.length > mostLinks)
    return unusable(source, `has more than ${mostLinks} entries · remove some`);
  const links = named(entries);
  const lists: unknown[] = links.flatMap(
    ({ allowedSubscriptions, autoApprovedSubscriptions }): unknown[] => [
      allowedSubscriptions,
      autoApprovedSubscriptions,
    ],
  );
  const arrays = lists.filter((each): each is unknown[] => Array.isArray(each));
  const count = arrays.reduce((sum, { length }) => sum + length, 0);
  if (count > mostSubscriptions)
    return unusable(source, `admits more than ${mostSubscriptions} subscriptions · remove some`);
  const admitted = arrays.flat().flatMap((each) => (typeof each === "string" ? each.trim() : []));
  return { source, entries, links, admitted: [...new Set(admitted)] };
}

function unusable(source: string, why: string): RequestedLinks {
  return { source, ...none, problem: `the private links are not used · ${source} ${why}` };
}

function named(list: readonly unknown[]): PrivateLink[] {
  return list.filter(
    (each): each is PrivateLink => typeof (each as PrivateLink | null)?.name === "string",
  );
}
