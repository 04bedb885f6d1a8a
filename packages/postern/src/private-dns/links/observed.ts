import { linkProvisioningOf } from "@postern/core/provisioning.ts";
import { idKey, type ResourceId } from "@postern/core/resource-id.ts";
import type { Observation, ResourceGateway } from "../../azure/gateway.ts";
import type { VirtualNetworkLink } from "../../azure/gateways/private-dns.ts";

/** A link that was looked at. */
export interface ObservedLink {
  id: ResourceId;
  observation: Observation<VirtualNetworkLink>;
}

/** A link that exists. */
export interface FoundLink {
  id: ResourceId;
  found: VirtualNetworkLink;
}

/** The links of a zone that exist and are not being changed. */
export function foundLinks({ links }: { links: readonly ObservedLink[] }): FoundLink[] {
  return links.flatMap(({ id, observation }) =>
    observation.state === "exists" ? [{ id, found: observation.resource }] : [],
  );
}

/** The network that a link leads to, as it is compared. */
export function networkKey({ properties }: VirtualNetworkLink): string {
  return idKey(properties.virtualNetwork?.id ?? "");
}

/** Whether a link leads to a network. */
export function pointsTo(link: VirtualNetworkLink, network: ResourceId): boolean {
  return networkKey(link) === idKey(network);
}

/** How old the observation of a link that does not resolve may be: nothing else shows when it is repaired or completed. */
const unhealthyLinkMs = 5_000;

/** Look at a link. One that does not resolve is read again. */
export async function observeLink(
  gateway: Pick<ResourceGateway<VirtualNetworkLink>, "observe">,
  id: string,
  maxAgeMs: number,
): Promise<Observation<VirtualNetworkLink>> {
  const observation = await gateway.observe(id, maxAgeMs);
  const healthy =
    observation.state !== "exists" || linkProvisioningOf(observation.resource) === "succeeded";
  return healthy ? observation : gateway.observe(id, unhealthyLinkMs);
}
