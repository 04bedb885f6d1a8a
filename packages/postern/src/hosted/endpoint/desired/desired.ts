import { createHash } from "node:crypto";
import { isBelow, plainName, sameName } from "@postern/core/dns-name.ts";
import {
  childId,
  idKey,
  nameOf,
  parseResourceId,
  type ResourceId,
  resourceGroupId,
  resourceIn,
  sameId,
} from "@postern/core/resource-id.ts";
import { privateZoneIn } from "../../../private-dns/zone/observed.ts";
import {
  baseZoneLinkName,
  endpointName,
  internalZoneLinkName,
  internalZoneName,
  privateRouter,
} from "../../names.ts";
import type { Observed, ZoneInRole } from "../observed.ts";

/** Azure takes no longer name. */
export const longestEndpointName = 64;

/** The resource group of the hosted cluster, where endpoint and zones are created. */
export function clusterGroup(spec: Observed["object"]["spec"]): ResourceId {
  return resourceGroupId(spec.subscriptionID, spec.resourceGroupName);
}

/** The names that an endpoint may have: HyperShift's, and one that no other cluster has. */
export function endpointIds(
  { name, spec }: Pick<Observed["object"], "name" | "spec">,
  clusterID: string | undefined,
): ResourceId[] {
  const short = endpointName(name);
  const names = clusterID === undefined ? [short] : [short, `${short}-${clusterID}`];
  const type = "Microsoft.Network/privateEndpoints";
  return names.map((each) => resourceIn(clusterGroup(spec), type, each));
}

/** The names that a zone's link to a network may have, in order of preference. */
export function linkIdsOf(
  { object, self: { clusterID } }: Pick<Observed, "object" | "self">,
  zone: Pick<ZoneInRole, "id" | "role">,
  network: ResourceId,
  link: string = object.name,
): ResourceId[] {
  const shipped = zone.role === "internal" ? internalZoneLinkName(link) : baseZoneLinkName(link);
  const isOwnNetwork = idKey(network) === idKey(object.spec.guestVNetID);
  const base = isOwnNetwork ? shipped : `${shipped}-${shortHash(network)}`;
  const names = clusterID === undefined ? [base] : [base, `${base}-${clusterID}`];
  return names.map((name) => childId(zone.id, "virtualNetworkLinks", name));
}

function shortHash(id: string): string {
  return createHash("sha256").update(idKey(id)).digest("hex").slice(0, 8);
}

/** The networks in which the hostnames are to resolve: that of the hosted cluster first, unless it is left out. */
export function desiredNetworks({ object, choices }: Observed): ResourceId[] {
  if (choices.skipsOwnNetwork) return [...choices.networks];
  const network = parseResourceId(object.spec.guestVNetID);
  return [network, ...choices.networks.filter((each) => !sameId(each, network))];
}

/** A hostname that clients in the network of the hosted cluster use, and the zone that it belongs to. */
export interface DesiredName {
  role: ZoneInRole["role"];
  fqdn: string;
}

type DomainFacts = Pick<Observed, "object" | "cluster">;

/** The hostnames of a cluster in its base domain: that of the API server first. */
function hostsOf({ object, cluster }: DomainFacts): string[] {
  const { baseDomain } = object.spec;
  if (cluster === undefined || baseDomain === undefined) return [];
  return ["api", "oauth"].map((host) => `${host}-${cluster.name}.${plainName(baseDomain)}`);
}

/** The zones of a cluster that have one hostname each. They have its name in their own, so no other cluster shares them. */
export function hostZoneIds(observed: DomainFacts): ResourceId[] {
  const group = clusterGroup(observed.object.spec);
  return hostsOf(observed).map((fqdn) => privateZoneIn(group, plainName(fqdn)));
}

/** Whether an id is that of a zone of the cluster with one hostname. */
export function isHostZone(observed: DomainFacts, id: string | undefined): boolean {
  return id !== undefined && hostZoneIds(observed).some((each) => sameId(each, id));
}

/** Whether a zone of the base domain could hide `*.apps` of the cluster: it lies above the cluster's own domain, or is that. */
export function mayShadow({ object, cluster }: DomainFacts): boolean {
  const { baseDomain } = object.spec;
  if (baseDomain === undefined || cluster?.domain === undefined) return false;
  const own = `${cluster.name}.${cluster.domain}`;
  return sameName(baseDomain, own) || isBelow(own, baseDomain);
}

