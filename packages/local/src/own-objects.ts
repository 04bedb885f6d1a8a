import { type Kind, type KubeObject, keyOf } from "@postern/core/kind.ts";
import { azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { capiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { namespace } from "@postern/core/kinds/core.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { hostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { kubeadmControlPlane } from "@postern/core/kinds/kubeadm-control-plane.ts";
import { isMade } from "postern/hosted/topology/desired/labels.ts";
import { collectionPath, type KubeClient, parseBody } from "postern/kube/client.ts";
import { KubeError } from "postern/kube/errors.ts";
import { LocalError } from "./local-error.ts";

/** On everything that a scenario makes: on a cluster of somebody's it tells what local mode may work on. */
export const localLabel = "postern.io/local";

/** The kinds whose objects the operator writes to. */
const worked: readonly Kind[] = [
  hostedCluster,
  hostedControlPlane,
  azurePrivateLinkService,
  azureCluster,
  capiCluster,
  kubeadmControlPlane,
];

/** Whether a scenario or the operator made an object. */
export function isOwned(object: KubeObject): boolean {
  return object.metadata.labels?.[localLabel] === "true" || isMade(object);
}

/**
 * Refuse a cluster on which the operator would work on what others rely on, as if Azure were the simulator's. What lies in a
 * namespace of ours is ours too.
 */
export async function refuseOthers(
  client: KubeClient,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  const ours = (await listed(client, namespace, signal)).filter(isOwned);
  const names = new Set(ours.map(({ metadata }) => metadata.name));
  const others: string[] = [];
  for (const kind of worked)
    for (const object of await listed(client, kind, signal))
      if (!isOwned(object) && !names.has(object.metadata.namespace ?? ""))
        others.push(`${kind.kind} ${keyOf(object)}`);
  const [first, ...more] = others;
  if (first === undefined) return;
  throw new LocalError(
    "ClusterInUse",
    `the cluster of ${file} has ${first}${more.length > 0 ? ` and ${more.length} more` : ""}, which local mode did not create · local mode would manage them with the simulator as their Azure · use a cluster without such objects, omit --kubeconfig, or label the objects to experiment with ${localLabel}=true`,
  );
}

/** The metadata of all objects of a kind; none where the kind is not served. */
async function listed(client: KubeClient, kind: Kind, signal: AbortSignal): Promise<KubeObject[]> {
  const accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
  try {
    const text = await client.request("GET", collectionPath(kind, undefined), { accept, signal });
    // Where there are none, the API server writes null.
    return parseBody<{ items: KubeObject[] | null }>(text).items ?? [];
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return [];
    throw error;
  }
}
