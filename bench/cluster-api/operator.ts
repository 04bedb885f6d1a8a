import { azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { parseResourceId } from "@postern/core/resource-id.ts";
import { defaultPolicy } from "@postern/core/tenant-policy.ts";
import { dnsFeature } from "postern/cluster-api/dns/feature.ts";
import { managementEndpointsFeature } from "postern/cluster-api/endpoints/management/feature.ts";
import { workloadEndpointsFeature } from "postern/cluster-api/endpoints/workload/feature.ts";
import type { CapiViews } from "postern/cluster-api/identities.ts";
import { privateLinksFeature } from "postern/cluster-api/private-links/feature.ts";
import { serveSteps } from "../clocked/operator.ts";
import { groups } from "../clocked/places.ts";

const management = { namespace: "org-mc", name: "mc" };
const ready = ["GSPrivateLinksReady", "GSDNSZoneReady"];

await serveSteps(
  (arm, everyone) => {
    const view = (reconcile: Parameters<CapiViews["management"]>[0]) =>
      arm.for(reconcile, everyone);
    const views: CapiViews = {
      of: (_cluster, reconcile) => view(reconcile),
      policy: defaultPolicy,
      refusalOf: () => undefined,
      referenceRefusalOf: () => undefined,
      forReference: (_object, reconcile) => view(reconcile),
      management: view,
      baseZone: view,
      watch: () => [],
    };
    const shared = { management, managementLinks: ["gateway"] as const, views };
    return [
      managementEndpointsFeature({ management }),
      workloadEndpointsFeature(shared),
      privateLinksFeature({ views }),
      dnsFeature({
        ...shared,
        baseDomain: "example.com",
        baseZoneGroup: parseResourceId(`${groups}/base`),
      }),
    ];
  },
  ({ caches }) =>
    caches
      .of(azureCluster)
      .list()
      .filter(({ metadata, status }) => {
        const conditions = status?.conditions ?? [];
        const good = (type: string) =>
          conditions.some((each) => each.type === type && each.status === "True");
        return metadata.name !== management.name && ready.every(good);
      }).length,
);
