import type { PrivateEndpointSpec } from "@postern/core/kinds/azure-cluster-network.ts";
import { shellWord } from "@postern/core/shell.ts";
import type { Look } from "../../../../azure/gateway.ts";
import type { PrivateEndpoint } from "../../../../azure/gateways/private-endpoints.ts";
import { reachOf } from "../../../endpoint-address.ts";
import { serviceOf } from "../../claims/desired.ts";
import { reasons } from "../../claims/reasons.ts";
import { minuteMs, type Side, type Verdict } from "../observed.ts";

/** An endpoint of a spec, and what is known of it. */
export interface EndpointInSpec {
  desired: PrivateEndpointSpec;
  look: Look<PrivateEndpoint> | undefined;
  /** The AzureCluster in whose spec it stands. */
  cluster: string;
  tenantsDiffer: boolean;
  /** The address that is published for it. */
  published: string | undefined;
}

/** What one endpoint in Azure gives. */
export function sideOf({ desired, look, cluster, tenantsDiffer, published }: EndpointInSpec): Side {
  const { name } = desired;
  const service = serviceOf(desired);
  const not = (reason: string, message: string, waitMs = minuteMs): Side => ({
    verdict: isFalse(reason, message),
    address: undefined,
    waitMs,
  });
  const reach = look === undefined ? ({ is: "absent" } as const) : reachOf(look, service);
  if (tenantsDiffer && ["absent", "failed"].includes(reach.is))
    return not(
      reasons.anotherTenant,
      `the private endpoint ${name} is not there · the identities of the two clusters are of different tenants, and Azure connects those by alias only · put both clusters into one tenant, or connect them by hand`,
    );
  switch (reach.is) {
    case "connected":
      return { verdict: connected(name), address: reach.address };
    case "absent":
      return not(
        reasons.endpointNotFound,
        `the private endpoint ${name} does not exist yet · it stands in the spec of AzureCluster ${cluster} · if it does not come, look at PrivateEndpointsReady there`,
      );
    case "changing":
      // What works goes on working while it is being changed.
      return {
        verdict:
          published === undefined
            ? isFalse(reasons.endpointNotFound, `the private endpoint ${name} is being made`)
            : connected(name),
        address: "keep",
        waitMs: Math.min(reach.retryAfterMs, minuteMs),
      };
    case "elsewhere":
      return not(
        reasons.endpointElsewhere,
        `the private endpoint ${name} leads to another link service than ${service} · Azure never moves one · delete it, and it is made anew`,
      );
    case "failed":
      return not(
        reasons.endpointFailed,
        `the private endpoint ${name} is not usable · Azure calls it ${reach.state || "nothing"} · look at PrivateEndpointsReady of AzureCluster ${cluster}`,
      );
    case "not approved":
      return not(reasons.notApproved, notApproved(name, service, reach.state));
    case "without interface":
      return not(
        reasons.interfaceNotFound,
        `the private endpoint ${name} has no network interface yet`,
      );
    case "without address":
      return not(reasons.addressNotFound, `the private endpoint ${name} has no address yet`);
  }
}

function notApproved(name: string, service: string, state: string): string {
  const what = `the connection of private endpoint ${name} is ${state.toLowerCase() || "in no state"}`;
  if (state.toLowerCase() === "pending")
    return `${what} · the link service does not approve it by itself · approve it: az network private-endpoint-connection approve --id <the pending one in: az network private-endpoint-connection list --id ${shellWord(service)}>`;
  return `${what}, which is final · by somebody who may manage ${service} · agree with them and delete the endpoint, and it is made anew`;
}

function connected(name: string): Verdict {
  return { status: "True", reason: reasons.connected, message: `${name} is connected` };
}

/** A verdict that something is missing. */
export function isFalse(reason: string, message: string): Verdict {
  return { status: "False", reason, message };
}
