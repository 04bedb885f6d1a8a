import { claimsIn } from "@postern/core/claims.ts";
import { keyOf } from "@postern/core/kind.ts";
import { ownerIn } from "@postern/core/ownership.ts";
import { idKey, lastSegment } from "@postern/core/resource-id.ts";
import { networkOf } from "../index-of.ts";
import type { Zone } from "../world.ts";
import { type Finding, findings, type WorldCheck } from "./check.ts";

/** Azure's own resolver. No other resolver answers for private DNS zones. */
const azureResolver = "168.63.129.16";

/** Azure links a virtual network to only one zone of a name. */
export const linkedTwice: WorldCheck = {
  name: "conflicting DNS zones",
  run({ azure, kube }) {
    const wanted = kube.links.flatMap(({ spec, status, ...link }) =>
      [status?.dnsZoneName, spec.baseDomain].flatMap((name) =>
        name
          ? [
              {
                about: keyOf(link),
                name: name.toLowerCase(),
                network: idKey(spec.guestVNetID),
                ours: [status?.privateDNSZoneID, status?.baseDomainDNSZoneID],
              },
            ]
          : [],
      ),
    );
    const found = wanted.flatMap(({ about, name, network, ours }): Omit<Finding, "check">[] => {
      const others = azure.zones.filter(
        (zone) =>
          nameOf(zone) === name &&
          isLinked(zone, network) &&
          !ours.some((id) => id !== undefined && idKey(id) === idKey(zone.zone.id ?? "")),
      );
      return others.map(({ zone }) => ({
        about,
        result: "failed",
        found: `Another zone ${name} is linked to the hosted cluster's network: ${zone.id}.`,
        remedy:
          "Delete that virtual network link, or have the cluster use this zone with the annotation postern.io/private-dns.",
      }));
    });
    return findings(linkedTwice.name, found);
  },
};

/** Azure asks the most specific zone that is linked, and no other even where that zone has no record. */
export const shadowed: WorldCheck = {
  name: "shadowed DNS records",
  run({ azure, kube }) {
    const found: Omit<Finding, "check">[] = [];
    const wanted = new Set(
      kube.links.flatMap(({ spec, status }) =>
        [status?.dnsZoneName, spec.baseDomain].flatMap((name) => name?.toLowerCase() ?? []),
      ),
    );
    // Two zones of other owners may hide each other's records.
    const isOwned = (each: Zone) =>
      wanted.has(nameOf(each)) ||
      ownerIn(each.zone.tags) !== undefined ||
      claimsIn(each.zone.tags).length > 0;
    for (const low of azure.zones)
      for (const high of azure.zones) {
        const [inner, outer] = [nameOf(low), nameOf(high)];
        if (!inner.endsWith(`.${outer}`)) continue;
        const both = low.links.some(({ properties }) => {
          const network = networkOf(properties.virtualNetwork?.id);
          return network !== undefined && isLinked(high, network);
        });
        if (!both) continue;
        const hidden = high.records
          .filter(
            ({ properties }) =>
              isOwned(low) || isOwned(high) || ownerIn(properties.metadata) !== undefined,
          )
          .map(({ id = "" }) => `${lastSegment(id)}.${outer}`.toLowerCase())
          .filter((name) => name === inner || name.endsWith(`.${inner}`));
        if (hidden.length > 0)
          found.push({
            about: high.zone.id ?? "",
            result: "failed",
            found: `Zone ${inner} hides ${hidden.join(", ")}.`,
            remedy: `Create the records in ${inner}, or delete its link to the virtual network.`,
          });
      }
    return findings(shadowed.name, found);
  },
};

/** A network with custom DNS servers resolves private zones only if these forward to Azure's resolver. */
export const ownResolvers: WorldCheck = {
  name: "custom DNS servers",
  run({ azure, kube }) {
    const used = new Set([
      ...kube.links.map(({ spec }) => idKey(spec.guestVNetID)),
      ...azure.zones.flatMap(({ links }) =>
        links.flatMap(({ properties }) => networkOf(properties.virtualNetwork?.id) ?? []),
      ),
    ]);
    const servers = azure.networks
      .filter(({ id = "" }) => used.has(idKey(id)))
      .flatMap(({ id = "", properties }): Omit<Finding, "check">[] => {
        const servers = properties.dhcpOptions?.dnsServers ?? [];
        if (servers.length === 0 || servers.every((each) => each === azureResolver))
          return [{ about: id, result: "ok", found: "The network uses Azure's resolver." }];
        return [
          {
            about: id,
            result: "warning",
            found: `The network uses the DNS servers ${servers.join(", ")}, which do not resolve private DNS zones by themselves.`,
            remedy: `Configure them to forward the cluster's domains to ${azureResolver}.`,
          },
        ];
      });
    return findings(ownResolvers.name, servers);
  },
};

function nameOf({ zone }: Zone): string {
  return (zone.name ?? lastSegment(zone.id ?? "")).toLowerCase();
}

function isLinked({ links }: Zone, network: string): boolean {
  return links.some(({ properties }) => networkOf(properties.virtualNetwork?.id) === network);
}
