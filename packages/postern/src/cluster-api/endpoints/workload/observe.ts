import { keyOf } from "@postern/core/kind.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { AzureClusterIdentity } from "@postern/core/kinds/azure-cluster-identity.ts";
import type { PrivateEndpointSpec } from "@postern/core/kinds/azure-cluster-network.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { idKey, resourceGroupId, resourceIn } from "@postern/core/resource-id.ts";
import type { ArmClient } from "../../../azure/arm.ts";
import type { Observation } from "../../../azure/gateway.ts";
import {
  type PrivateEndpoint,
  privateEndpoints,
} from "../../../azure/gateways/private-endpoints.ts";
import { maxReadAgeMs } from "../../../azure/read-cache.ts";
import type { WatchCache } from "../../../kube/cache.ts";
import type { KubeClient } from "../../../kube/client.ts";
import type { Reconcile } from "../../../kube/reconcile.ts";
import { tryRead } from "../../../kube/try-read.ts";
import { clusterKeyOf } from "../../azure-clusters.ts";
import { reachOf } from "../../endpoint-address.ts";
import { identityOf } from "../../identities.ts";
import {
  annotations,
  conditions,
  endpointsFinalizer,
  everyLink,
  type ManagementLink,
  managementEndpointName,
} from "../../names.ts";
import {
  type Claim,
  claimsOf,
  connectsTo,
  groupKey,
  groupKeyOf,
  hasOurName,
  idProblem,
  isFor,
} from "../claims/claims.ts";
import { claimStateOf, ownersIn } from "../claims/decide.ts";
import { managementEndpoint, serviceOf } from "../claims/desired.ts";
import { appliedElsewhere, ownedByOthers, straysOf } from "../spec/applied.ts";
import { type ClusterFacts, factsOf, type RefusalOf } from "../spec/facts.ts";
import type { LastWrites } from "../spec/write.ts";
import {
  observeRemaining,
  type RemainingSince,
  remainingInSpec,
} from "./cluster/observe-delete.ts";
import type { Observed, ObservedClaim, ObservedConnection } from "./observed.ts";

/** Azure as each cluster reaches it: by its own identity. What cannot be had is an `Explained` error. */
export interface WorkloadArmClients {
  of(cluster: AzureCluster, reconcile: Reconcile): ArmClient;
  refusalOf?: RefusalOf;
}

/** What is known of Kubernetes. */
export interface Caches {
  azureClusters: Pick<WatchCache<AzureCluster>, "get" | "byIndex">;
  clusters: Pick<WatchCache<CapiCluster>, "get">;
  identities: Pick<WatchCache<AzureClusterIdentity>, "get">;
  managementKey: string;
  managementLinks: readonly ManagementLink[];
  refusalOf?: RefusalOf | undefined;
}

/** What `observe` reads from. */
export interface Sources extends Caches {
  clients: WorkloadArmClients;
  writes: LastWrites;
  since: RemainingSince;
  kube: KubeClient;
}

/** The look-ups by which clusters find those whom they share something with. */
export const byLink = "endpoints-link";
export const byGroup = "endpoints-group";

/** One that is not connected yet is read again, but not by every reconcile that something else causes. */
const unconnectedAgeMs = 15_000;

