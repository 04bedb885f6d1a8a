import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { PrivateEndpointSpec } from "@postern/core/kinds/azure-cluster-network.ts";
import type { KubeClient } from "../../../kube/client.ts";
import { predecessor } from "../../names.ts";
import type { ClusterFacts } from "./facts.ts";

/** By this name the API server knows which endpoints are ours. */
export const fieldManager = "postern-endpoints";

/** The endpoints that we have applied to a cluster, as `subnet/endpoint`. */
export function appliedTo({ metadata }: AzureCluster): ReadonlySet<string> {
  const all = (metadata.managedFields ?? []) as ManagedFields[];
  const own = all.find((each) => each.manager === fieldManager && each.operation === "Apply");
  return new Set(own === undefined ? [] : endpointsIn(own));
}

/**
 * The endpoints of a cluster that others wrote, as `subnet/endpoint`: neither we nor the operator before us. They may have the
 * name that we would give them, and a tenant's AzureCluster may name the group that they lead to; they are left alone.
 */
export function ownedByOthers({ metadata }: AzureCluster): ReadonlySet<string> {
  const all = (metadata.managedFields ?? []) as ManagedFields[];
  const isOwned = ({ manager = "" }: ManagedFields) =>
    [fieldManager, predecessor].includes(manager);
  const own = new Set(all.filter(isOwned).flatMap(endpointsIn));
  const others = all.filter((each) => !isOwned(each)).flatMap(endpointsIn);
  return new Set(others.filter((each) => !own.has(each)));
}

/** When anybody last wrote more of a cluster than its status, in milliseconds; 0 where nobody knows. */
export function lastWrittenAt({ metadata }: AzureCluster): number {
  const all = (metadata.managedFields ?? []) as ManagedFields[];
  const times = all.flatMap(({ subresource, time = "" }) =>
    subresource === "status" ? [] : [Date.parse(time)],
  );
  return Math.max(0, ...times.filter((each) => !Number.isNaN(each)));
}

function endpointsIn({ fieldsV1 }: ManagedFields): string[] {
  const subnets = fieldsV1?.["f:spec"]?.["f:networkSpec"]?.["f:subnets"] ?? {};
  return Object.entries(subnets).flatMap(([subnet, fields]) =>
    Object.keys(fields["f:privateEndpoints"] ?? {}).flatMap((endpoint) => {
      const [within, name] = [nameIn(subnet), nameIn(endpoint)];
      return within === undefined || name === undefined ? [] : [`${within}/${name}`];
    }),
  );
}

/**
 * The endpoints in other subnets than the one that holds them now which are ours, as `subnet/endpoint`: nodes may have got
 * another subnet. What a person put there looks the same, and only the API server knows who wrote it, so it is read where
 * one might be ours; the caches keep nothing of that.
 */
export async function appliedElsewhere(
  { others, namespace, name, uid }: ClusterFacts,
  mayBeOwned: (endpoint: PrivateEndpointSpec) => boolean,
  kube: KubeClient,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const none: ReadonlySet<string> = new Set();
  if (!others.some(({ endpoints }) => endpoints.some(mayBeOwned))) return none;
  const found = await kube.get<AzureCluster>({ kind: azureCluster, namespace, name }, signal);
  return found?.metadata.uid === uid && found !== undefined ? appliedTo(found) : none;
}

/** An endpoint that is ours and in another subnet than it should be. */
export interface Stray {
  subnet: string;
  endpoint: PrivateEndpointSpec;
}

/** Those of the endpoints in other subnets that are among the applied. */
export function straysOf(
  { others }: Pick<ClusterFacts, "others">,
  applied: ReadonlySet<string>,
): Stray[] {
  return others.flatMap(({ name: subnet, endpoints }) =>
    endpoints
      .filter((each) => applied.has(`${subnet}/${each.name}`))
      .map((endpoint) => ({ subnet, endpoint })),
  );
}

interface ManagedFields {
  manager?: string;
  operation?: string;
  subresource?: string;
  time?: string;
  fieldsV1?: {
    "f:spec"?: {
      "f:networkSpec"?: {
        "f:subnets"?: Record<string, { "f:privateEndpoints"?: Record<string, unknown> }>;
      };
    };
  };
}

/** The name in a key of a list by names: `k:{"name":"nodes"}`. */
function nameIn(key: string): string | undefined {
  if (!key.startsWith("k:")) return undefined;
  return (JSON.parse(key.slice(2)) as { name?: string }).name;
}
