import type { PrivateEndpointSpec } from "@postern/core/kinds/azure-cluster-network.ts";
import { shellWord } from "@postern/core/shell.ts";
import type { Observation } from "../../../../azure/gateway.ts";
import type { PrivateEndpoint } from "../../../../azure/gateways/private-endpoints.ts";
import { done, wait, waits } from "../../../../kube/part.ts";
import { reachOf } from "../../../endpoint-address.ts";
import { serviceOf } from "../../claims/desired.ts";
import { reasons } from "../../claims/reasons.ts";
import { blocked, type Direction, pending, waitForChange } from "./direction.ts";

/** An endpoint of a spec, and what was observed of it. */
export interface EndpointInSpec {
  desired: PrivateEndpointSpec;
  observation: Observation<PrivateEndpoint> | undefined;
  /** The AzureCluster whose spec has it. */
  cluster: string;
  tenantsDiffer: boolean;
  /** The address that is published for it. */
  published: string | undefined;
}

/** What one endpoint in Azure gives. */
export function planEndpoint(endpoint: EndpointInSpec): Direction {
  const { desired, observation, cluster, tenantsDiffer, published } = endpoint;
  const { name } = desired;
  const service = serviceOf(desired);
  const reach =
    observation === undefined ? ({ is: "absent" } as const) : reachOf(observation, service);
  if (tenantsDiffer && ["absent", "failed"].includes(reach.is))
    return waitForChange({
      reason: reasons.anotherTenant,
      message: `the private endpoint ${name} does not exist · the identities of the two clusters are of different tenants, and Azure connects those by alias only · put both clusters into one tenant, or connect them by hand`,
    });
  switch (reach.is) {
    case "connected":
      return { ...done, ready: connected(name), address: reach.address };
    case "absent":
      return pending(
        reasons.endpointNotFound,
        `the private endpoint ${name} does not exist yet · it is in the spec of AzureCluster ${cluster} · see PrivateEndpointsReady there if it is not created`,
      );
    case "changing": {
      const requeueMs = Math.min(reach.retryAfterMs, waits.changeMs);
      // While it is being changed it works as before.
      if (published !== undefined)
        return { ...done, requeueMs, ready: connected(name), address: "keep" };
      const message = `the private endpoint ${name} is being created`;
      const problem = { reason: reasons.endpointNotFound, message, progress: true } as const;
      return blocked(wait(problem, requeueMs), "keep");
    }
    case "elsewhere":
      return waitForChange({
        reason: reasons.endpointElsewhere,
        message: `the private endpoint ${name} connects to another link service than ${service} · Azure cannot move an endpoint · delete it; it is then recreated`,
      });
    case "failed":
      return waitForChange({
        reason: reasons.endpointFailed,
        message: `the private endpoint ${name} is not usable · its state in Azure is ${reach.state || "unknown"} · see PrivateEndpointsReady of AzureCluster ${cluster}`,
      });
    case "not approved":
      return waitForChange({
        reason: reasons.notApproved,
        message: notApproved(name, service, reach.state),
      });
    case "without interface":
      return pending(
        reasons.interfaceNotFound,
        `the private endpoint ${name} has no network interface yet`,
      );
    case "without address":
      return pending(reasons.addressNotFound, `the private endpoint ${name} has no address yet`);
  }
}

function notApproved(name: string, service: string, state: string): string {
  const connection = `the connection of private endpoint ${name}`;
  if (state.toLowerCase() === "pending")
    return `${connection} waits for approval · the link service does not auto-approve it · approve it: az network private-endpoint-connection approve --id <the pending one in: az network private-endpoint-connection list --id ${shellWord(service)}>`;
  return `${connection} is ${state.toLowerCase() || "in no state"}, which is final · only the owner of ${service} can accept a new one · ask them, then delete the endpoint; it is then recreated`;
}

function connected(name: string) {
  return { reason: reasons.connected, message: `${name} is connected` };
}