/** Everything that a plan needs: what Kubernetes says from the caches, what the endpoints are from Azure. */
export async function observe(
  cached: AzureCluster,
  sources: Sources,
  reconcile: Reconcile,
): Promise<Observed & { arm?: ArmClient }> {
  const object = await sources.writes.newest(cached, reconcile.signal);
  const { kube } = sources;
  const observed = observeKubernetes(
    object,
    sources,
    await appliedToIt(object, sources, reconcile.signal),
  );
  const { management, cluster } = observed;
  if (management === undefined || observed.isManagement || cluster.paused) return observed;
  if (observed.refused !== undefined) return observed;
  const managementObject = sources.azureClusters.get(sources.managementKey);
  const armFor = (of: AzureCluster | undefined) => {
    if (of === undefined) throw new Error("a cluster that is not there was to be looked at");
    return sources.clients.of(of, reconcile);
  };
  let arm: ArmClient | undefined;
  const managementArm = () => {
    arm = armFor(managementObject);
    return arm;
  };
  if (cluster.deleting) {
    if (!observed.hasFinalizer || management.deleting) return observed;
    const neighbours = neighboursOf(groupKey(cluster), sources);
    const mayBeOwned = (each: PrivateEndpointSpec) => hasOurName(each) && connectsTo(each, cluster);
    const applied = await appliedElsewhere(management, mayBeOwned, kube, reconcile.signal);
    const deletedAt = Date.parse(object.metadata.deletionTimestamp ?? "");
    const deletion = { cluster, deletedAt, management, managementObject, neighbours, applied };
    const foreign =
      remainingInSpec(deletion).length > 0
        ? await foreignIn(management, kube, reconcile.signal)
        : new Set<string>();
    const remaining = await observeRemaining({ ...deletion, foreign }, managementArm, {
      maxAgeMs: Math.min(unconnectedAgeMs, maxReadAgeMs(reconcile)),
      since: sources.since,
      kube,
      reconcile,
    });
    return { ...observed, remaining, ...(arm && { arm }) };
  }
  sources.since.delete(cluster.key);
  const maxAgeMs = maxReadAgeMs(reconcile);
  const [claims, connections] = await Promise.all([
    tryRead(reconcile, () => observeAll(observed.claims, management, managementArm, maxAgeMs)),
    tryRead(reconcile, () =>
      observeAll(observed.connections, cluster, () => armFor(object), maxAgeMs),
    ),
  ]);
  return {
    ...observed,
    ...("failed" in claims ? { claimsFailed: claims.failed } : { claims }),
    ...("failed" in connections ? { connectionsFailed: connections.failed } : { connections }),
    ...(arm && { arm }),
  };
}

/** What others wrote into the subnets of the management cluster: only the API server knows. */
async function foreignIn(
  { namespace, name }: ClusterFacts,
  kube: KubeClient,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const now = await kube.get<AzureCluster>({ kind: azureCluster, namespace, name }, signal);
  return now === undefined ? new Set() : ownedByOthers(now);
}

/** What is ours in other subnets of the cluster itself, as `subnet/endpoint`. */
function appliedToIt(
  object: AzureCluster,
  sources: Sources,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const cluster = facts(object, sources);
  const [, management = ""] = sources.managementKey.split("/");
  const names = everyLink.map((link) => managementEndpointName(cluster.name, management, link));
  return appliedElsewhere(cluster, ({ name }) => names.includes(name), sources.kube, signal);
}

/** What the caches say; and what only the API server tells. */
export function observeKubernetes(
  object: AzureCluster,
  sources: Caches,
  applied: ReadonlySet<string> = new Set(),
): Observed {
  const { azureClusters, managementKey } = sources;
  const cluster = facts(object, sources);
  const found = azureClusters.get(managementKey);
  const management = found && facts(found, sources);
  const isManagement = cluster.key === managementKey;
  const has = (key: string) => object.metadata.annotations?.[key];
  return {
    cluster,
    isManagement,
    hasFinalizer: object.metadata.finalizers?.includes(endpointsFinalizer) ?? false,
    abandoned: has(annotations.abandon) === "true",
    published: {
      api: has(annotations.apiServerAddress),
      management: has(annotations.managementAddress),
    },
    condition: object.status?.conditions?.find(({ type }) => type === conditions.links),
    managementKey,
    management,
    refused: sources.refusalOf?.(object)?.explain(),
    tenantsDiffer: found !== undefined && tenantsDiffer(object, found, sources),
    claims: management ? observedClaims(cluster, management, sources) : [],
    claimsFailed: undefined,
    connections: management
      ? observedConnections(cluster, management, sources.managementLinks, applied)
      : [],
    connectionsFailed: undefined,
    remaining: undefined,
  };
}

function facts(object: AzureCluster, { clusters }: Caches): ClusterFacts {
  return factsOf(object, clusters.get(clusterKeyOf(object) ?? ""));
}

function observedClaims(
  cluster: ClusterFacts,
  management: ClusterFacts,
  sources: Caches,
): ObservedClaim[] {
  return claimsOf(cluster, management).map((claim) => {
    const desired = idKey(claim.endpoint.name);
    const there = management.subnet?.endpoints.find(({ name }) => idKey(name) === desired);
    const group = there && groupKeyOf(serviceOf(there));
    const neighbours = group === undefined ? [] : neighboursOf(group, sources);
    const owners = there ? ownersIn(there, new Map([[group ?? "", neighbours]])) : [];
    const state = claimStateOf(claim, rivalsOf(claim, management, sources), there, owners);
    return { claim, state, observation: undefined };
  });
}

