import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { namespace, type Service, service } from "@postern/core/kinds/core.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { ArmClient } from "postern/azure/arm.ts";
import { defineFeature } from "postern/kube/feature.ts";
import type { Reconcile } from "postern/kube/reconcile.ts";
import type { MakeFeature } from "postern/kube/runtime.ts";
import { apply } from "./apply.ts";
import { cleanupFinalizer } from "./names.ts";
import { observer } from "./observe.ts";
import { plan } from "./plan.ts";

/**
 * Azure takes 600 frontends on a load balancer, but lets no more than 8 link services have it, and behind an internal one
 * there may be one to each frontend. The real provider needs several load balancers for that too
 * (https://cloud-provider-azure.sigs.k8s.io/topics/multislb).
 * https://learn.microsoft.com/azure/azure-resource-manager/management/azure-subscription-service-limits#azure-private-link-limits
 */
const frontendsEach = { internal: 8, public: 600 };

/**
 * A stand-in for cloud-provider-azure, where there is none: gives Services of type LoadBalancer a frontend on the load
 * balancers of the management cluster, under the names that the real one gives.
 */
export function cloudProviderFeature(given: {
  /** Azure by the identity of the cluster, which is not that of the operator. */
  arm: (reconcile: Reconcile) => ArmClient;
  managementGroup: ResourceId;
  /** Where internal frontends take their addresses. */
  subnetId: string;
  location: string;
  /** The network interfaces of the machines that are to be behind the load balancers. */
  machines?: readonly ResourceId[];
  /** How many frontends an internal load balancer takes, where it is not 8. */
  internalFrontendsEach?: number;
  /** Only Services in these namespaces are served, where others have theirs on the same cluster. */
  within?: (namespace: KubeObject) => boolean;
}): MakeFeature {
  const { arm, managementGroup, subnetId, location, within } = given;
  const internal = given.internalFrontendsEach ?? frontendsEach.internal;
  return ({ caches }) => {
    const cache = caches.of(service);
    const homes = within && caches.of(namespace, { metadataOnly: true });
    const serves = ({ metadata, spec }: Service) => {
      // As in Kubernetes: a class says that another controller serves it.
      if (spec?.loadBalancerClass !== undefined) return false;
      const home = homes?.get(metadata.namespace ?? "");
      return within === undefined || (home !== undefined && within(home));
    };
    const observe = observer({
      managementGroup,
      machines: given.machines ?? [],
      ground: { subnetId, location, frontendsEach: { ...frontendsEach, internal } },
      services: () => cache.list(),
      serves,
    });
    const feature = defineFeature({
      name: "cloud-provider",
      kind: service,
      finalizer: cleanupFinalizer,
      conditions: [],
      statusFields: ["loadBalancer"],
      // One reconcile plans for all: a second one beside it would only plan the same, or take it back.
      concurrency: 1,
      observe: async (object, reconcile) => {
        const context = arm(reconcile);
        return { observed: await observe(object, context, reconcile), context };
      },
      plan,
      apply,
    });
    const servicesIn = (home: KubeObject) =>
      cache
        .list()
        .flatMap((each) => (each.metadata.namespace === home.metadata.name ? keyOf(each) : []));
    return {
      feature,
      watches: within ? [{ kind: namespace, metadataOnly: true, keys: servicesIn }] : [],
    };
  };
}
