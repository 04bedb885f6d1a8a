import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { NodePool } from "@postern/core/kinds/node-pool.ts";
import { paused } from "@postern/core/pause.ts";
import type { WatchCache } from "../../kube/cache.ts";
import type { OwnObjects } from "../../kube/own-objects.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import { annotations, clusterAnnotation, oauthServer, privateRouter } from "../names.ts";
import { type Registered, unverifiedMessage } from "../tenancy.ts";
import type { Observed } from "./observed.ts";

/** What `observe` reads from. */
export interface Sources {
  registered: Registered;
  services: WatchCache<Service>;
  clusters: WatchCache<HostedCluster>;
  /** With the index `cluster`: `<namespace>/<name of the HostedCluster>`. */
  pools: WatchCache<NodePool>;
  /** With the index `namespace`. */
  links: OwnObjects<AzurePrivateLinkService>;
}

/** Read everything once. */
export async function observe(
  controlPlane: HostedControlPlane,
  { registered, services, clusters, pools, links }: Sources,
  reconcile: Reconcile,
): Promise<Observed> {
  const { namespace = "" } = controlPlane.metadata;
  const clusterKey = controlPlane.metadata.annotations?.[clusterAnnotation] ?? "";
  const cluster = clusters.get(clusterKey);
  const names = [privateRouter, oauthServer];
  const others = links.cache
    .byIndex("namespace", namespace)
    .filter(({ metadata }) => !names.includes(metadata.name));
  const ours = await Promise.all(
    names.map((name) => links.get({ namespace, name }, reconcile.signal)),
  );
  return {
    controlPlane,
    unverified: unverifiedMessage(controlPlane, registered),
    pause: paused((cluster ?? controlPlane).spec.pausedUntil, reconcile.date()),
    services: names.flatMap((name) => services.get(`${namespace}/${name}`) ?? []),
    links: [...ours.filter((link) => link !== undefined), ...others],
    endpointSubnetID: (cluster ?? controlPlane).metadata.annotations?.[annotations.endpointSubnet],
    poolSubnetID: firstSubnet(pools.byIndex("cluster", clusterKey)),
  };
}

/** The subnet of the oldest pool that has one: pools are replaced, the endpoint is not moved. */
function firstSubnet(pools: readonly NodePool[]): string | undefined {
  const age = ({ metadata }: NodePool) => `${metadata.creationTimestamp} ${metadata.name}`;
  return [...pools]
    .sort((a, b) => (age(a) < age(b) ? -1 : 1))
    .flatMap(({ spec }) => spec.platform.azure?.subnetID || [])[0];
}
