import { conditionOf } from "@postern/core/conditions.ts";
import type { State } from "@postern/core/dashboard/picture.ts";
import type { Condition } from "@postern/core/kinds/condition.ts";
import { linkProvisioningOf, provisioning, provisioningOf } from "@postern/core/provisioning.ts";
import type { LoadBalancer } from "../../azure/gateways/load-balancers.ts";
import type { PrivateDnsZone, VirtualNetworkLink } from "../../azure/gateways/private-dns.ts";
import { connectionsOf, type PrivateEndpoint } from "../../azure/gateways/private-endpoints.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";

/** How something is, and why. */
export interface Told {
  state: State;
  reason?: string;
  message?: string;
}

/** What Azure's provisioning state comes to. */
export function provisioned(state: string | undefined): Told {
  switch (provisioning(state)) {
    case "succeeded":
      return { state: "ok" };
    case "changing":
      return { state: "working", reason: state ?? "" };
    case "failed":
      return { state: "broken", reason: state ?? "", message: `Azure says ${state}` };
  }
}

/** Whether a network resolves a private zone, by the zone and its links to the network. A zone that is being written answers. */
export function resolution(zone: PrivateDnsZone, links: readonly VirtualNetworkLink[]): Told {
  if (provisioningOf(zone) === "failed") return provisioned(zone.properties.provisioningState);
  const [link] = links.toSorted(
    (a, b) => rank[linkProvisioningOf(a)] - rank[linkProvisioningOf(b)],
  );
  if (link === undefined || linkProvisioningOf(link) === "succeeded") return { state: "ok" };
  const told = provisioned(link.properties.provisioningState);
  return told.state === "ok" ? { state: "working", reason: "InProgress" } : told;
}

const rank = { succeeded: 0, changing: 1, failed: 2 } as const;

/** How an endpoint is: made, and let in by the owner of the link service. */
export function endpointState(endpoint: PrivateEndpoint): Told {
  const made = provisioned(endpoint.properties.provisioningState);
  if (made.state !== "ok") return made;
  const [connection] = connectionsOf(endpoint);
  const said = connection?.properties.privateLinkServiceConnectionState;
  return admission(said?.status, said?.description);
}

/** What a connection's status comes to. */
export function admission(status: string | undefined, description?: string): Told {
  const reason = status ?? "NotConnected";
  const message = description || undefined;
  if (/^approved$/i.test(reason)) return { state: "ok", reason };
  if (/^pending$/i.test(reason))
    return { state: "pending", reason, message: message ?? "waits for approval" };
  return { state: "broken", reason, message: message ?? `the connection is ${reason}` };
}

/** What somebody else is about to give: a name that ends in Missing may also be a mistake that stays. */
const waits = new Set(["LoadBalancerIPMissing", "ILBNotFound", "LoadBalancerMissing"]);

/** A condition as a state: False of something under way is `working`. */
export function conditionState(
  conditions: readonly Condition[] | undefined,
  type: string,
): Told | undefined {
  const found = conditionOf(conditions, type);
  if (found === undefined) return undefined;
  const { status, reason, message } = found;
  if (status === "True") return { state: "ok", reason, message };
  if (status === "Unknown") return { state: "working", reason, message };
  const state =
    /(Creating|Updating|Deleting|Replacing|Pending|Waiting|Unknown)$/.test(reason) ||
    waits.has(reason)
      ? "working"
      : "broken";
  return { state, reason, message };
}

/** The frontends of a load balancer in a network, and which one has an address. */
export function privateAddressesOf({ properties }: LoadBalancer): string[] {
  return (properties.frontendIPConfigurations ?? []).flatMap(
    (each) => each.properties.privateIPAddress ?? [],
  );
}

/** The load balancer that a link service stands before. */
export function balancerIdOf({ properties }: PrivateLinkService): string | undefined {
  const [frontend] = properties.loadBalancerFrontendIpConfigurations ?? [];
  return frontend?.id.split(/\/frontendIPConfigurations\//i)[0];
}
