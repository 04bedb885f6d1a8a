import type { PrivateEndpointSpec } from "@postern/core/kinds/azure-cluster-network.ts";
import { idKey } from "@postern/core/resource-id.ts";
import type { Stray } from "../spec/applied.ts";
import type { ClusterFacts, EndpointSubnet } from "../spec/facts.ts";
import {
  type Claim,
  claimsOf,
  entitledClaim,
  groupKey,
  groupKeyOf,
  hasOurName,
  isApproved,
  isFor,
  isFrozen,
  ownersOf,
  winningClaim,
} from "./claims.ts";
import { connectionsIn, isAsDesired, ownFieldsOf, withApprovalOf } from "./desired.ts";

/** What the subnet of the management cluster is to hold of ours, and how that differs from what it holds. */
export interface Decision {
  /** All that is ours, by name. */
  endpoints: readonly PrivateEndpointSpec[];
  added: readonly string[];
  corrected: readonly string[];
  removed: readonly string[];
  /** What is ours in other subnets: what stays there, and the names of what goes. */
  retained: readonly Stray[];
  removedElsewhere: readonly string[];
}

/**
 * Decide about every endpoint of the subnet, for all workload clusters at once:
 *
 *   leads to a known cluster  has our name  of its clusters one  a claim on its name  →
 *   no                                                                                somebody else's: left alone
 *   yes                       no                                                      the same
 *   yes                       yes, and another wrote it                               the same
 *   yes                       yes           is frozen                                 kept as it is
 *   yes                       yes           lives                wins                 corrected where it differs
 *   yes                       yes           any                  none                 removed
 *   -                         -             lives                wins                 added
 *
 * What is ours in another subnet, because the nodes have got a new one, goes from there: what is still desired is added
 * here. Of a frozen cluster it stays where it is.
 */
export function decide(
  subnet: EndpointSubnet,
  management: ClusterFacts,
  clusters: readonly ClusterFacts[],
  strays: readonly Stray[] = [],
  foreign: ReadonlySet<string> = new Set(),
): Decision {
  // Names without case: to the API server they are two, to Azure one.
  const found = Map.groupBy(subnet.endpoints, ({ name }) => idKey(name));
  const groups = Map.groupBy(clusters, groupKey);
  const claims = Map.groupBy(
    clusters.flatMap((each) => claimsOf(each, management)),
    ({ endpoint }) => idKey(endpoint.name),
  );
  const own = new Map<string, PrivateEndpointSpec>();
  const added: string[] = [];
  const corrected: string[] = [];
  const removed: string[] = [];
  for (const there of subnet.endpoints) {
    const key = idKey(there.name);
    const owners = ownersIn(there, groups);
    const isSomebodyElses = !hasOurName(there) && !claims.has(key);
    if (owners.length === 0 || isSomebodyElses) continue;
    // A restored backup has another writer: what is just as we would write it is ours all the same.
    const isOurForm = claims.get(key)?.some(({ endpoint }) => isAsDesired(there, endpoint));
    if (foreign.has(`${subnet.name}/${there.name}`) && !isOurForm) continue;
    if (owners.some(isFrozen)) {
      own.set(there.name, ownFieldsOf(there));
      continue;
    }
    const won = winningClaim(claims.get(key) ?? [], found.get(key)?.[0]);
    const desired = won && desiredOf(won, there, management);
    if (desired?.name === there.name) {
      own.set(there.name, desired);
      if (!isAsDesired(there, desired)) corrected.push(there.name);
    } else removed.push(there.name);
  }
  for (const [key, all] of claims) {
    if (found.has(key)) continue;
    const desired = winningClaim(all, undefined)?.endpoint;
    if (desired === undefined) continue;
    own.set(desired.name, desired);
    added.push(desired.name);
  }
  const endpoints = [...own.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const retained = strays.filter(({ endpoint }) => ownersIn(endpoint, groups).some(isFrozen));
  const removedElsewhere = strays
    .filter((each) => !retained.includes(each))
    .map(({ endpoint }) => endpoint.name);
  return { endpoints, added, corrected, removed, retained, removedElsewhere };
}

/** One that leads where it should keeps the spelling of its name, and an approved one who approved it. */
function desiredOf(
  claim: Claim,
  there: PrivateEndpointSpec,
  management: ClusterFacts,
): PrivateEndpointSpec {
  const { endpoint } = claim;
  if (!isFor(there, endpoint)) return endpoint;
  const desired = isApproved(claim, management) ? withApprovalOf(there, endpoint) : endpoint;
  return { ...desired, name: there.name };
}

/** The clusters that an endpoint is for, of all that are known. */
export function ownersIn(
  endpoint: PrivateEndpointSpec,
  groups: ReadonlyMap<string, readonly ClusterFacts[]>,
): readonly ClusterFacts[] {
  return connectionsIn(endpoint).flatMap(({ privateLinkServiceID: id = "" }) =>
    ownersOf(id, groups.get(groupKeyOf(id) ?? "") ?? []),
  );
}

/** Whether one claim has what it requests, must wait for it, or cannot have it because of another. */
export type ClaimState =
  | { is: "exists" }
  | { is: "pending" }
  /** `by` is a cluster, where it is one. */
  | { is: "taken"; by: string | undefined };

/** The state of a claim, given all claims on the same name, the endpoint of that name, and its owners. */
export function claimStateOf(
  claim: Claim,
  rivals: readonly Claim[],
  there: PrivateEndpointSpec | undefined,
  owners: readonly ClusterFacts[],
): ClaimState {
  if (there !== undefined && owners.length === 0) return { is: "taken", by: undefined };
  const entitled = entitledClaim([claim, ...rivals], there)?.cluster;
  const another = owners.find((each) => isFrozen(each)) ?? entitled;
  if (another !== undefined && another.key !== claim.cluster.key)
    return { is: "taken", by: another.key };
  return there !== undefined && isFor(there, claim.endpoint) ? { is: "exists" } : { is: "pending" };
}
