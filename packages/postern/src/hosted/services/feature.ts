import { keyOf } from "@postern/core/kind.ts";
import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { service } from "@postern/core/kinds/core.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { hostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { type NodePool, nodePool } from "@postern/core/kinds/node-pool.ts";
import { byNamespace } from "../../kube/by-namespace.ts";
import { defineFeature } from "../../kube/feature.ts";
import { OwnObjects } from "../../kube/own-objects.ts";
import type { MakeFeature, WatchedKind } from "../../kube/runtime.ts";
import { policiesOf } from "../../kube/step-policy.ts";
import { conditions, controlPlaneFinalizer, oauthServer, privateRouter } from "../names.ts";
import { annotatedCluster, registeredIn, whenControlPlaneChanges } from "../tenancy.ts";
import { apply } from "./apply.ts";
import { observe } from "./observe.ts";
import { plan } from "./plan.ts";

/** These live in the namespace of the cluster's owner, which a process for a single control plane may not read. */
const elsewhere = { optional: true } as const;

/** The link objects of a control plane's Services, and the finalizer on the control plane while they need its credential. */
export function servicesFeature(): MakeFeature {
  return ({ caches, kube }) => {
    const registered = registeredIn(caches);
    const controlPlanes = caches.of(hostedControlPlane);
    controlPlanes.index("cluster", annotatedCluster);
    const pools = caches.of(nodePool, elsewhere);
    pools.index("cluster", (pool) => [clusterOf(pool)]);
    const linkCache = caches.of(azurePrivateLinkService);
    byNamespace(linkCache);
    const sources = {
      registered,
      services: caches.of(service),
      clusters: caches.of(hostedCluster, elsewhere),
      pools,
      links: new OwnObjects(linkCache, kube, "postern-observe"),
    };

    const feature = defineFeature({
      name: "observe",
      kind: hostedControlPlane,
      finalizer: controlPlaneFinalizer,
      // Present only while there is a problem: a link object has conditions of its own.
      conditions: [conditions.available],
      observe: async (controlPlane, reconcile) => ({
        observed: await observe(controlPlane, sources, reconcile),
        context: sources.links,
        policies: policiesOf(
          controlPlane,
          ...annotatedCluster(controlPlane).map((key) => sources.clusters.get(key)),
        ),
      }),
      plan,
      apply,
    });
    const inNamespace = byNamespace(controlPlanes);
    const ofCluster = (key: string) => controlPlanes.byIndex("cluster", key).map(keyOf);
    const watches: WatchedKind[] = [
      {
        kind: service,
        keys: (one) =>
          [privateRouter, oauthServer].includes(one.metadata.name) ? inNamespace(one) : [],
      },
      { kind: azurePrivateLinkService, keys: inNamespace },
      whenControlPlaneChanges((plane) => inNamespace(plane).filter((key) => key !== keyOf(plane))),
      { kind: hostedCluster, ...elsewhere, keys: (cluster) => ofCluster(keyOf(cluster)) },
      { kind: nodePool, ...elsewhere, keys: (pool) => ofCluster(clusterOf(pool as NodePool)) },
    ];
    return { feature, watches };
  };
}

/** The key of the HostedCluster that a pool's machines join. */
function clusterOf({ metadata, spec }: NodePool): string {
  return `${metadata.namespace}/${spec.clusterName}`;
}
