import { crdName } from "@postern/core/crd.ts";
import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import {
  customResourceDefinition,
  namespace,
  service,
  serviceAccount,
} from "@postern/core/kinds/core.ts";
import { type HostedCluster, hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { hostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { route } from "@postern/core/kinds/route.ts";
import type { TenantPolicy } from "@postern/core/tenant-policy.ts";
import { byNamespace } from "../../kube/by-namespace.ts";
import { defineFeature } from "../../kube/feature.ts";
import { OwnObjects } from "../../kube/own-objects.ts";
import type { MakeFeature, WatchedKind } from "../../kube/runtime.ts";
import { policiesOf } from "../../kube/step-policy.ts";
import { whenChanged } from "../../kube/when-changed.ts";
import { byHostname, byPublishedHostname, hostnamesOf, publishedHostnames } from "../hostnames.ts";
import { conditions, controlPlaneNamespace, hostedClusterFinalizer } from "../names.ts";
import { standIns } from "../tenancy.ts";
import { apply } from "./apply.ts";
import { madeBy, madeByLabel } from "./desired/labels.ts";
import { exposures } from "./desired/objects.ts";
import { observe, type Stores } from "./observe.ts";
import { plan } from "./plan.ts";
import { topologyApplied } from "./reasons.ts";

/** Only those that we created: on OpenShift there are many others. */
const ourRoutes = {
  labelSelector: `${madeByLabel}=${madeBy[madeByLabel]}`,
  optional: true,
} as const;
const ourAccounts = { labelSelector: ourRoutes.labelSelector, metadataOnly: true } as const;
const fieldManager = "postern-topology";

/** The conditions of a HostedCluster about its links and, without HyperShift, all that HyperShift would create for it. */
export function topologyFeature({
  policy,
}: {
  /** Which namespace may use what. */
  policy?: TenantPolicy | undefined;
} = {}): MakeFeature {
  return ({ caches, kube }) => {
    const clusters = caches.of(hostedCluster);
    clusters.index("control plane", ({ metadata }) => [
      controlPlaneNamespace(metadata.namespace ?? "", metadata.name),
    ]);
    clusters.index(byHostname, hostnamesOf);
    const links = caches.of(azurePrivateLinkService);
    byNamespace(links);
    const crds = caches.of(customResourceDefinition, standIns);
    const stores: Stores = {
      HostedCluster: new OwnObjects(clusters, kube, fieldManager),
      Namespace: new OwnObjects(caches.of(namespace, { metadataOnly: true }), kube, fieldManager),
      HostedControlPlane: new OwnObjects(caches.of(hostedControlPlane), kube, fieldManager),
      ServiceAccount: new OwnObjects(caches.of(serviceAccount, ourAccounts), kube, fieldManager),
      Service: new OwnObjects(caches.of(service), kube, fieldManager),
      Route: new OwnObjects(caches.of(route, ourRoutes), kube, fieldManager),
      AzurePrivateLinkService: new OwnObjects(links, kube, fieldManager),
    };

    for (const { cache } of [stores.Service, stores.Route])
      cache.index(byPublishedHostname, publishedHostnames);

    const feature = defineFeature({
      name: "topology",
      kind: hostedCluster,
      finalizer: hostedClusterFinalizer,
      conditions: [topologyApplied, ...Object.values(conditions)],
      observe: async (cluster, reconcile) => ({
        observed: await observe(cluster, { stores, crds, policy }, reconcile),
        context: stores,
        policies: policiesOf(cluster),
      }),
      plan,
      apply,
    });
    const keysOf = (name: string | undefined) =>
      clusters.byIndex("control plane", name ?? "").map(keyOf);
    const within = ({ metadata }: KubeObject) => keysOf(metadata.namespace);
    const rivalsOf = (cluster: KubeObject) =>
      hostnamesOf(cluster as HostedCluster)
        .flatMap((hostname) => clusters.byIndex(byHostname, hostname).map(keyOf))
        .filter((key) => key !== keyOf(cluster));
    const watches: WatchedKind[] = [
      {
        kind: hostedCluster,
        keys: whenChanged(rivalsOf, (cluster) => [
          cluster.metadata.uid,
          hostnamesOf(cluster as HostedCluster),
        ]),
      },
      { kind: namespace, metadataOnly: true, keys: ({ metadata }) => keysOf(metadata.name) },
      { kind: hostedControlPlane, keys: within },
      { kind: azurePrivateLinkService, keys: within },
      { kind: service, keys: (one) => (one.metadata.name in exposures.Service ? within(one) : []) },
      { kind: serviceAccount, ...ourAccounts, keys: within },
      { kind: route, ...ourRoutes, keys: within },
      {
        kind: customResourceDefinition,
        ...standIns,
        keys: ({ metadata }) =>
          metadata.name === crdName(hostedCluster) ? clusters.list().map(keyOf) : [],
      },
    ];
    return { feature, watches };
  };
}
