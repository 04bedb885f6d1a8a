import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import {
  type AzurePrivateLinkService,
  azurePrivateLinkService,
} from "@postern/core/kinds/azure-private-link-service.ts";
import { namespace, type Service, service } from "@postern/core/kinds/core.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { hostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { clusterIDKey } from "@postern/core/ownership.ts";
import { lastSegment } from "@postern/core/resource-id.ts";
import { staleReadsMs } from "../../azure/read-cache.ts";
import { byNamespace } from "../../kube/by-namespace.ts";
import { defineFeature } from "../../kube/feature.ts";
import type { MakeFeature, WatchedKind } from "../../kube/runtime.ts";
import { policiesOf } from "../../kube/step-policy.ts";
import { whenChanged } from "../../kube/when-changed.ts";
import { Networks } from "../../private-link/nat-subnets/networks.ts";
import { Reservations } from "../../private-link/nat-subnets/reservations.ts";
import { conditions, linkFinalizer } from "../names.ts";
import { registeredIn, whenControlPlaneChanges } from "../tenancy.ts";
import { apply } from "./apply.ts";
import type { LinkOptions, LinkParts } from "./cluster/dependencies.ts";
import { clusterKeyOf } from "./cluster/requirements.ts";
import { byClusterID } from "./cluster/verified-cluster.ts";
import { recordedSubnetOf } from "./nat/recorded-subnet.ts";
import { observe } from "./observe.ts";
import { plan } from "./plan.ts";
import { ServiceList } from "./service/service-list.ts";

export type { LinkOptions };

const byCluster = "link: cluster";

/** The link service of a private link, in front of the load balancer of a control plane. */
export function linkFeature(options: LinkOptions): MakeFeature {
  return ({ caches, kube }) => {
    const objects = caches.of(azurePrivateLinkService);
    objects.index(byCluster, (object) => [clusterKeyOf(object) ?? []].flat());
    objects.index("uid", ({ metadata }) => [metadata.uid ?? ""]);
    const inNamespace = byNamespace(objects);
    const hostedClusters = caches.of(hostedCluster);
    hostedClusters.index(byClusterID, ({ spec }) => [clusterIDKey(spec.clusterID ?? "")]);
    const controlPlanes = caches.of(hostedControlPlane);
    const namespaces = caches.of(namespace, { metadataOnly: true });
    const reservations = new Reservations();
    const parts: LinkParts = {
      ...options,
      kube,
      exists: (uid) => objects.byIndex("uid", uid).length > 0,
      namespaceOf: (uid) => objects.byIndex("uid", uid)[0]?.metadata.namespace,
      hostedClusters,
      controlPlanes,
      registered: registeredIn(caches),
      services: caches.of(service),
      namespaces,
      serviceList: new ServiceList(options.armClients.managementGroup),
      networks: new Networks((network) => reservations.recordNetwork(network)),
      reservations,
      recorded: new Map(),
    };
    const follow = ({ metadata, status }: AzurePrivateLinkService) => {
      const { uid = "", namespace = "", name, deletionTimestamp } = metadata;
      const service = status?.privateLinkServiceID;
      reservations.follow(
        { uid, namespace },
        {
          subnet: recordedSubnetOf(namespaces.get(namespace), name),
          service: service === undefined ? undefined : lastSegment(service),
          isDeleting: deletionTimestamp !== undefined,
        },
      );
    };
    // After a restart the namespaces may be known before their links or after them.
    namespaces.onChange(({ key }) => objects.byIndex("namespace", key).forEach(follow));
    objects.onChange(({ before, after }) => {
      if (after !== undefined) return follow(after);
      const { uid = "" } = before?.metadata ?? {};
      reservations.delete(uid);
      parts.recorded.delete(uid);
    });
    const feature = defineFeature({
      name: "link",
      kind: azurePrivateLinkService,
      finalizer: linkFinalizer,
      staleReadsMs,
      conditions: [conditions.link, conditions.loadBalancer],
      statusFields: ["internalLoadBalancerID", "privateLinkServiceID", "privateLinkServiceAlias"],
      observe: async (object, reconcile) => ({
        observed: await observe(object, parts, reconcile),
        context: parts,
        policies: policiesOf(object, hostedClusters.get(clusterKeyOf(object) ?? "")),
      }),
      plan,
      apply,
    });
    const ofCluster = (key: string) => objects.byIndex(byCluster, key).map(keyOf);
    const watches: WatchedKind[] = [
      {
        kind: hostedCluster,
        keys: whenChanged((cluster) => ofCluster(keyOf(cluster)), metadataAndSpec),
      },
      whenControlPlaneChanges(inNamespace),
      {
        kind: service,
        keys: whenChanged(
          (one) => (objects.get(keyOf(one)) ? [keyOf(one)] : []),
          ({ metadata, ...one }) => [
            metadata.uid,
            metadata.deletionTimestamp,
            (one as Service).status?.loadBalancer?.ingress,
          ],
        ),
      },
    ];
    return { feature, watches };
  };
}

/** What of a cluster this feature reads. Its status changes often, and is partly our own. */
function metadataAndSpec(object: KubeObject): unknown {
  const { annotations, uid } = object.metadata;
  return [annotations, uid, (object as { spec?: unknown }).spec];
}
