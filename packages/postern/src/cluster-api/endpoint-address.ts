import { isIp } from "@postern/core/ip.ts";
import { provisioning } from "@postern/core/provisioning.ts";
import { sameId } from "@postern/core/resource-id.ts";
import type { Observation } from "../azure/gateway.ts";
import { connectionsOf, type PrivateEndpoint } from "../azure/gateways/private-endpoints.ts";

/** Whether one could connect through an endpoint now, and at which address; or what is missing first. */
export type Reach =
  | { is: "connected"; address: string }
  | { is: "absent" }
  | { is: "changing"; retryAfterMs: number }
  /** The endpoint is there and leads to another link service. */
  | { is: "elsewhere" }
  | { is: "failed"; state: string }
  | { is: "not approved"; state: string }
  | { is: "without interface" }
  | { is: "without address" };

/**
 * How far an endpoint is. It has an address to give only while it is Succeeded and its connection to that very link service
 * is Approved: an address that nobody answers at is worse than none.
 */
export function reachOf(observation: Observation<PrivateEndpoint>, serviceId: string): Reach {
  switch (observation.state) {
    case "absent":
      return { is: "absent" };
    case "changing":
      return { is: "changing", retryAfterMs: observation.retryAfterMs };
    case "failed":
      return { is: "failed", state: observation.failure.message };
    case "exists":
      return reachIn(observation.resource, serviceId);
  }
}

function reachIn({ properties }: Partial<PrivateEndpoint>, serviceId: string): Reach {
  // Azure has not said anything of it yet.
  if (properties === undefined) return { is: "without interface" };
  const connection = connectionsOf({ properties }).find((each) =>
    sameId(each.properties?.privateLinkServiceId ?? "", serviceId),
  );
  if (connection === undefined) return { is: "elsewhere" };
  const { provisioningState } = properties;
  if (provisioningState !== undefined && provisioning(provisioningState) !== "succeeded")
    return { is: "failed", state: provisioningState };
  const state = connection.properties.privateLinkServiceConnectionState?.status ?? "";
  if (state.toLowerCase() !== "approved") return { is: "not approved", state };
  const interfaces = (properties.networkInterfaces ?? []).filter(isThere);
  if (interfaces.length === 0) return { is: "without interface" };
  const address = addressIn(interfaces);
  return address === undefined ? { is: "without address" } : { is: "connected", address };
}

/** The first address of the interfaces. Something that is no address is not there yet. */
function addressIn(
  interfaces: NonNullable<PrivateEndpoint["properties"]["networkInterfaces"]>,
): string | undefined {
  return interfaces
    .flatMap((each) => each.properties?.ipConfigurations ?? [])
    .filter(isThere)
    .flatMap((each) => each.properties?.privateIPAddress ?? [])
    .find((each) => isIp(each));
}

function isThere<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}