/**
 * Whether each hostname in the base domain gets a zone of its own. In a linked network a private zone answers for its whole domain:
 * what it does not contain does not exist there, and `*.apps.<cluster>.<domain>` is not written by Postern. The zone of one hostname
 * hides nothing else.
 *
 *   base domain               more specific zone in the cluster's group   →
 *   beside the cluster's                                                  one zone of the base domain
 *   above the cluster's       exists                                      one zone of the base domain
 *   above the cluster's       absent                                      a zone for each hostname
 *   one label, above it                                                   a zone for each hostname: Azure takes no zone of one
 *   equal to the cluster's                                                a zone for each hostname
 *
 * `spec.dns.privateZoneID` does not count: it may name a zone that does not exist. What this link or a sibling has published remains
 * in use.
 */
export function usesHostZones(
  observed: Pick<Observed, "object" | "cluster" | "siblings" | "choices" | "status" | "zoneNames">,
): boolean {
  const { object, cluster, siblings, choices, status, zoneNames } = observed;
  const { baseDomain } = object.spec;
  if (choices.zones !== "managed" || !mayShadow(observed)) return false;
  if (baseDomain === undefined || cluster?.domain === undefined) return false;
  const published =
    status.baseDomainDNSZoneID ??
    siblings.find((each) => each.lives && each.baseZone && sameName(each.baseDomain, baseDomain))
      ?.baseZone;
  if (published !== undefined) return isHostZone(observed, published);
  if (!plainName(baseDomain).includes(".")) return true;
  const own = `${cluster.name}.${cluster.domain}`;
  return !zoneNames.some(
    (zone) => isBelow(zone, baseDomain) && (sameName(zone, own) || isBelow(own, zone)),
  );
}

/**
 * The names of a link (C the control plane, B the base domain):
 *
 *   link            internal zone     base zone, or a zone for each
 *   private-router  api, *.apps       api-C; oauth-C until another link with the same B has an endpoint that works
 *   any other       –                 oauth-C
 */
export function desiredNames(
  observed: Pick<Observed, "object" | "cluster" | "siblings" | "choices" | "status" | "zoneNames">,
): DesiredName[] {
  const { object, cluster, choices } = observed;
  if (cluster === undefined || choices.zones === "none") return [];
  const names: DesiredName[] = [];
  const isRouter = object.name === privateRouter;
  if (isRouter) {
    const internal = internalZoneName(cluster.name);
    names.push({ role: "internal", fqdn: `api.${internal}` });
    names.push({ role: "internal", fqdn: `*.apps.${internal}` });
  }
  const { baseDomain } = object.spec;
  if (baseDomain === undefined) return names;
  const role = usesHostZones(observed) ? "host" : "base";
  if (isRouter) names.push({ role, fqdn: `api-${cluster.name}.${baseDomain}` });
  if (!isRouter || !observed.siblings.some((each) => takesOAuth(each, baseDomain) && each.ready))
    names.push({ role, fqdn: `oauth-${cluster.name}.${baseDomain}` });
  return names;
}

/** The zones for single hostnames: whether this link wants them, and whether it may have left something in them. */
export function hostPlaces(
  observed: Omit<Observed, "zones">,
): { id: ResourceId; desired: boolean; left: boolean }[] {
  const { choices, deletion, status } = observed;
  const desired = desiredNames(observed).filter(({ role }) => role === "host");
  // While a link of the OAuth server has the hostname, the zone of that is its own.
  const isLeft =
    deletion === undefined
      ? choices.zones !== "managed" && isHostZone(observed, status.baseDomainDNSZoneID)
      : mayShadow(observed);
  return hostZoneIds(observed).map((id) => ({
    id,
    desired: desired.some(({ fqdn }) => sameName(fqdn, nameOf(id))),
    left: isLeft,
  }));
}

/** Whether a sibling is, or will be, the one that the OAuth server's name points to. */
export function takesOAuth(
  sibling: Observed["siblings"][number],
  baseDomain: string | undefined,
): boolean {
  return (
    sibling.lives && sibling.name !== privateRouter && sameName(sibling.baseDomain, baseDomain)
  );
}

/** The name within a zone, `@` for that of the zone itself; undefined where it does not belong to the zone. */
export function nameInZone(fqdn: string, zone: ResourceId): string | undefined {
  const domain = nameOf(zone);
  if (sameName(fqdn, domain)) return "@";
  return isBelow(fqdn, domain)
    ? plainName(fqdn).slice(0, -(plainName(domain).length + 1))
    : undefined;
}
