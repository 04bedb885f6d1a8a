import { keyOf } from "@postern/core/kind.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { Change } from "../kube/cache.ts";
import { ageOf, groupKeysOf } from "./tenancy.ts";

/** A namespace with AzureClusters in a resource group. */
export interface GroupClaim {
  namespace: string;
  /** The age of the oldest of them; the lower text is the older one. */
  age: string;
}

interface Claimed extends GroupClaim {
  groups: readonly string[];
}

interface Claims {
  namespaces: Map<string, Claimants>;
  /** Changes with the answer. */
  stamp: number;
}

interface Claimants {
  /** By the keys of the clusters. */
  ages: Map<string, string>;
  /** Undefined after the oldest was removed. */
  oldest: string | undefined;
}

/**
 * Which namespaces have AzureClusters in which resource groups. A tenant may have thousands in one group, and each of their
 * reconciles asks: so the answer follows the changes, and is not computed from all clusters.
 */
export class GroupClaims {
  readonly #groups = new Map<string, Claims>();
  #stamp = 0;
  /** What each cluster was last observed to claim, by its key. */
  readonly #clusters = new Map<string, Claimed>();

  /** Follow one change of the cache of AzureClusters. */
  follow({ before, after }: Pick<Change<AzureCluster>, "before" | "after">): void {
    const cluster = after ?? before;
    if (cluster === undefined) return;
    const key = keyOf(cluster);
    const { namespace = "" } = cluster.metadata;
    const was = this.#clusters.get(key);
    const is = after && { age: ageOf(after), groups: groupKeysOf(after), namespace };
    if (is === undefined) this.#clusters.delete(key);
    else this.#clusters.set(key, is);
    const unchanged = is?.age === was?.age ? new Set(is?.groups) : undefined;
    for (const group of was?.groups ?? [])
      if (was !== undefined && !unchanged?.has(group)) this.#remove(group, key, was);
    for (const group of is?.groups ?? []) if (is !== undefined) this.#add(group, key, is);
  }

  /** The claims on a resource group, by one of the `groupKeysOf`. */
  of(group: string): GroupClaim[] {
    return [...(this.#groups.get(group)?.namespaces ?? [])].map(([namespace, claimants]) => {
      claimants.oldest ??= [...claimants.ages.values()].toSorted()[0] ?? "";
      return { namespace, age: claimants.oldest };
    });
  }

  /** Changes with what `of` answers for a resource group. */
  stampOf(group: string): number {
    return this.#groups.get(group)?.stamp ?? 0;
  }

  #add(group: string, key: string, { namespace, age }: Claimed): void {
    const claims = this.#groups.get(group) ?? { namespaces: new Map(), stamp: ++this.#stamp };
    this.#groups.set(group, claims);
    const found = claims.namespaces.get(namespace);
    if (found === undefined) {
      claims.namespaces.set(namespace, { ages: new Map([[key, age]]), oldest: age });
      claims.stamp = ++this.#stamp;
      return;
    }
    found.ages.set(key, age);
    if (found.oldest === undefined || age >= found.oldest) return;
    found.oldest = age;
    claims.stamp = ++this.#stamp;
  }

  #remove(group: string, key: string, { namespace, age }: Claimed): void {
    const claims = this.#groups.get(group);
    const found = claims?.namespaces.get(namespace);
    if (claims === undefined || found === undefined) return;
    found.ages.delete(key);
    // Where the oldest is not known now, an older one may have been removed before.
    if (found.oldest === undefined || found.oldest === age) claims.stamp = ++this.#stamp;
    if (found.oldest === age) found.oldest = undefined;
    if (found.ages.size === 0) claims.namespaces.delete(namespace);
    if (claims.namespaces.size === 0) this.#groups.delete(group);
  }
}
