import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { capiCluster } from "@postern/core/kinds/capi-cluster.ts";
import {
  type KubeadmControlPlane,
  kubeadmControlPlane,
} from "@postern/core/kinds/kubeadm-control-plane.ts";
import { defineFeature } from "../../kube/feature.ts";
import { OwnObjects } from "../../kube/own-objects.ts";
import type { MakeFeature, WatchedKind } from "../../kube/runtime.ts";
import { policiesOf } from "../../kube/step-policy.ts";
import { whenChanged } from "../../kube/when-changed.ts";
import { azureClusterKeyOf } from "../azure-clusters.ts";
import { annotations } from "../names.ts";
import { apply } from "./apply.ts";
import { ownerOf } from "./gates/gates.ts";
import { observe } from "./observe.ts";
import { plan } from "./plan.ts";

/** What the feature needs. */
export interface PausingParts {
  managementCluster: { namespace: string; name: string };
  /** The condition types of the AzureCluster that must be True before a control plane is built. */
  gates: readonly string[];
}

/** Control planes wait until their infrastructure can be reached. */
export function pausingFeature({ managementCluster, gates }: PausingParts): MakeFeature {
  const management = keyOf({ metadata: managementCluster });
  return ({ caches, kube }) => {
    const controlPlanes = caches.of(kubeadmControlPlane);
    controlPlanes.index("pausing-owner", (each) => {
      const owner = ownerOf(each);
      return owner ? [`${each.metadata.namespace}/${owner.name}`] : [];
    });
    const clusters = caches.of(capiCluster);
    clusters.index("pausing-infrastructure", (each) =>
      [azureClusterKeyOf(each)].filter((key) => key !== undefined),
    );
    const azureClusters = caches.of(azureCluster);
    const own = new OwnObjects(controlPlanes, kube, "postern-pausing");
    const sources = { kube, controlPlanes: own, clusters, azureClusters, management, gates };

    /** The Cluster of a control plane, and its AzureCluster. */
    const objectsOf = (controlPlane: KubeadmControlPlane) => {
      const owner = ownerOf(controlPlane);
      const cluster = owner && clusters.get(`${controlPlane.metadata.namespace}/${owner.name}`);
      return [cluster, cluster && azureClusters.get(azureClusterKeyOf(cluster) ?? "")];
    };
    const feature = defineFeature({
      name: "pausing",
      kind: kubeadmControlPlane,
      conditions: [],
      observe: async (controlPlane, reconcile) => ({
        observed: await observe(controlPlane, sources, reconcile),
        context: own,
        policies: policiesOf(controlPlane, ...objectsOf(controlPlane)),
      }),
      plan,
      apply,
    });

    const ofCluster = (cluster: KubeObject) =>
      controlPlanes.byIndex("pausing-owner", keyOf(cluster)).map(keyOf);
    // The management cluster concerns all, and is written often.
    const ofManagement = whenChanged(
      () => controlPlanes.list().filter(isOpen).map(keyOf),
      (changed) => (changed as AzureCluster).spec.networkSpec?.apiServerLB?.type,
    );
    const watches: WatchedKind[] = [
      { kind: capiCluster, keys: ofCluster },
      {
        kind: azureCluster,
        keys: (changed) => [
          ...clusters.byIndex("pausing-infrastructure", keyOf(changed)).flatMap(ofCluster),
          ...(keyOf(changed) === management ? ofManagement(changed) : []),
        ],
      },
    ];
    return { feature, watches };
  };
}

/** Whether it may be waiting for something. */
function isOpen({ metadata, status }: KubeadmControlPlane): boolean {
  const present = metadata.annotations?.[annotations.pausedFor] !== undefined;
  return present || !status?.initialization?.controlPlaneInitialized;
}
