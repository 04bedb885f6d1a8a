import { keyOf } from "@postern/core/kind.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { ownerTag } from "@postern/core/ownership.ts";
import {
  nameOf,
  parseResourceId,
  type ResourceId,
  resourceGroupId,
  sameId,
} from "@postern/core/resource-id.ts";
import type { ArmClient } from "../../../../azure/arm.ts";
import {
  connectionsOf,
  type PrivateEndpoint,
  privateEndpoints,
} from "../../../../azure/gateways/private-endpoints.ts";
import type { KubeClient } from "../../../../kube/client.ts";
import type { Reconcile } from "../../../../kube/reconcile.ts";
import { tryRead } from "../../../../kube/try-read.ts";
import { clusterNameOf } from "../../../azure-clusters.ts";
import { capzTagPrefix } from "../../../names.ts";
import {
  claimsOf,
  groupKey,
  groupKeyOf,
  hasOurName,
  idProblem,
  isFrozen,
  ownersOf,
} from "../../claims/claims.ts";
import { connectionsIn, isAsDesired, serviceOf } from "../../claims/desired.ts";
import { lastWrittenAt, straysOf } from "../../spec/applied.ts";
import type { ClusterFacts } from "../../spec/facts.ts";
import type { Remaining } from "../observed.ts";

/** A cluster that is being deleted since that time, and those that share its resource group. */
export interface DeletedCluster {
  cluster: ClusterFacts;
  deletedAt: number;
  management: ClusterFacts;
  managementObject: AzureCluster | undefined;
  /** Every workload cluster in the same group, this one included. */
  neighbours: readonly ClusterFacts[];
  /** What is ours in other subnets of the management cluster, as `subnet/endpoint`. */
  applied: ReadonlySet<string>;
  /** What others wrote into its subnets, as `subnet/endpoint`. */
  foreign?: ReadonlySet<string>;
}

/** What of the management side still leads to a cluster that is being deleted, and to nobody else. */
export async function observeRemaining(
  deletion: DeletedCluster,
  arm: () => ArmClient,
  given: { maxAgeMs: number; since: RemainingSince; kube: KubeClient; reconcile: Reconcile },
): Promise<Remaining> {
  const { cluster, management } = deletion;
  const { maxAgeMs, reconcile } = given;
  const now = reconcile.now().getTime();
  const { since } = given;
  const inSpec = remainingInSpec(deletion);
  // A pause is nobody's failure to write.
  if (management.paused) since.delete(cluster.key);
  if (inSpec.length > 0) {
    const inSpecMs = since.ms(cluster.key, "asked for", now);
    return { inSpec, inAzure: [], inSpecMs, cleanMs: 0, failed: undefined };
  }
  const earlier = since.has(cluster.key) ? 0 : await unwrittenMs(deletion, given);
  const cleanMs = since.ms(cluster.key, "clean", now, earlier);
  const clean = { inSpec, inSpecMs: 0, cleanMs, failed: undefined };
  // The type never changes: nobody has ever created an endpoint to an API server that is public.
  const neverLed = cluster.balancer === "Public" && cluster.links.length === 0;
  if (neverLed || idProblem(management) !== undefined || idProblem(cluster) !== undefined)
    return { ...clean, inAzure: [] };
  const inAzure = await tryRead(reconcile, async () => {
    const gateway = privateEndpoints(arm());
    const group = resourceGroupId(management.subscription, management.group);
    const found = remainingInAzure(deletion, await gateway.list(group, maxAgeMs));
    const observations = found.map(async ({ id, isOwned }) => ({
      id,
      isOwned,
      observation: await gateway.observe(id, maxAgeMs),
    }));
    return Promise.all(observations);
  });
  if ("failed" in inAzure) return { ...clean, inAzure: [], failed: inAzure.failed };
  return { ...clean, inAzure };
}

/** For how long nobody has written the management cluster: for a dry run, and after a restart. It counts from the deletion on. */
async function unwrittenMs(
  { management, deletedAt }: DeletedCluster,
  { kube, reconcile }: { kube: KubeClient; reconcile: Reconcile },
): Promise<number> {
  const { namespace, name } = management;
  const place = { kind: azureCluster, namespace, name };
  const found = await kube.get<AzureCluster>(place, reconcile.signal);
  if (found === undefined || found.metadata.uid !== management.uid) return 0;
  const writtenAt = Math.max(deletedAt, lastWrittenAt(found));
  return Math.max(0, reconcile.date().getTime() - writtenAt);
}

