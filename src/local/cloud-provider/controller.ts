import type { ArmView } from "../../azure/arm.ts";
import type { Feature } from "../../kube/feature.ts";
import type { Pass } from "../../kube/pass.ts";
import type { MakeFeature } from "../../kube/runtime.ts";
import { type Service, service } from "../../model/kinds/core.ts";
import type { ResourceId } from "../../model/resource-id.ts";
import { apply } from "./apply.ts";
import { cleanupFinalizer } from "./names.ts";
import { type CloudStep, plan, type Seen } from "./plan.ts";
import { seer } from "./see.ts";

/** https://learn.microsoft.com/azure/azure-resource-manager/management/azure-subscription-service-limits#load-balancer */
export const mostFrontends = 600;

/**
 * A stand-in for cloud-provider-azure, where there is none: gives Services of type LoadBalancer a frontend on the load
 * balancers of the management cluster, under the names that the real one gives.
 */
export function cloudProviderFeature(given: {
  /** Azure by the identity of the cluster, which is not that of the operator. */
  arm: (pass: Pass) => ArmView;
  managementGroup: ResourceId;
  /** Where internal frontends take their addresses. */
  subnetId: string;
  location: string;
  /** Fewer than Azure takes: it lets only 8 link services have a load balancer. */
  frontendsEach?: number;
}): MakeFeature {
  const { arm, managementGroup, subnetId, location, frontendsEach = mostFrontends } = given;
  return ({ caches }) => {
    const cache = caches.of(service);
    const see = seer({
      managementGroup,
      ground: { subnetId, location, frontendsEach },
      services: () => cache.list(),
    });
    const feature: Feature<Service, Seen, CloudStep> = {
      name: "cloud-provider",
      kind: service,
      finalizer: cleanupFinalizer,
      conditions: [],
      statusFields: ["loadBalancer"],
      // One pass plans for all: a second one beside it would only plan the same, or take it back.
      concurrency: 1,
      see: (object, pass) => see(object, arm(pass), pass),
      plan,
      apply: (step, pass) => apply(step, arm(pass)),
    };
    return { feature: feature as unknown as Feature };
  };
}
