import type { PlannedCondition } from "@postern/core/conditions.ts";
import { nameOf } from "@postern/core/resource-id.ts";
import { conditions } from "../../names.ts";
import type { Subject, Up } from "../observed.ts";
import { reasons } from "../reasons.ts";

/** Why the load balancer of a link cannot be used, and what to do; undefined where it can. */
export function balancerProblem({ frontend, known, subject }: Up): PlannedCondition | undefined {
  const type = conditions.loadBalancer;
  if (frontend.is === "released") return { type, status: "False", ...serviceDeleting(subject) };
  if (frontend.is === "missing")
    return {
      type,
      status: "False",
      reason: reasons.loadBalancerNotFound,
      message: `no load balancer in the management resource groups has the address ${known.loadBalancerIP} · Service ${subject.name} has it · check the Service, and which resource groups the operator's settings name`,
    };
  if (frontend.is === "foreign")
    return {
      type,
      status: "False",
      reason: reasons.loadBalancerForeign,
      message: `a load balancer frontend has the address ${known.loadBalancerIP} · it was created for another Service than ${subject.namespace}/${subject.name} · give that Service an address of its own`,
    };
  if (frontend.is === "found" && frontend.frontend.failed !== undefined)
    return {
      type,
      status: "False",
      reason: reasons.loadBalancerFailed,
      message: `load balancer ${nameOf(frontend.frontend.balancer)} is ${frontend.frontend.failed} · the cloud provider owns it, and its last write failed · see the events of Service ${subject.name}, and have the cloud provider update it`,
    };
  if (frontend.is !== "found") return undefined;
  const isStandard = /^standard$/i.test(frontend.frontend.sku);
  if (isStandard && frontend.frontend.isIpBased)
    return {
      type,
      status: "False",
      reason: reasons.loadBalancerUnsupported,
      message: `load balancer ${nameOf(frontend.frontend.balancer)} has a backend pool of IP addresses · Azure supports link services only with pools of network interfaces · set the cloud provider's loadBalancerBackendPoolConfigurationType to nodeIPConfiguration (AKS: --load-balancer-backend-pool-type nodeIPConfiguration)`,
    };
  if (isStandard) return undefined;
  const { balancer, sku } = frontend.frontend;
  return {
    type,
    status: "False",
    reason: reasons.loadBalancerUnsupported,
    message: `load balancer ${nameOf(balancer)} has the SKU ${sku} · link services need Standard · set the cloud provider's loadBalancerSku to Standard and recreate the Service`,
  };
}

/** Why there is no link service while its Service is being deleted. */
export function serviceDeleting({ name }: Pick<Subject, "name">): {
  reason: string;
  message: string;
} {
  return {
    reason: reasons.serviceDeleting,
    message: `Service ${name} is being deleted · Azure deletes its load balancer only after the link service, so the link service is deleted and the cluster cannot be reached · Postern creates it again when a new Service ${name} has an address`,
  };
}

/** The condition of the load balancer. */
export function balancerCondition(observed: Up): PlannedCondition {
  const { frontend, known } = observed;
  const type = conditions.loadBalancer;
  if (frontend.is === "failed") {
    const { message } = frontend.failure;
    return { type, status: "False", reason: reasons.loadBalancerLookupFailed, message };
  }
  const problem = balancerProblem(observed);
  if (problem) return problem;
  const name = frontend.is === "found" ? nameOf(frontend.frontend.balancer) : "";
  const message = `load balancer ${name} has the address ${known.loadBalancerIP}`;
  return { type, status: "True", reason: reasons.success, message };
}

/** The id of the load balancer that is published. */
export function balancerID({ frontend, subject }: Up): string | undefined {
  switch (frontend.is) {
    case "found":
      return frontend.frontend.balancer;
    case "missing":
    case "foreign":
    case "released":
      return undefined;
    case "failed":
      return subject.fields.internalLoadBalancerID;
  }
}
