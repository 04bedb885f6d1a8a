import { azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { parseResourceId } from "@postern/core/resource-id.ts";
import { defaultPolicy } from "@postern/core/tenant-policy.ts";
import { dnsFeature } from "postern/cluster-api/dns/feature.ts";
import { managementEndpointsFeature } from "postern/cluster-api/endpoints/management/feature.ts";
import { workloadEndpointsFeature } from "postern/cluster-api/endpoints/workload/feature.ts";
import type { ClusterArmClients } from "postern/cluster-api/identities.ts";
import { privateLinksFeature } from "postern/cluster-api/private-links/feature.ts";
import { serveSteps } from "../clocked/operator.ts";
import { groups } from "../clocked/places.ts";

const management = { namespace: "org-mc", name: "mc" };
const ready = ["GSPrivateLinksReady", "GSDNSZoneReady"];

await serveSteps(
  (arm, everyone) => {
    const armFor = (reconcile: Parameters<ClusterArmClients["management"]>[0]) =>
      arm.for(reconcile, everyone);
    const clients: ClusterArmClients = {
      of: (_cluster, reconcile) => armFor(reconcile),
      policy: defaultPolicy,
      refusalOf: () => undefined,
      referenceRefusalOf: () => undefined,
      forReference: (_object, reconcile) => armFor(reconcile),
      management: armFor,
      baseZone: armFor,
      watch: () => [],
    };
    const shared = { management, managementLinks: ["gateway"] as const, clients };
    return [
      managementEndpointsFeature({ management }),
      workloadEndpointsFeature(shared),
      privateLinksFeature({ clients }),
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
