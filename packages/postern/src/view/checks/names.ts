import { claimsIn } from "@postern/core/claims.ts";
import { keyOf } from "@postern/core/kind.ts";
import { ownerIn } from "@postern/core/ownership.ts";
import { idKey, lastSegment } from "@postern/core/resource-id.ts";
import { networkOf } from "../index-of.ts";
import type { Zone } from "../world.ts";
import { type Finding, findings, type WorldCheck } from "./check.ts";

/** Azure's own resolver; every private zone is answered by it and by no other. */
const azureResolver = "168.63.129.16";

/** Azure links a network to one zone of a name only. */
export const linkedTwice: WorldCheck = {
  name: "zones already linked",
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
        verdict: "wrong",
        found: `another zone ${name} is linked to the guest's network: ${zone.id}`,
        remedy: "take that link away, or say that this zone is to be used: postern.io/private-dns",
      }));
    });
    return findings(linkedTwice.name, found);
  },
};

/** The most specific zone that is linked answers, and hides the others even where it has no record. */
export const shadowed: WorldCheck = {
  name: "shadowed names",
  run({ azure, kube }) {
    const found: Omit<Finding, "check">[] = [];
    const wanted = new Set(
      kube.links.flatMap(({ spec, status }) =>
        [status?.dnsZoneName, spec.baseDomain].flatMap((name) => name?.toLowerCase() ?? []),
      ),
    );
    // What two zones of others hide from each other is none of our business.
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
            verdict: "wrong",
            found: `zone ${inner} hides ${hidden.join(", ")}`,
            remedy: `put the records into ${inner}, or take its link to the network away`,
          });
      }
    return findings(shadowed.name, found);
  },
};

/** A network with resolvers of its own asks no private zone, unless they pass the question on. */
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
          return [{ about: id, verdict: "ok", found: "it asks Azure's resolver" }];
        return [
          {
            about: id,
            verdict: "warning",
            found: `it asks ${servers.join(", ")}, which know no private zone by themselves`,
            remedy: `have them pass the cluster's domains on to ${azureResolver}`,
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
