import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { azureAsoManagedControlPlane } from "@postern/core/kinds/azure-aso-managed.ts";
import { azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import {
  type AzureClusterIdentity,
  azureClusterIdentity,
} from "@postern/core/kinds/azure-cluster-identity.ts";
import { azureManagedControlPlane } from "@postern/core/kinds/azure-managed-control-plane.ts";
import { type CapiCluster, capiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { namespace } from "@postern/core/kinds/core.ts";
import { providerConfig } from "@postern/core/kinds/provider-config.ts";
import { defaultPolicy, type TenantPolicy } from "@postern/core/tenant-policy.ts";
import { defineFeature } from "../../kube/feature.ts";
import { OwnObjects } from "../../kube/own-objects.ts";
import type { MakeFeature, WatchedKind } from "../../kube/runtime.ts";
import { policiesOf } from "../../kube/step-policy.ts";
import { whenChanged } from "../../kube/when-changed.ts";
import { azureClusterKeyOf } from "../azure-clusters.ts";
import { providerConfigFinalizer } from "../names.ts";
import { apply } from "./apply.ts";
import { isSupported } from "./desired/desired.ts";
import { fieldManager, observe } from "./observe.ts";
import { plan } from "./plan.ts";

const metadataOnly = { metadataOnly: true } as const;
/** Crossplane, and the two ways to have AKS, are there on some management clusters only. */
const elsewhere = { optional: true } as const;

/** Crossplane's ProviderConfig of each Cluster whose identity it can use. */
export function providerConfigFeature(policy: TenantPolicy = defaultPolicy): MakeFeature {
  return ({ caches, kube }) => {
    const clusters = caches.of(capiCluster);
    clusters.index("provider-config-name", ({ metadata }) => [metadata.name]);
    clusters.index("provider-config-parts", partsOf);
    const sources = {
      kube,
      clusters,
      azureClusters: caches.of(azureCluster),
      managedControlPlanes: caches.of(azureManagedControlPlane, elsewhere),
      asoControlPlanes: caches.of(azureAsoManagedControlPlane, elsewhere),
      identities: caches.of(azureClusterIdentity),
      namespaces: caches.of(namespace, metadataOnly),
      configs: new OwnObjects(caches.of(providerConfig, elsewhere), kube, fieldManager),
      policy,
    };

    const feature = defineFeature({
      name: "provider-config",
      kind: capiCluster,
      finalizer: providerConfigFinalizer,
      conditions: [],
      observe: async (cluster, reconcile) => ({
        observed: await observe(cluster, sources, reconcile),
        context: sources.configs,
        policies: policiesOf(cluster, sources.azureClusters.get(azureClusterKeyOf(cluster) ?? "")),
      }),
      plan,
      apply,
    });

    const named = ({ metadata }: KubeObject) =>
      clusters.byIndex("provider-config-name", metadata.name).map(keyOf);
    const ofPart = (kind: string) =>
      whenChanged(
        (part) => clusters.byIndex("provider-config-parts", `${kind} ${keyOf(part)}`).map(keyOf),
        (part) => [Reflect.get(part, "spec"), policiesOf(part)],
      );
    const ofIdentity = whenChanged(
      () => clusters.list().filter(isSupported).map(keyOf),
      (identity) => (identity as AzureClusterIdentity).spec,
    );
    // An identity may admit namespaces by their labels.
    const ofNamespace = whenChanged(
      (changed) =>
        clusters
          .list()
          .filter((each) => each.metadata.namespace === changed.metadata.name)
          .map(keyOf),
      ({ metadata }) => metadata.labels,
    );
    const watches: WatchedKind[] = [
      // A Cluster of the same name may have gone, and with it the claim.
      { kind: capiCluster, keys: whenChanged(named, ({ metadata }) => metadata.finalizers) },
      { kind: providerConfig, ...elsewhere, keys: named },
      { kind: azureCluster, keys: ofPart("AzureCluster") },
      {
        kind: azureManagedControlPlane,
        ...elsewhere,
        keys: ofPart("AzureManagedControlPlane"),
      },
      {
        kind: azureAsoManagedControlPlane,
        ...elsewhere,
        keys: ofPart("AzureASOManagedControlPlane"),
      },
      { kind: azureClusterIdentity, keys: ofIdentity },
      { kind: namespace, ...metadataOnly, keys: ofNamespace },
    ];
    return { feature, watches };
  };
}

/** The objects that a Cluster refers to, as kind and key. */
function partsOf({ metadata, spec }: CapiCluster): string[] {
  return [spec.infrastructureRef, spec.controlPlaneRef].flatMap((part) =>
    part ? [`${part.kind} ${metadata.namespace}/${part.name}`] : [],
  );
}
