import { dnsFeature } from "../../src/capi/dns/controller.ts";
import { managementEndpointsFeature } from "../../src/capi/endpoints/management/controller.ts";
import { workloadEndpointsFeature } from "../../src/capi/endpoints/workload/controller.ts";
import type { CapiViews } from "../../src/capi/identities.ts";
import { realiseFeature } from "../../src/capi/realise/controller.ts";
import { azureCluster } from "../../src/model/kinds/azure-cluster.ts";
import { parseResourceId } from "../../src/model/resource-id.ts";
import { defaultPolicy } from "../../src/model/tenant-policy.ts";
import { serveSteps } from "../clocked/operator.ts";
import { groups } from "../clocked/places.ts";

const management = { namespace: "org-mc", name: "mc" };
const ready = ["GSPrivateLinksReady", "GSDNSZoneReady"];

await serveSteps(
  (arm, everyone) => {
    const view = (pass: Parameters<CapiViews["management"]>[0]) => arm.for(pass, everyone);
    const views: CapiViews = {
      of: (_cluster, pass) => view(pass),
      policy: defaultPolicy,
      refusalOf: () => undefined,
      referenceRefusalOf: () => undefined,
      forReference: (_object, pass) => view(pass),
      management: view,
      baseZone: view,
      watch: () => [],
    };
    const shared = { management, managementLinks: ["gateway"] as const, views };
    return [
      managementEndpointsFeature({ management }),
      workloadEndpointsFeature(shared),
      realiseFeature({ views }),
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