/** Since when the spec of the management cluster has, or no longer has, endpoints to a cluster that is being deleted. */
export class RemainingSince {
  readonly #since = new Map<string, { state: "asked for" | "clean"; at: number }>();

  has(key: string): boolean {
    return this.#since.has(key);
  }

  /** For how long it has been so; `earlierMs` is what is known of the time before it was first asked. */
  ms(key: string, state: "asked for" | "clean", now: number, earlierMs = 0): number {
    const known = this.#since.get(key);
    if (known?.state === state) return now - known.at;
    this.#since.set(key, { state, at: now - earlierMs });
    return earlierMs;
  }

  delete(key: string): void {
    this.#since.delete(key);
  }
}

/** The endpoints of the spec that are only there for this cluster. */
export function remainingInSpec(deletion: DeletedCluster): string[] {
  const { cluster, management, applied, foreign } = deletion;
  const strays = straysOf(management, applied).map(({ endpoint }) => endpoint);
  const { subnet } = management;
  const own = (subnet?.endpoints ?? []).filter(
    (each) =>
      hasOurName(each) &&
      (!foreign?.has(`${subnet?.name}/${each.name}`) ||
        claimsOf(cluster, management).some(({ endpoint }) => isAsDesired(each, endpoint))),
  );
  return [...own, ...strays]
    .filter((each) =>
      connectionsIn(each).some(({ privateLinkServiceID: id = "" }) => isOnlyOwn(deletion, id)),
    )
    .map(({ name }) => name);
}

/** The endpoints in the management cluster's group that only lead to this cluster, and that no spec has. */
export function remainingInAzure(
  deletion: DeletedCluster,
  listed: readonly PrivateEndpoint[],
): { id: ResourceId; isOwned: boolean }[] {
  const requestedNames = namesIn(deletion.managementObject);
  return listed.flatMap((each) => {
    const id = parseResourceId(each.id ?? "", "Microsoft.Network/privateEndpoints");
    const connects = connectionsOf(each).some(({ properties }) =>
      isOnlyOwn(deletion, properties?.privateLinkServiceId ?? ""),
    );
    if (!connects || requestedNames.has(nameOf(id).toLowerCase())) return [];
    return [{ id, isOwned: isOwnedByManagement(each, deletion.managementObject) }];
  });
}

/** Whether a link service is this cluster's, and no cluster that is not being deleted requests an endpoint to it. */
function isOnlyOwn(
  { cluster, management, neighbours }: DeletedCluster,
  serviceId: string,
): boolean {
  if (groupKeyOf(serviceId) !== groupKey(cluster)) return false;
  const owners = ownersOf(serviceId, neighbours);
  const isDesired = (by: ClusterFacts) =>
    isFrozen(by) ||
    (!by.deleting &&
      claimsOf(by, management).some(({ endpoint }) => sameId(serviceOf(endpoint), serviceId)));
  return (
    owners.some(({ key }) => key === cluster.key) &&
    !owners.some((each) => each.key !== cluster.key && isDesired(each))
  );
}

/** The endpoints that any subnet of the management cluster requests. */
function namesIn(management: AzureCluster | undefined): Set<string> {
  const subnets = management?.spec.networkSpec?.subnets ?? [];
  const endpoints = subnets.flatMap((each) => each?.privateEndpoints ?? []);
  return new Set(endpoints.map((each) => each?.name.toLowerCase() ?? ""));
}

/** Whether CAPZ or Postern has created an endpoint for the management cluster. */
function isOwnedByManagement(
  { tags = {} }: PrivateEndpoint,
  management: AzureCluster | undefined,
): boolean {
  if (management === undefined) return false;
  const { name } = management.metadata;
  const names = [name, clusterNameOf(management) ?? name];
  return Object.entries(tags).some(([tag, value]) => {
    const key = tag.toLowerCase();
    // As the private-links feature writes it: a uid would be another after a move or a restored backup.
    if (key === ownerTag) return value === keyOf(management);
    return (
      value === "owned" && names.some((each) => key === `${capzTagPrefix}${each}`.toLowerCase())
    );
  });
}
