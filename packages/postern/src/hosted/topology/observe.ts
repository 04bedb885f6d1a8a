import { crdName } from "@postern/core/crd.ts";
import type { KubeObject } from "@postern/core/kind.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Namespace, Service } from "@postern/core/kinds/core.ts";
import { type HostedCluster, hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { Route } from "@postern/core/kinds/route.ts";
import { paused } from "@postern/core/pause.ts";
import type { TenantPolicy } from "@postern/core/tenant-policy.ts";
import type { WatchCache } from "../../kube/cache.ts";
import type { OwnObjects } from "../../kube/own-objects.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import { controlPlaneAccount, controlPlaneNamespace } from "../names.ts";
import { forbiddenOf, takenFrom } from "./cluster/forbidden.ts";
import { exposures } from "./desired/objects.ts";
import type { Observed } from "./observed.ts";

/** Everything that this feature reads and writes. */
export interface Stores {
  HostedCluster: OwnObjects<HostedCluster>;
  Namespace: OwnObjects<Namespace>;
  HostedControlPlane: OwnObjects<HostedControlPlane>;
  ServiceAccount: OwnObjects<KubeObject>;
  Service: OwnObjects<Service>;
  Route: OwnObjects<Route>;
  /** With the index `namespace`. */
  AzurePrivateLinkService: OwnObjects<AzurePrivateLinkService>;
}

/** What `observe` reads from. */
export interface Sources {
  stores: Stores;
  /** The definitions of the kinds that Postern installs where HyperShift is absent. */
  crds: WatchCache;
  policy?: TenantPolicy | undefined;
}

/** Read everything once. Of what HyperShift creates only the links are read. */
export async function observe(
  object: HostedCluster,
  { stores, crds, policy }: Sources,
  reconcile: Reconcile,
): Promise<Observed> {
  const { namespace: home = "", name } = object.metadata;
  const { signal } = reconcile;
  const namespace = controlPlaneNamespace(home, name);
  const hyperShift = crds.get(crdName(hostedCluster)) === undefined;
  const links = await linksIn(namespace, stores.AzurePrivateLinkService, signal);
  const hostnames = {
    clusters: stores.HostedCluster.cache,
    published: [stores.Service.cache, stores.Route.cache],
  };
  const refused = (cluster: HostedCluster) => ({
    forbidden: forbiddenOf(cluster, { policy, hyperShift }),
    taken: takenFrom(cluster, hostnames, policy),
  });
  if (hyperShift)
    return {
      ...nothingElse,
      cluster: object,
      hyperShift,
      links,
      pause: { paused: false },
      ...refused(object),
    };
  const within = <T extends KubeObject>(store: OwnObjects<T>, names: string[]) =>
    Promise.all(names.map((each) => store.get({ namespace, name: each }, signal)));
  const [cluster, own, plane, account, services, routes] = await Promise.all([
    stores.HostedCluster.get({ namespace: home, name }, signal),
    stores.Namespace.get({ name: namespace }, signal),
    stores.HostedControlPlane.get({ namespace, name }, signal),
    stores.ServiceAccount.get({ namespace, name: controlPlaneAccount }, signal),
    within(stores.Service, Object.keys(exposures.Service)),
    stores.Route.cache.health().filled
      ? within(stores.Route, Object.keys(exposures.Route))
      : undefined,
  ]);
  const newest = newer(object, cluster);
  return {
    cluster: newest,
    hyperShift,
    pause: paused(newest.spec.pausedUntil, reconcile.date()),
    ...refused(newest),
    namespace: own,
    controlPlane: plane,
    account,
    services: services.filter((each) => each !== undefined),
    routes: routes?.filter((each) => each !== undefined),
    links,
  };
}

const nothingElse = {
  namespace: undefined,
  controlPlane: undefined,
  account: undefined,
  services: [],
  routes: undefined,
} as const;

/** The links of a namespace; those that we have just deleted are asked for, not remembered. */
async function linksIn(
  namespace: string,
  store: OwnObjects<AzurePrivateLinkService>,
  signal: AbortSignal,
): Promise<AzurePrivateLinkService[]> {
  const cached = store.cache.byIndex("namespace", namespace);
  const all = await Promise.all(
    cached.map(({ metadata: { name } }) => store.get({ namespace, name }, signal)),
  );
  return all.filter((link) => link !== undefined);
}

/** The version that the loop or this feature wrote last, whichever is later. */
function newer(a: HostedCluster, b: HostedCluster | undefined): HostedCluster {
  return Number(b?.metadata.resourceVersion) > Number(a.metadata.resourceVersion) && b ? b : a;
}
