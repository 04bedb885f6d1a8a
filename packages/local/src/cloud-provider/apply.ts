import type { ArmClient } from "postern/azure/arm.ts";
import { loadBalancers } from "postern/azure/gateways/load-balancers.ts";
import { networkInterfaces } from "postern/azure/gateways/network-interfaces.ts";
import type { Applied } from "postern/kube/feature.ts";
import type { CloudStep } from "./plan.ts";
import { publicAddresses } from "./public-addresses.ts";

/** Do one step. */
export function apply(step: CloudStep, arm: ArmClient): Promise<Applied> {
  switch (step.do) {
    case "create load balancer":
    case "update load balancer":
      return loadBalancers(arm).put(step.id, step.body, { ifMatch: step.etag });
    case "delete load balancer":
      return loadBalancers(arm).remove(step.id, { ifMatch: step.etag });
    case "update network interface":
      return networkInterfaces(arm).put(step.id, step.body, { ifMatch: step.etag });
    case "create public address":
      return publicAddresses(arm).put(step.id, {
        location: step.location,
        sku: { name: "Standard" },
        properties: { publicIPAllocationMethod: "Static" },
      });
    case "delete public address":
      return publicAddresses(arm).remove(step.id);
  }
}
