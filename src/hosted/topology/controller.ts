import type { Feature } from "../../kube/feature.ts";
import { OwnObjects } from "../../kube/own-objects.ts";
import type { Also, MakeFeature } from "../../kube/runtime.ts";
import { whenItMatters } from "../../kube/when-it-matters.ts";
import { crdName } from "../../model/crd.ts";
import { type KubeObject, keyOf } from "../../model/kind.ts";
import { azurePrivateLinkService } from "../../model/kinds/azure-private-link-service.ts";
import {
  customResourceDefinition,
  namespace,
  service,
  serviceAccount,
} from "../../model/kinds/core.ts";
import { type HostedCluster, hostedCluster } from "../../model/kinds/hosted-cluster.ts";
import { hostedControlPlane } from "../../model/kinds/hosted-control-plane.ts";
import { route } from "../../model/kinds/route.ts";
import type { TenantPolicy } from "../../model/tenant-policy.ts";
import { byHostname, byPublishedHostname, hostnamesOf, publishedHostnames } from "../hostnames.ts";
import { conditions, controlPlaneNamespace, hostedClusterFinalizer } from "../names.ts";
import { standIns } from "../tenancy.ts";
import { apply } from "./apply.ts";
import { madeBy, madeByLabel } from "./marks.ts";
import { plan } from "./plan.ts";
import { topologyApplied } from "./reasons.ts";
import { type Stores, see } from "./see.ts";
import type { Seen, TopologyStep } from "./seen.ts";
import { sides } from "./wanted.ts";

/** Only ours: on OpenShift there are many, and where HyperShift makes them there are none of ours. */
const ourRoutes = {
  labelSelector: `${madeByLabel}=${madeBy[madeByLabel]}`,
  optional: true,
} as const;
const ourAccounts = { labelSelector: ourRoutes.labelSelector, metadataOnly: true } as const;
const fieldManager = "postern-topology";

/** What a HostedCluster says about its links and, where HyperShift is not there, all that HyperShift makes of it. */
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
    links.index("namespace", ({ metadata }) => [metadata.namespace ?? ""]);
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

    const feature: Feature<HostedCluster, Seen, TopologyStep> = {
      name: "topology",
      kind: hostedCluster,
      finalizer: hostedClusterFinalizer,
      conditions: [topologyApplied, ...Object.values(conditions)],
      see: (cluster, pass) => see(cluster, stores, crds, pass, policy),
      plan,
      apply: (step, pass) => apply(step, stores, pass),
    };
    const keysOf = (name: string | undefined) =>
      clusters.byIndex("control plane", name ?? "").map(keyOf);
    const within = ({ metadata }: KubeObject) => keysOf(metadata.namespace);
    const rivalsOf = (cluster: KubeObject) =>
      hostnamesOf(cluster as HostedCluster)
        .flatMap((hostname) => clusters.byIndex(byHostname, hostname).map(keyOf))
        .filter((key) => key !== keyOf(cluster));
    const also: Also[] = [
      {
        kind: hostedCluster,
        keys: whenItMatters(rivalsOf, (cluster) => [
          cluster.metadata.uid,
          hostnamesOf(cluster as HostedCluster),
        ]),
      },
      { kind: namespace, metadataOnly: true, keys: ({ metadata }) => keysOf(metadata.name) },
      { kind: hostedControlPlane, keys: within },
      { kind: azurePrivateLinkService, keys: within },
      { kind: service, keys: (one) => (one.metadata.name in sides.Service ? within(one) : []) },
      { kind: serviceAccount, ...ourAccounts, keys: within },
      { kind: route, ...ourRoutes, keys: within },
      {
        kind: customResourceDefinition,
        ...standIns,
        keys: ({ metadata }) =>
          metadata.name === crdName(hostedCluster) ? clusters.list().map(keyOf) : [],
      },
    ];
    return { feature: feature as Feature, also };
  };
}
