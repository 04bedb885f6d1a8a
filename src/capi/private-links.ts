import type { PrivateLink } from "../model/kinds/api-server-load-balancer.ts";
import type { AzureCluster } from "../model/kinds/azure-cluster.ts";
import { annotations } from "./names.ts";

/** Azure takes 8 on a load balancer. Each is compared with those of every other cluster. */
const mostLinks = 64;

/** The links that an AzureCluster asks for, or what is wrong with how it asks. */
export interface AskedLinks {
  links: readonly PrivateLink[];
  problem?: string;
}

/**
 * The private links of an AzureCluster: those of its load balancer, or where the installed CRD has no place for them,
 * those of the annotation. A list of somebody else's making may hold nulls.
 */
export function privateLinksOf({ spec, metadata }: AzureCluster): AskedLinks {
  const listed = named(spec.networkSpec?.apiServerLB?.privateLinks);
  if (listed.length > mostLinks) return tooMany("spec.networkSpec.apiServerLB.privateLinks");
  if (listed.length > 0) return { links: listed };
  const text = metadata.annotations?.[annotations.privateLinks];
  if (text === undefined || text.trim() === "") return { links: [] };
  try {
    const parsed: unknown = JSON.parse(text);
    if (Array.isArray(parsed)) {
      const links = named(parsed);
      return links.length > mostLinks
        ? tooMany(`annotation ${annotations.privateLinks}`)
        : { links };
    }
  } catch {
    // Told below: the error of the parser would repeat a part of the annotation.
  }
  return {
    links: [],
    problem: `the private links cannot be read · annotation ${annotations.privateLinks} is not a list in JSON · write it as apiServerLB.privateLinks would be`,
  };
}

function tooMany(where: string): AskedLinks {
  const problem = `the private links are not used · ${where} has more than ${mostLinks} entries · remove some`;
  return { links: [], problem };
}

function named(list: unknown): PrivateLink[] {
  if (!Array.isArray(list)) return [];
  return list.filter((each): each is PrivateLink => typeof each?.name === "string");
}
