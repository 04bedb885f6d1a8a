import { withClaim } from "@postern/core/claims.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import type { VirtualNetworkLink } from "../../azure/gateways/private-dns.ts";
import type { ZoneUser } from "../user.ts";

/** Azure takes no longer name. */
export const longestLinkName = 80;

/** A new link to a network. */
export function newLink(network: ResourceId, tags: Tags, { claim }: ZoneUser): VirtualNetworkLink {
  return {
    location: "global",
    tags: withClaim(tags, claim),
    properties: { virtualNetwork: { id: network }, registrationEnabled: false },
  };
}

/** A link as it is, with these tags. */
export function retagged({ properties }: VirtualNetworkLink, tags: Tags): VirtualNetworkLink {
  const { provisioningState: _, virtualNetworkLinkState: __, ...writable } = properties;
  return { location: "global", tags, properties: writable };
}