/** The claims of other clusters on the same name. */
function rivalsOf({ link, cluster }: Claim, management: ClusterFacts, sources: Caches): Claim[] {
  return sources.azureClusters
    .byIndex(byLink, link.toLowerCase())
    .filter((each) => keyOf(each) !== cluster.key && keyOf(each) !== management.key)
    .filter((each) => sources.refusalOf?.(each) === undefined)
    .flatMap((each) => claimsOf(facts(each, sources), management))
    .filter((each) => idKey(each.link) === idKey(link));
}

/** The workload clusters whose link services lie in one group. */
export function neighboursOf(group: string, sources: Caches): ClusterFacts[] {
  return sources.azureClusters
    .byIndex(byGroup, group)
    .filter((each) => keyOf(each) !== sources.managementKey)
    .filter((each) => sources.refusalOf?.(each) === undefined)
    .map((each) => facts(each, sources));
}

function observedConnections(
  cluster: ClusterFacts,
  management: ClusterFacts,
  configured: readonly ManagementLink[],
  applied: ReadonlySet<string>,
): ObservedConnection[] {
  const strays = straysOf(cluster, applied);
  const inOrder = [...configured, ...everyLink.filter((each) => !configured.includes(each))];
  return inOrder.map((link) => {
    const desired = managementEndpoint(cluster, management, link);
    const found = cluster.subnet?.endpoints.find(({ name }) => name === desired.name);
    const isConfigured = configured.includes(link);
    // An old name that leads elsewhere is somebody else's.
    const isOwn = isConfigured || (found !== undefined && isFor(found, desired));
    return {
      link,
      stray: strays.find(({ endpoint }) => endpoint.name === desired.name),
      configured: isConfigured,
      desired,
      found: isOwn ? found : undefined,
      observation: undefined,
    };
  });
}

/** The desired endpoint, where the spec has it and Azure may have it. */
export function endpointToObserve(
  each: ObservedClaim | ObservedConnection,
): PrivateEndpointSpec | undefined {
  if ("claim" in each) return each.state.is === "exists" ? each.claim.endpoint : undefined;
  return each.found && each.desired;
}

async function observeAll<T extends ObservedClaim | ObservedConnection>(
  all: readonly T[],
  cluster: ClusterFacts,
  arm: () => ArmClient,
  maxAgeMs: number,
): Promise<T[]> {
  if (!all.some(endpointToObserve) || idProblem(cluster) !== undefined) return [...all];
  const group = resourceGroupId(cluster.subscription, cluster.group);
  const gateway = privateEndpoints(arm());
  // For all clusters of a group one list tells what is there.
  await gateway.list(group, maxAgeMs);
  const observeEndpoint = async (
    endpoint: PrivateEndpointSpec,
  ): Promise<Observation<PrivateEndpoint>> => {
    const id = resourceIn(group, "Microsoft.Network/privateEndpoints", endpoint.name);
    const service = serviceOf(endpoint);
    const isKnown = (observation: Observation<PrivateEndpoint>) =>
      ["connected", "changing"].includes(reachOf(observation, service).is) ||
      observation.state === "failed";
    const known = await gateway.observe(id, maxAgeMs);
    if (isKnown(known)) return known;
    await gateway.list(group, unconnectedAgeMs);
    const fresh = await gateway.observe(id, unconnectedAgeMs);
    // A list does not tell the addresses of interfaces.
    return reachOf(fresh, service).is.startsWith("without") ? gateway.observe(id, 0) : fresh;
  };
  return Promise.all(
    all.map(async (each) => {
      const endpoint = endpointToObserve(each);
      return endpoint === undefined
        ? each
        : { ...each, observation: await observeEndpoint(endpoint) };
    }),
  );
}

function tenantsDiffer(one: AzureCluster, other: AzureCluster, { identities }: Caches): boolean {
  const tenantOf = (cluster: AzureCluster) => {
    const named = identityOf(cluster);
    return named && identities.get(keyOf({ metadata: named }))?.spec.tenantID?.toLowerCase();
  };
  const [a, b] = [tenantOf(one), tenantOf(other)];
  return a !== undefined && b !== undefined && a !== b;
}
