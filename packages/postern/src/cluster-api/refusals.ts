import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { AzureError } from "../azure/errors.ts";
import { refusalOf, type TenancyFacts, usedGroupKeysOf } from "./tenancy.ts";

/** What a refusal was computed from. */
interface Known {
  management: AzureCluster | undefined;
  identity: string;
  groups: readonly string[];
  stamps: string;
  refusal: AzureError | undefined;
}

type Facts = TenancyFacts & {
  /** Changes with what `claimsOn` answers for a group. */
  stampOf(groupKey: string): number;
};

/**
 * The refusals of clusters, computed again when something changes on which they depend. A reconcile asks for those of all clusters
 * whose links are in one group: without this the work of a tenant with thousands in one group would grow with their square.
 */
export class Refusals {
  readonly #known = new WeakMap<AzureCluster, Known>();

  of(facts: Facts): AzureError | undefined {
    const { cluster, management } = facts;
    const identity = facts.identity.join();
    const before = this.#known.get(cluster);
    const isSame = before?.management === management && before?.identity === identity;
    const groups =
      before !== undefined && isSame ? before.groups : usedGroupKeysOf(cluster, management);
    const stamps = groups.map((each) => facts.stampOf(each)).join();
    if (before !== undefined && isSame && before.stamps === stamps) return before.refusal;
    const refusal = refusalOf(facts);
    this.#known.set(cluster, { management, identity, groups, stamps, refusal });
    return refusal;
  }
}
