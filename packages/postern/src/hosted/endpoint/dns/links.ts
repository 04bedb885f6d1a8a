import { nameOf, type ResourceId } from "@postern/core/resource-id.ts";
import { longestLinkName } from "../../../private-dns/links/desired.ts";
import type { LinkPolicy } from "../../../private-dns/links/plan.ts";
import { annotations } from "../../names.ts";
import { desiredNetworks, linkIdsOf } from "../desired/desired.ts";
import type { Observed, ZoneInRole } from "../observed.ts";
import { isHyperShifts, sharedTags, userOf } from "../ownership/owner.ts";
import { reasons } from "../reasons.ts";
import { isUntaggedLink } from "./missing-tags.ts";
import { failures, isPublished, namesPending, presentCondition, whileChanging } from "./report.ts";

/**
 * The links of a zone. One that HyperShift created in a zone that our status names is adopted, and so is an owned one that has lost its
 * tags. The zone of a base domain is linked only once the link service exists: an empty zone hides the public names of its
 * domain.
 */
export function linkPolicy(observed: Observed, zone: ZoneInRole): LinkPolicy {
  const pending = namesPending(observed);
  const reason = failures(zone.role).link;
  const name = nameOf(zone.id);
  return {
    user: userOf(observed),
    networks: desiredNetworks(observed),
    tags: sharedTags(observed, "vnet-link"),
    userTags: observed.choices.tags,
    idsFor: (network) => linkIdsOf(observed, zone, network),
    isAdoptable: (link) =>
      (zone.managed &&
        isPublished(observed, zone) &&
        isHyperShifts(link.found.tags, "vnet-link")) ||
      isUntaggedLink(observed, zone, link),
    withheld: zone.role !== "internal" && observed.link.alias === undefined ? pending : undefined,
    isServed: presentCondition(observed)?.status === "True",
    refuseId: (id) => refuseId(zone, id),
    report: {
      zone: `the private DNS zone ${name}`,
      creating: pending,
      changing: whileChanging(observed),
      serves: "serves this cluster too",
      unresolved: () => pending,
      failed: ({ id, found }, repairing) =>
        repairing
          ? pending
          : {
              reason,
              message: `DNS names may not resolve · link ${nameOf(id)} of the private DNS zone ${name} is ${found.properties.provisioningState} · ask its owner to update it, or delete it`,
            },
      refused: (network, { message }) => {
        const key = zone.role === "internal" ? annotations.internalZone : annotations.baseZone;
        const remedy = `if the network ${nameOf(network)} is linked to another zone named ${name}, use that one: ${annotations.zones}: existing and ${key}: <its id> on the HostedCluster`;
        return { reason, message: `${message} · ${remedy}` };
      },
      taken: (network, names) => ({
        reason: reasons.ownedByAnother,
        message: `the zone ${name} cannot be linked to ${nameOf(network)} · the names ${names} are taken by links to other networks · remove one of them`,
      }),
    },
  };
}

function refuseId({ id: zone }: ZoneInRole, id: ResourceId) {
  if (nameOf(id).length <= longestLinkName) return undefined;
  return {
    reason: reasons.nameTooLong,
    message: `the zone ${nameOf(zone)} cannot be linked · the name ${nameOf(id)} is longer than the ${longestLinkName} characters that Azure allows · use a shorter name for the Service`,
  };
}
