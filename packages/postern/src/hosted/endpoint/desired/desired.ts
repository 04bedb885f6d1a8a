import { createHash } from "node:crypto";
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
  const ofGuest = idKey(network) === idKey(object.spec.guestVNetID);
  const base = ofGuest ? shipped : `${shipped}-${shortHash(network)}`;
  const names = clusterID === undefined ? [base] : [base, `${base}-${clusterID}`];
  return names.map((name) => childId(zone.id, "virtualNetworkLinks", name));
}

function shortHash(id: string): string {
  return createHash("sha256").update(idKey(id)).digest("hex").slice(0, 8);
}

/** The networks in which the hostnames are to resolve: that of the hosted cluster first. */
export function desiredNetworks({ object, choices }: Observed): ResourceId[] {
  const guest = parseResourceId(object.spec.guestVNetID);
  return [guest, ...choices.networks.filter((each) => !sameId(each, guest))];
}

/** A hostname that clients in the network of the hosted cluster use, and the zone that it belongs to. */
export interface DesiredName {
  role: ZoneInRole["role"];
  fqdn: string;
}

/**
 * The names of a link (C the control plane, B the base domain):
 *
 *   link            internal zone     base zone
 *   private-router  api, *.apps       api-C; oauth-C until another link with the same B has an endpoint that works
 *   any other       –                 oauth-C
 */
export function desiredNames(
  observed: Pick<Observed, "object" | "cluster" | "siblings" | "choices">,
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
  if (isRouter) names.push({ role: "base", fqdn: `api-${cluster.name}.${baseDomain}` });
  if (!isRouter || !observed.siblings.some((each) => takesOAuth(each, baseDomain) && each.ready))
    names.push({ role: "base", fqdn: `oauth-${cluster.name}.${baseDomain}` });
  return names;
}

/** Whether a sibling is, or will be, the one that the OAuth server's name leads to. */
export function takesOAuth(
  sibling: Observed["siblings"][number],
  baseDomain: string | undefined,
): boolean {
  return (
    sibling.lives && sibling.name !== privateRouter && sameName(sibling.baseDomain, baseDomain)
  );
}

/** Whether two DNS names are the same; absent ones are not. */
export function sameName(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && plainName(a) === plainName(b ?? "");
}

/** A DNS name as it is compared. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}

/** Whether a name lies below a domain. */
export function isBelow(name: string, domain: string): boolean {
  return plainName(name).endsWith(`.${plainName(domain)}`);
}

/** The name within a zone; undefined where it does not belong to the zone. */
export function nameInZone(fqdn: string, zone: ResourceId): string | undefined {
  const domain = nameOf(zone);
  return isBelow(fqdn, domain)
    ? plainName(fqdn).slice(0, -(plainName(domain).length + 1))
    : undefined;
}
