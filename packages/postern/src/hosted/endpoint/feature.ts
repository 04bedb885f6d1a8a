import { isTrue } from "@postern/core/conditions.ts";
import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import {
  type AzurePrivateLinkService,
  azurePrivateLinkService,
} from "@postern/core/kinds/azure-private-link-service.ts";
import { service } from "@postern/core/kinds/core.ts";
import { type HostedCluster, hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { hostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { TenantPolicy } from "@postern/core/tenant-policy.ts";
import { OneAtATime } from "../../azure/one-at-a-time.ts";
import { staleReadsMs } from "../../azure/read-cache.ts";
import { byNamespace } from "../../kube/by-namespace.ts";
import { defineFeature } from "../../kube/feature.ts";
import { OwnObjects } from "../../kube/own-objects.ts";
import type { MakeFeature, WatchedKind } from "../../kube/runtime.ts";
import { policiesOf } from "../../kube/step-policy.ts";
import { whenChanged } from "../../kube/when-changed.ts";
import type { HostedArmClients } from "../arm-clients.ts";
import { byHostname, byPublishedHostname, hostnamesOf, publishedHostnames } from "../hostnames.ts";
import { conditions, endpointFinalizer } from "../names.ts";
import { annotatedCluster, registeredIn, tenantOf } from "../tenancy.ts";
import { apply } from "./apply.ts";
import { externalLabel } from "./cluster/services.ts";
import { domainKey, observe, placeKey } from "./observe.ts";
import { statusFields } from "./observed.ts";
import { plan } from "./plan.ts";

/** What a private link needs in the network of the hosted cluster: endpoint, DNS zones with links and records, and the Services for external-dns. */
export function endpointFeature({
  armClients,
  policy,
}: {
  armClients: HostedArmClients;
  /** Which namespace may use what. */
  policy?: TenantPolicy | undefined;
}): MakeFeature {
  return ({ caches, kube }) => {
    const links = caches.of(azurePrivateLinkService);
    const inNamespace = byNamespace(links);
    links.index("uid", ({ metadata }) => [metadata.uid ?? ""]);
    links.index("endpoint-cluster", annotatedCluster);
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
    const parts = { sources, services, armClients, policy };
    const oneAtATime = new OneAtATime();

    const feature = defineFeature({
      name: "endpoint",
      kind: azurePrivateLinkService,
      finalizer: endpointFinalizer,
      staleReadsMs,
      conditions: [conditions.available, conditions.endpoint, conditions.dns],
      statusFields,
      tenantOf,
      observe: async (link: AzurePrivateLinkService, reconcile) => {
        const { arm, ...observed } = await observe(link, parts, reconcile);
        const policies = policiesOf(
          link,
          ...controlPlanes.byIndex("namespace", link.metadata.namespace ?? ""),
          ...annotatedCluster(link).map((key) => clusters.get(key)),
        );
        return { observed, context: { arm, services, oneAtATime }, policies };
      },
      plan,
      apply,
    });

    const ofCluster = (cluster: KubeObject) =>
      links.byIndex("endpoint-cluster", keyOf(cluster)).map(keyOf);
    const rivalsOf = (cluster: KubeObject) =>
      hostnamesOf(cluster as HostedCluster).flatMap((each) => clusters.byIndex(byHostname, each));
    const watches: WatchedKind[] = [
      { kind: hostedControlPlane, keys: whenChanged(inNamespace, metadataAndSpec) },
      {
        kind: hostedCluster,
        keys: whenChanged(
          (cluster) => [...ofCluster(cluster), ...rivalsOf(cluster).flatMap(ofCluster)],
          metadataAndSpec,
        ),
      },
      {
        kind: azurePrivateLinkService,
        keys: whenChanged(
          (link) => inNamespace(link).filter((key) => key !== keyOf(link)),
          (link) => asSibling(link as AzurePrivateLinkService),
        ),
      },
      {
        kind: service,
        keys: (each) => (each.metadata.labels?.[externalLabel] === "true" ? inNamespace(each) : []),
      },
    ];
    return { feature, watches };
  };
}

/** What of a control plane or a cluster this feature reads. Their status changes often. */
function metadataAndSpec(object: KubeObject): unknown {
  const { annotations, finalizers, uid } = object.metadata;
  return [annotations, finalizers, uid, (object as { spec?: unknown }).spec];
}

/** What of a link its siblings read. */
function asSibling({ metadata, spec, status }: AzurePrivateLinkService): unknown {
  const ready = isTrue(status?.conditions, conditions.endpoint);
  return [metadata.uid, metadata.finalizers, spec.baseDomain, status?.privateEndpointIP, ready];
}
