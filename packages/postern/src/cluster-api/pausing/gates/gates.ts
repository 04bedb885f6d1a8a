import type { OwnerReference } from "@postern/core/kind.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import type { KubeadmControlPlane } from "@postern/core/kinds/kubeadm-control-plane.ts";
import { azureClusterKeyOf, isPrivate } from "../../azure-clusters.ts";
import type { Gates } from "../observed.ts";

/** What decides whether a control plane has something to wait for. */
export interface GateFacts {
  controlPlane: KubeadmControlPlane;
  /** The condition types that must be True. */
  desired: readonly string[];
  management: AzureCluster | undefined;
  /** The Cluster that owns the control plane, where it is one. */
  cluster: CapiCluster | undefined;
  azureCluster: AzureCluster | undefined;
}

/** What a control plane waits for. What does not exist yet, or is paused, changes nothing. */
export function gatesOf(facts: GateFacts): Gates {
  const { controlPlane, desired, management, cluster, azureCluster } = facts;
  if (cluster?.spec.paused) return { state: "unknown" };
  if (desired.length === 0) return off("no condition is waited for any more");
  if (management === undefined) return { state: "unknown" };
  if (!isPrivate(management)) return off("the management cluster is not private");
  if (controlPlane.status?.initialization?.controlPlaneInitialized)
    return off("the control plane has been reached already");
  if (controlPlane.metadata.deletionTimestamp) return off("it is being deleted");
  if (ownerOf(controlPlane) === undefined) return off("no Cluster owns it");
  if (cluster === undefined) return { state: "unknown" };
  if (azureClusterKeyOf(cluster) === undefined) return off("its Cluster has no AzureCluster");
  if (azureCluster === undefined) return { state: "unknown" };
  if (azureCluster.metadata.uid === management.metadata.uid)
    return off("it is the management cluster's own");
  const unmet = desired.filter((type) => !isTrue(azureCluster, type));
  return unmet.length > 0 ? { state: "waiting", unmet } : { state: "met" };
}

/** The Cluster that controls an object. Another kind of owner is none. */
export function ownerOf({ metadata }: KubeadmControlPlane): OwnerReference | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner?.kind === "Cluster" && owner.apiVersion.startsWith("cluster.x-k8s.io/")
    ? owner
    : undefined;
}

/** The list may hold two of one type, and then the first one counts. */
function isTrue({ status }: AzureCluster, type: string): boolean {
  return status?.conditions?.find((each) => each.type === type)?.status === "True";
}

function off(why: string): Gates {
  return { state: "off", why };
}
