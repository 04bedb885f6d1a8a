import type { Feature } from "../../kube/feature.ts";
import type { Also, MakeFeature } from "../../kube/runtime.ts";
import { whenItMatters } from "../../kube/when-it-matters.ts";
import { type KubeObject, keyOf } from "../../model/kind.ts";
import {
  type AzurePrivateLinkService,
  azurePrivateLinkService,
} from "../../model/kinds/azure-private-link-service.ts";
import { namespace, type Service, service } from "../../model/kinds/core.ts";
import { hostedCluster } from "../../model/kinds/hosted-cluster.ts";
import { hostedControlPlane } from "../../model/kinds/hosted-control-plane.ts";
import { clusterAnnotation, conditions, linkFinalizer } from "../names.ts";
import { registeredIn } from "../tenancy.ts";
import { apply } from "./apply.ts";
import { byClusterID } from "./belonging.ts";
import { clusterKeyOf } from "./cluster.ts";
import { NatUsers, notedSubnetOf } from "./nat-users.ts";
import { Networks } from "./networks.ts";
import type { LinkOptions, LinkParts } from "./parts.ts";
import { plan } from "./plan.ts";
import { see } from "./see.ts";
import type { Seen } from "./seen.ts";
import { ServiceList } from "./service-list.ts";
import type { LinkStep } from "./steps.ts";

export type { LinkOptions };

const byCluster = "link: cluster";

/** The management side of a private link: the link service before the load balancer of a control plane. */
export function linkFeature(options: LinkOptions): MakeFeature {
  return ({ caches, kube }) => {
    const objects = caches.of(azurePrivateLinkService);
    objects.index(byCluster, (object) => [clusterKeyOf(object) ?? []].flat());
    objects.index("uid", ({ metadata }) => [metadata.uid ?? ""]);
    objects.index("namespace", ({ metadata }) => [metadata.namespace ?? ""]);
    const hostedClusters = caches.of(hostedCluster);
    hostedClusters.index(byClusterID, ({ spec }) => [spec.clusterID?.toLowerCase() ?? ""]);
    const controlPlanes = caches.of(hostedControlPlane);
    const namespaces = caches.of(namespace, { metadataOnly: true });
    const natUsers = new NatUsers();
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
      serviceList: new ServiceList(options.sides.managementGroup),
      networks: new Networks((network) => natUsers.saw(network)),
      natUsers,
      noted: new Map(),
    };
    const noted = ({ metadata }: AzurePrivateLinkService) =>
      notedSubnetOf(namespaces.get(metadata.namespace ?? ""), metadata.name);
    // After a restart the namespaces may be known before their links or after them.
    namespaces.onChange(({ key }) => {
      for (const after of objects.byIndex("namespace", key))
        natUsers.follow({ before: undefined, after }, noted);
    });
    objects.onChange((change) => {
      natUsers.follow(change, noted);
      const { before, after } = change;
      if (after === undefined) parts.noted.delete(before?.metadata.uid ?? "");
    });
    const feature: Feature<AzurePrivateLinkService, Seen, LinkStep> = {
      name: "link",
      kind: azurePrivateLinkService,
      finalizer: linkFinalizer,
      conditions: [conditions.link, conditions.loadBalancer],
      statusFields: ["internalLoadBalancerID", "privateLinkServiceID", "privateLinkServiceAlias"],
      see: (object, pass) => see(object, pass, parts),
      plan,
      apply: (step, pass) => apply(step, pass, parts),
    };
    const ofCluster = (key: string) => objects.byIndex(byCluster, key).map(keyOf);
    const also: Also[] = [
      {
        kind: hostedCluster,
        keys: whenItMatters((cluster) => ofCluster(keyOf(cluster)), metadataAndSpec),
      },
      {
        kind: hostedControlPlane,
        keys: whenItMatters(
          ({ metadata }) => objects.byIndex("namespace", metadata.namespace ?? "").map(keyOf),
          ({ metadata: { annotations, uid } }) => [annotations?.[clusterAnnotation], uid],
        ),
      },
      {
        kind: service,
        keys: whenItMatters(
          (one) => (objects.get(keyOf(one)) ? [keyOf(one)] : []),
          (one) => [one.metadata.uid, (one as Service).status?.loadBalancer?.ingress],
        ),
      },
    ];
    return { feature: feature as Feature, also };
  };
}

/** What of a cluster decides anything here; its status is written all the time, and tells what we said ourselves. */
function metadataAndSpec(object: KubeObject): unknown {
  const { annotations, uid } = object.metadata;
  return [annotations, uid, (object as { spec?: unknown }).spec];
}
