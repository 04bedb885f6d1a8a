import type { Problem } from "../../../kube/part.ts";
import { isBelow, plainName, sameName } from "../desired/desired.ts";
import type { Observed } from "../observed.ts";
import { reasons } from "../reasons.ts";

/**
 * Whether the zone of the base domain would hide the cluster's own names. In a linked network a private zone answers for
 * its whole domain: what it does not hold does not exist there, and `*.apps.<cluster>.<domain>` is not ours to write.
 *
 *   base domain               a zone of the cluster's own   →
 *   beside the cluster's                                    fine
 *   equal to the cluster's                                  refused: it is that zone, and Azure links one of a name
 *   above the cluster's       known                         fine: the network asks the more specific zone
 *   above the cluster's       not known                     refused
 *
 * Known is one that `spec.dns.privateZoneID` names, or that lies in the group of the hosted cluster, where `hypershift create infra`
 * puts it. A zone that was in use before stays in use: taking names away is worse than what it hides.
 */
export function shadowed(observed: Observed): Problem | undefined {
  const { cluster, object, status } = observed;
  const { baseDomain } = object.spec;
  if (baseDomain === undefined || cluster?.domain === undefined) return undefined;
  if (status.baseDomainDNSZoneID !== undefined) return undefined;
  const own = `${cluster.name}.${cluster.domain}`;
  // The OAuth server's name is where the domain is read from, and no name of a cluster can change.
  const remedy = `create the cluster with its OAuthServer at oauth-${cluster.name}.<domain>, and its APIServer there too, in another domain, such as one below ${baseDomain}`;
  if (sameName(baseDomain, own))
    return refusal(
      `it is the domain of the cluster itself, so *.apps.${own} would not resolve`,
      remedy,
    );
  if (!liesAbove(observed)) return undefined;
  const moreSpecific = observed.zoneNames.some(
    (zone) =>
      isBelow(zone, baseDomain) && (plainName(zone) === plainName(own) || isBelow(own, zone)),
  );
  if (cluster.hasPrivateZone || moreSpecific) return undefined;
  return refusal(
    `its zone would hide *.apps.${own} from the guest's network`,
    `make a private DNS zone ${own}, link it to the network and set spec.dns.privateZoneID, or ${remedy}`,
  );

  function refusal(why: string, what: string): Problem {
    const message = `the names in ${baseDomain} are not written · ${why} · ${what}`;
    return { reason: reasons.baseDomainShadows, message };
  }
}

/** Whether the base domain lies above that of the cluster. */
export function liesAbove({ cluster, object }: Pick<Observed, "cluster" | "object">): boolean {
  const { baseDomain } = object.spec;
  if (baseDomain === undefined || cluster?.domain === undefined) return false;
  return isBelow(`${cluster.name}.${cluster.domain}`, baseDomain);
}
