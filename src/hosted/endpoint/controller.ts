import type { ArmView } from "../../azure/arm.ts";
import { OneAtATime } from "../../azure/one-at-a-time.ts";
import type { Feature } from "../../kube/feature.ts";
import { OwnObjects } from "../../kube/own-objects.ts";
import type { Pass } from "../../kube/pass.ts";
import type { Also, MakeFeature } from "../../kube/runtime.ts";
import { whenItMatters } from "../../kube/when-it-matters.ts";
import { isTrue } from "../../model/conditions.ts";
import { type KubeObject, keyOf } from "../../model/kind.ts";
import {
  type AzurePrivateLinkService,
  azurePrivateLinkService,
} from "../../model/kinds/azure-private-link-service.ts";
import { service } from "../../model/kinds/core.ts";
import { type HostedCluster, hostedCluster } from "../../model/kinds/hosted-cluster.ts";
import { hostedControlPlane } from "../../model/kinds/hosted-control-plane.ts";
import type { TenantPolicy } from "../../model/tenant-policy.ts";
import type { GuestSide } from "../azure-sides.ts";
import { byHostname, byPublishedHostname, hostnamesOf, publishedHostnames } from "../hostnames.ts";
import { clusterAnnotation, conditions, endpointFinalizer } from "../names.ts";
import { registeredIn, tenantOf } from "../tenancy.ts";
import { apply } from "./apply.ts";
import { plan } from "./plan.ts";
import { domainKey, placeKey, see } from "./see.ts";
import { type Seen, statusFields } from "./seen.ts";
import { externalLabel } from "./services.ts";
import type { EndpointStep } from "./steps.ts";
import { ZoneTurns } from "./zone-turns.ts";

/** The guest side of a private link: endpoint, zones, links and names, and the Services that external-dns reads. */
export function endpointFeature({
  sides,
  policy,
}: {
  sides: GuestSide;
  /** Which namespace may use what. */
  policy?: TenantPolicy | undefined;
}): MakeFeature {
  return ({ caches, kube }) => {
    const links = caches.of(azurePrivateLinkService);
    links.index("namespace", ({ metadata }) => [metadata.namespace ?? ""]);
    links.index("uid", ({ metadata }) => [metadata.uid ?? ""]);
    links.index("endpoint-cluster", ({ metadata }) =>
      [metadata.annotations?.[clusterAnnotation]].filter((key) => key !== undefined),
    );
    links.index("endpoint-domain", (link) => [domainKey(link)]);
    links.index("endpoint-place", (link) => [placeKey(link)]);
    const registered = registeredIn(caches);
    const controlPlanes = caches.of(hostedControlPlane);
    const clusters = caches.of(hostedCluster);
    clusters.index(byHostname, hostnamesOf);
    const allServices = caches.of(service);
    allServices.index(byPublishedHostname, publishedHostnames);
    const sources = { links, controlPlanes, registered, clusters, services: allServices };
    const services = new OwnObjects(allServices, kube, "postern-endpoint");
    const turns = new ZoneTurns();
    const writing = { services, turns: new OneAtATime() };
    // The road on which a pass has looked is the one on which it writes.
    const roads = new WeakMap<Pass, ArmView>();

    const feature: Feature<AzurePrivateLinkService, Seen, EndpointStep> = {
      name: "endpoint",
      kind: azurePrivateLinkService,
      finalizer: endpointFinalizer,
      conditions: [conditions.available, conditions.endpoint, conditions.dns],
      statusFields,
      tenantOf,
      see: (link, pass) =>
        see(link, pass, { sources, services, sides, turns, policy }, (arm) => roads.set(pass, arm)),
      plan,
      apply: (step, pass) => apply(step, pass, roads.get(pass), writing),
    };

    const inNamespace = ({ metadata }: KubeObject) =>
      links.byIndex("namespace", metadata.namespace ?? "").map(keyOf);
    const ofCluster = (cluster: KubeObject) =>
      links.byIndex("endpoint-cluster", keyOf(cluster)).map(keyOf);
    const rivalsOf = (cluster: KubeObject) =>
      hostnamesOf(cluster as HostedCluster).flatMap((each) => clusters.byIndex(byHostname, each));
    const also: Also[] = [
      { kind: hostedControlPlane, keys: whenItMatters(inNamespace, metadataAndSpec) },
      {
        kind: hostedCluster,
        keys: whenItMatters(
          (cluster) => [...ofCluster(cluster), ...rivalsOf(cluster).flatMap(ofCluster)],
          metadataAndSpec,
        ),
      },
      {
        kind: azurePrivateLinkService,
        keys: whenItMatters(
          (link) => inNamespace(link).filter((key) => key !== keyOf(link)),
          (link) => asSibling(link as AzurePrivateLinkService),
        ),
      },
      {
        kind: service,
        keys: (each) => (each.metadata.labels?.[externalLabel] === "true" ? inNamespace(each) : []),
      },
    ];
    return { feature: feature as unknown as Feature, also };
  };
}

/** What of a control plane or a cluster decides anything here; its status changes all the time and does not. */
function metadataAndSpec(object: KubeObject): unknown {
  const { annotations, finalizers, uid } = object.metadata;
  return [annotations, finalizers, uid, (object as { spec?: unknown }).spec];
}

/** What of a link its siblings go by. */
function asSibling({ metadata, spec, status }: AzurePrivateLinkService): unknown {
  const ready = isTrue(status?.conditions, conditions.endpoint);
  return [metadata.uid, metadata.finalizers, spec.baseDomain, status?.privateEndpointIP, ready];
}
