import type { PrivateEndpointSpec } from "@postern/core/kinds/azure-cluster-network.ts";
import { idKey, lastSegment, sameId } from "@postern/core/resource-id.ts";
import { apiEndpointName, apiLinkName } from "../../names.ts";
import type { ClusterFacts } from "../spec/facts.ts";
import { admits, apiEndpoint, connectionsIn, serviceOf } from "./desired.ts";

/** What a workload cluster asks of the management cluster: an endpoint to one of its links. */
export interface Claim {
  cluster: ClusterFacts;
  link: string;
  endpoint: PrivateEndpointSpec;
}

/** A name that CAPZ's webhook takes. One that it refused would keep everybody else's endpoints out, too. */
const fitName = /^[-\w.]+$/;

/** What an id may consist of: anything else would be read as another path. */
const fitSegment = /^[^/?#%\\\s]+$/;

/** Why nothing can lead to a cluster or start from it; undefined where all is well. */
export function idProblem({ key, subscription, group }: ClusterFacts): string | undefined {
  if (subscription === "")
    return `AzureCluster ${key} has no subscription · no endpoint can connect to it · set spec.subscriptionID`;
  if (fitSegment.test(subscription) && fitSegment.test(group)) return undefined;
  return `subscription or resource group of AzureCluster ${key} cannot be part of a resource id · correct spec.subscriptionID or spec.resourceGroup`;
}

/** Where the link services of a cluster lie, as a key: whole segments, in no particular case. */
export function groupKey({ subscription, group }: ClusterFacts): string {
  return idKey(`${subscription}/${group}`);
}

/** The same of a link service. */
export function groupKeyOf(serviceId: string): string | undefined {
  const [, subscription, group] =
    /^\/subscriptions\/([^/]+)\/resourceGroups\/([^/]+)\/providers\//i.exec(serviceId) ?? [];
  return subscription === undefined ? undefined : idKey(`${subscription}/${group}`);
}

/** The service of an endpoint that lies in that group. */
function serviceIn(endpoint: PrivateEndpointSpec, group: string): string | undefined {
  return connectionsIn(endpoint)
    .map((each) => each.privateLinkServiceID ?? "")
    .find((id) => groupKeyOf(id) === group);
}

/** Whether an endpoint of the management cluster leads into the group of a cluster. */
export function connectsTo(endpoint: PrivateEndpointSpec, cluster: ClusterFacts): boolean {
  return serviceIn(endpoint, groupKey(cluster)) !== undefined;
}

/** Whether an endpoint has the name that we would have given it. By another name it is a person's. */
export function hasOurName(endpoint: PrivateEndpointSpec): boolean {
  return connectionsIn(endpoint).some(
    ({ privateLinkServiceID: id }) => endpoint.name === apiEndpointName(lastSegment(id ?? "")),
  );
}

/** Of the clusters in whose group a link service lies, those who have this link; all of them where nobody says so. */
export function ownersOf(
  serviceId: string,
  neighbours: readonly ClusterFacts[],
): readonly ClusterFacts[] {
  const name = idKey(lastSegment(serviceId));
  const having = neighbours.filter(({ links }) => links.some((each) => idKey(each.name) === name));
  return having.length > 0 ? having : neighbours;
}

/** Everything that a cluster may ask for: an endpoint for each of its links that admits the management cluster. */
export function claimsOf(cluster: ClusterFacts, management: ClusterFacts): Claim[] {
  if (cluster.balancer !== "Internal" || idProblem(cluster) !== undefined) return [];
  if (idProblem(management) !== undefined) return [];
  return cluster.links
    .filter((link) => fitName.test(link.name) && admits(link, management.subscription))
    .map((link) => ({
      cluster,
      link: link.name,
      endpoint: apiEndpoint(link, cluster, management),
    }));
}

/** Whether what is known of a cluster is to stay as it is: it is paused, or nobody can tell what it requests. */
export function isFrozen({ paused, deleting, balancer, linksProblem }: ClusterFacts): boolean {
  if (paused || deleting) return paused;
  if (balancer === "Internal") return linksProblem !== undefined;
  return balancer !== "Public";
}

/** Whether a claim counts: a link that is not ready gets no endpoint, and keeps the one that it has. */
export function counts({ cluster, endpoint }: Claim, there: PrivateEndpointSpec | undefined) {
  if (cluster.deleting || isFrozen(cluster)) return false;
  return cluster.linksReady || (there !== undefined && isFor(there, endpoint));
}

/**
 * How much a link is named after its cluster. The usual name, `<cluster>-api-privatelink`, is nobody else's: a cluster called
 * `two-api` has no right to that of `two`. Of other names that begin with a cluster's, the longest beginning counts.
 */
function entitlement({ link, cluster }: Claim): number {
  const [name, own] = [idKey(link), idKey(cluster.name)];
  if (name === idKey(apiLinkName(cluster.name))) return Number.POSITIVE_INFINITY;
  return name.startsWith(`${own}-`) ? own.length : 0;
}

/**
 * Who of several a name is kept for: of those with the best entitlement, whoever has it, else the oldest, although it may not
 * be ready yet. A newer cluster that is ready first must not take the name from it.
 */
export function entitledClaim(
  claims: readonly Claim[],
  there: PrivateEndpointSpec | undefined,
): Claim | undefined {
  const alive = claims.filter(({ cluster }) => !cluster.deleting);
  const best = Math.max(...alive.map(entitlement));
  const inOrder = alive.filter((each) => entitlement(each) === best).sort(bySeniority);
  const owner = there && inOrder.find((each) => isFor(there, each.endpoint) && counts(each, there));
  return owner ?? inOrder[0];
}

/**
 * Whether the endpoint of a claim is approved: only then is its address published; of several, one may still be pending. Whoever
 * writes that annotation keeps the approval of endpoints to its own links as it is, and no more.
 */
export function isApproved({ cluster }: Claim, management: ClusterFacts): boolean {
  return cluster.published && (cluster.connected || claimsOf(cluster, management).length === 1);
}

/** Who of several gets a name now. */
export function winningClaim(
  claims: readonly Claim[],
  there: PrivateEndpointSpec | undefined,
): Claim | undefined {
  const entitled = entitledClaim(claims, there);
  return entitled && counts(entitled, there) ? entitled : undefined;
}

/** Whether an endpoint leads to the same service as the one that is desired. */
export function isFor(there: PrivateEndpointSpec, desired: PrivateEndpointSpec): boolean {
  const service = serviceOf(desired);
  return connectionsIn(there).some((each) => sameId(each.privateLinkServiceID ?? "", service));
}

function bySeniority({ cluster: a }: Claim, { cluster: b }: Claim): number {
  if (a.created !== b.created) return a.created < b.created ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}
