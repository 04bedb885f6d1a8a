import { conditionOf } from "@postern/core/conditions.ts";
import type { State } from "@postern/core/dashboard/picture.ts";
import { conditionProgress, type HealthCondition } from "@postern/core/health.ts";
import type { Condition } from "@postern/core/kinds/condition.ts";
import { linkProvisioningOf, provisioning, provisioningOf } from "@postern/core/provisioning.ts";
import type { LoadBalancer } from "../../azure/gateways/load-balancers.ts";
import type { PrivateDnsZone, VirtualNetworkLink } from "../../azure/gateways/private-dns.ts";
import { connectionsOf, type PrivateEndpoint } from "../../azure/gateways/private-endpoints.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";

/** How something is, and why. */
export interface NodeStatus {
  state: State;
  reason?: string;
  message?: string;
  /** Whether Azure could not be read: then this is what a condition says, or nothing. */
  isUnread?: true;
}

/** What Azure's provisioning state comes to. */
export function provisioned(state: string | undefined): NodeStatus {
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
export function resolution(zone: PrivateDnsZone, links: readonly VirtualNetworkLink[]): NodeStatus {
  if (provisioningOf(zone) === "failed") return provisioned(zone.properties.provisioningState);
  const [link] = links.toSorted(
    (a, b) => rank[linkProvisioningOf(a)] - rank[linkProvisioningOf(b)],
  );
  if (link === undefined || linkProvisioningOf(link) === "succeeded") return { state: "ok" };
  const status = provisioned(link.properties.provisioningState);
  return status.state === "ok" ? { state: "working", reason: "InProgress" } : status;
}

const rank = { succeeded: 0, changing: 1, failed: 2 } as const;

/** The state of an endpoint: provisioned, and approved by the owner of the link service. */
export function endpointState(endpoint: PrivateEndpoint): NodeStatus {
  const made = provisioned(endpoint.properties.provisioningState);
  if (made.state !== "ok") return made;
  const [connection] = connectionsOf(endpoint);
  const connectionState = connection?.properties.privateLinkServiceConnectionState;
  return admission(connectionState?.status, connectionState?.description);
}

/** What a connection's status comes to. */
export function admission(status: string | undefined, description?: string): NodeStatus {
  const reason = status ?? "NotConnected";
  const message = description || undefined;
  if (/^approved$/i.test(reason)) return { state: "ok", reason };
  if (/^pending$/i.test(reason))
    return { state: "pending", reason, message: message ?? "waits for approval" };
  return { state: "broken", reason, message: message ?? `the connection is ${reason}` };
}

const progressStates = { done: "ok", progressing: "working", failed: "broken" } as const;

/** Whether what a condition is about is done, in progress or failed. */
export function stateOfCondition(condition: HealthCondition, now: Date): State {
  return progressStates[conditionProgress(condition, now)];
}

/** A condition as the state of what it is about. */
export function conditionState(
  conditions: readonly Condition[] | undefined,
  type: string,
  now: Date,
): NodeStatus | undefined {
  const found = conditionOf(conditions, type);
  if (found === undefined) return undefined;
  const { reason, message } = found;
  return { state: stateOfCondition(found, now), reason, message };
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
