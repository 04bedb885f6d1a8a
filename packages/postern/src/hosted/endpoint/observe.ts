import { lastUserIn } from "@postern/core/claims.ts";
import { conditionOf } from "@postern/core/conditions.ts";
import { type Failure, isExplained } from "@postern/core/failure.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { isLeftBehind } from "@postern/core/ownership.ts";
import { paused } from "@postern/core/pause.ts";
import {
  idKey,
  lastSegment,
  parentOf,
  parseResourceId,
  type ResourceId,
  sameId,
} from "@postern/core/resource-id.ts";
import type { TenantPolicy } from "@postern/core/tenant-policy.ts";
import type { ArmClient } from "../../azure/arm.ts";
import type { Look } from "../../azure/gateway.ts";
import { privateDnsZones } from "../../azure/gateways/private-dns.ts";
import { type PrivateEndpoint, privateEndpoints } from "../../azure/gateways/private-endpoints.ts";
import { oldestSightingMs } from "../../azure/sightings.ts";
import type { ZoneTurns } from "../../azure/zone-turns.ts";
import type { OwnObjects } from "../../kube/own-objects.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import { tryRead } from "../../kube/try-read.ts";
import { recordId } from "../../private-dns/records/desired.ts";
import { observeZone, type ZoneQuery, type ZoneReads } from "../../private-dns/zone/observe.ts";
import { privateZoneIn } from "../../private-dns/zone/observed.ts";
import { addressesOf, stateOf } from "../../private-link/endpoint/observed.ts";
import type { GuestSide } from "../azure-sides.ts";
import {
  clusterAnnotation,
  conditions,
  endpointFinalizer,
  internalZoneName,
  privateRouter,
} from "../names.ts";
import {
  type Belonging,
  belongingOf,
  choicesOf,
  clusterFacts,
  isAbandoned,
  peerOf,
  type Sources,
  siblingsOf,
} from "./cluster/facts.ts";
import { baseZonePlace, isNameReserved, type Peer } from "./cluster/placement.ts";
import { externalServices } from "./cluster/services.ts";
import {
  endpointIds,
  guestGroup,
  linkIdsOf,
  nameInZone,
  plainName,
  wantedNames,
  wantedNetworks,
} from "./desired/desired.ts";
import { hasLostClaim, isOwnPlace } from "./dns/missing-tags.ts";
import { liesAbove } from "./dns/shadow.ts";
import {
  type Observed,
  type OwnStatus,
  statusFields,
  type Us,
  type ZoneInRole,
} from "./observed.ts";
import { isHyperShifts, isOwned, ourClaim } from "./ownership/owner.ts";

/** What `observe` reads from. */
export interface Parts {
  sources: Sources;
  services: OwnObjects<Service>;
  sides: GuestSide;
  turns: ZoneTurns;
  policy?: TenantPolicy | undefined;
}

/** How a reconcile reads Azure: how old an observation may be, and whether it only checks for drift. */
interface Looking {
  reconcile: Reconcile;
  arm: ArmClient;
  maxAgeMs: number;
  drift: boolean;
  turns: ZoneTurns;
}

/** One that is not connected yet is read anew, but not by every reconcile that something else causes. */
const unconnectedAgeMs = 15_000;

/** Everything that a plan needs: what Kubernetes says from the caches, what is in the guest from Azure. */
export async function observe(
  link: AzurePrivateLinkService,
  parts: Parts,
  reconcile: Reconcile,
): Promise<Observed & { arm?: ArmClient }> {
  const known = seeKubernetes(link, reconcile, parts);
  const { cluster, going, us, object } = known;
  const obeyed = cluster?.unverified === undefined && cluster?.notAllowed === undefined;
  const ready = cluster?.held === true && us.clusterID !== undefined && obeyed;
  if (going === undefined ? !ready : !object.held) return known;
  const services = await seeServices(known, reconcile, parts);
  const arm = guestOf(
    link,
    belongingOf(link, parts.sources),
    reconcile,
    parts,
    going !== undefined,
  );
  if ("refused" in arm) return { ...known, services, noCredential: arm.refused };
  const drift = reconcile.priority === "drift" && reconcile.freshSince === undefined;
  const looking: Looking = {
    reconcile,
    arm: arm.view,
    drift,
    maxAgeMs: oldestSightingMs(reconcile),
    turns: parts.turns,
  };
  const [endpoints, zones] = await Promise.all([
    seeEndpoints(known, link, looking, parts.sources),
    seeZones(known, link, looking, parts.sources),
  ]);
  // While Azure was asked the control plane may have begun to go. Nothing holds it for an object that we do not hold yet.
  const late = object.held ? undefined : belongingOf(link, parts.sources).going;
  if (going === undefined && late !== undefined) return { ...known, going: late };
  return { ...known, services, ...endpoints, ...zones, arm: arm.view };
}

function seeKubernetes(
  link: AzurePrivateLinkService,
  reconcile: Reconcile,
  { sources, policy }: Parts,
): Observed {
  const belonging = belongingOf(link, sources);
  const { controlPlane, cluster, owner, going } = belonging;
  const { metadata, spec, status } = link;
  const told = status?.conditions ?? [];
  const linkCondition = conditionOf(told, conditions.link);
  const endpoint = conditionOf(told, conditions.endpoint);
  const us: Us = {
    uid: metadata.uid ?? "",
    clusterID: controlPlane?.spec.clusterID ?? cluster?.spec.clusterID,
    controlPlaneUid: owner?.uid,
  };
  const held: OwnStatus = {};
  for (const field of statusFields) if (status?.[field]) held[field] = status[field];
  return {
    object: {
      name: metadata.name,
      namespace: metadata.namespace ?? "",
      held: metadata.finalizers?.includes(endpointFinalizer) ?? false,
      spec,
    },
    us,
    cluster: clusterFacts(belonging, sources, policy, baseZoneOf(link, sources, policy)),
    going,
    abandoned: isAbandoned(link, belonging),
    pause: paused((cluster ?? controlPlane)?.spec.pausedUntil, reconcile.date()),
    choices: choicesOf(belonging),
    siblings: siblingsOf(link, sources),
    link: {
      alias: status?.privateLinkServiceAlias,
      id: status?.privateLinkServiceID,
      condition: linkCondition,
      current: linkCondition?.observedGeneration === metadata.generation,
    },
    conditions: told.filter(({ type }) =>
      [conditions.available, conditions.endpoint, conditions.dns].some((each) => each === type),
    ),
    status: held,
    endpointSinceMs: endpoint
      ? Math.max(0, reconcile.date().getTime() - Date.parse(endpoint.lastTransitionTime))
      : 0,
    noCredential: undefined,
    endpoints: [],
    endpointsFailed: undefined,
    nameReserved: false,
    zones: [],
    zoneNames: [],
    zonesFailed: undefined,
    services: [],
  };
}

/** The zone of the base domain, where a policy decides whether it may be used. */
function baseZoneOf(
  link: AzurePrivateLinkService,
  sources: Sources,
  policy: TenantPolicy | undefined,
): ResourceId | undefined {
  if (policy === undefined || link.spec.baseDomain === undefined) return undefined;
  return baseZonePlace(peerOf(link, sources), peersOf(link, sources));
}

async function seeServices(
  seen: Observed,
  reconcile: Reconcile,
  { services }: Parts,
): Promise<Service[]> {
  if (seen.object.name !== privateRouter) return [];
  const { namespace } = seen.object;
  const found = await Promise.all(
    Object.values(externalServices).map((name) =>
      services.get({ namespace, name }, reconcile.signal),
    ),
  );
  return found.filter((each) => each !== undefined);
}

/** The guest, by the control plane's own credential, or by what is left of it when the control plane has gone. */
function guestOf(
  { metadata, spec: link }: AzurePrivateLinkService,
  { controlPlane, cluster, clusterKey, owner }: Belonging,
  reconcile: Reconcile,
  { sides }: Parts,
  going: boolean,
): { view: ArmClient } | { refused: Failure } {
  const { subscriptionID, resourceGroupName, location, guestVNetID, guestSubnetID } = link;
  const azure = {
    subscriptionID,
    location,
    resourceGroup: resourceGroupName,
    vnetID: guestVNetID,
    subnetID: guestSubnetID,
  };
  const standIn = {
    metadata: {
      ...(metadata.namespace && { namespace: metadata.namespace }),
      name: owner?.name ?? "",
      // One that is gone is verified as one that is being deleted.
      deletionTimestamp: metadata.deletionTimestamp ?? metadata.creationTimestamp ?? "",
      ...(owner && { uid: owner.uid }),
      ...(clusterKey && { annotations: { [clusterAnnotation]: clusterKey } }),
    },
    spec: cluster?.spec ?? { platform: { type: "Azure", azure } },
  } as HostedControlPlane;
  try {
    return { view: sides.guest(controlPlane ?? standIn, reconcile) };
  } catch (error) {
    if (!going || !isExplained(error)) throw error;
    return { refused: error.explain() };
  }
}

async function seeEndpoints(
  seen: Observed,
  link: AzurePrivateLinkService,
  { reconcile, arm, maxAgeMs }: Looking,
  sources: Sources,
): Promise<Partial<Observed>> {
  const gateway = privateEndpoints(arm);
  const ids = endpointIds(seen.object, seen.us.clusterID);
  const group = guestGroup(seen.object.spec);
  const exists = (uid: string) => sources.links.byIndex("uid", uid).length > 0;
  const isLeft = (look: Look<PrivateEndpoint>) =>
    look.state === "there" && isLeftBehind(look.resource.tags, seen.us, exists);
  const one = async (id: ResourceId): Promise<Look<PrivateEndpoint>> => {
    const look = await gateway.look(id, maxAgeMs);
    // What another left is taken over by what Azure says of it now.
    if (isLeft(look)) return gateway.look(id, 0);
    const known = look.state === "there" && isOwned(look.resource.tags, seen.us);
    if (!known || seen.going !== undefined) return look;
    if (stateOf(look.resource) !== "approved") return gateway.look(id, unconnectedAgeMs);
    // A list does not tell the addresses of interfaces.
    return addressesOf(look.resource).length === 0 ? gateway.look(id, 0) : look;
  };
  const read = async () => {
    const listed = await gateway.list(group, maxAgeMs);
    // At the end everything of ours counts, under whatever name: the cluster's number may be unknown by now.
    const ours =
      seen.going === undefined ? [] : listed.filter(({ tags }) => isOwned(tags, seen.us));
    const all = withIds(ids, ours);
    const looks = await Promise.all(all.map(async (id) => ({ id, look: await one(id) })));
    return looks.map((each) => ({ ...each, left: isLeft(each.look) }));
  };
  const endpoints = await tryRead(reconcile, read);
  if ("failed" in endpoints) return { endpointsFailed: endpoints.failed };
  const [shipped] = ids;
  // Of interest only where an endpoint is still to be made.
  if (shipped === undefined || endpoints[0]?.look.state !== "absent") return { endpoints };
  const rivals = sources.links.byIndex("endpoint-place", placeKey(link));
  const peers = rivals.map((each) => peerOf(each, sources));
  const nameReserved = isNameReserved(peerOf(link, sources), shipped, peers);
  return { endpoints, nameReserved };
}

async function seeZones(
  seen: Observed,
  link: AzurePrivateLinkService,
  looking: Looking,
  sources: Sources,
): Promise<Partial<Observed>> {
  const gateway = privateDnsZones(looking.arm);
  const group = guestGroup(seen.object.spec);
  const places = zonePlaces(seen, link, sources);
  const inGroup = places.some(({ id }) => sameId(parentOf(id) ?? "", group));
  const listed = inGroup
    ? await tryRead(looking.reconcile, () => gateway.list(group, looking.maxAgeMs))
    : [];
  if ("failed" in listed) return { zonesFailed: listed.failed };
  const zones = await Promise.all(
    places.map((place) => seeZone(place, inside(seen, place), looking)),
  );
  // Of interest only where a base domain lies above the cluster's own; a group may hold a thousand zones.
  const names = liesAbove(seen) ? listed.map(({ id = "" }) => plainName(lastSegment(id))) : [];
  return { zones: settled(seen, zones), zoneNames: names };
}

type Place = Pick<ZoneInRole, "role" | "id" | "managed" | "wanted">;

async function seeZone(
  place: Place,
  inside: Pick<ZoneQuery, "links" | "records">,
  { reconcile, arm, maxAgeMs, drift, turns }: Looking,
): Promise<ZoneInRole> {
  const { sightings } = arm;
  const now = reconcile.now().getTime();
  // A zone whose turn it is to be read is read whole; some others have their links read, because a link that failed is still
  // counted.
  let isWhole: boolean | undefined;
  const takeWhole = () => {
    isWhole ??= turns.take("whole", sightings, now);
    return isWhole;
  };
  const reads: ZoneReads = {
    reconcile,
    maxAgeMs,
    drift,
    countedAgeMs: Number.POSITIVE_INFINITY,
    isDue: (what) => takeWhole() || (what === "links" && turns.take("links", sightings, now)),
    trustsEmptyCounts: true,
  };
  return { ...place, ...(await observeZone({ id: place.id, ...inside }, arm, reads)) };
}

/** The zones that are wanted, and those that the status names or that would have been made: they may hold what is ours. */
function zonePlaces(seen: Observed, link: AzurePrivateLinkService, sources: Sources): Place[] {
  const { object, cluster, choices, status, going } = seen;
  const places: Place[] = [];
  const add = (
    role: Place["role"],
    id: ResourceId | undefined,
    managed: boolean,
    wanted: boolean,
  ) => {
    if (id !== undefined && !places.some((each) => sameId(each.id, id)))
      places.push({ role, id, managed, wanted: wanted && going === undefined });
  };
  const managed = choices.zones === "managed";
  const given = choices.zones === "existing";
  const isRouter = object.name === privateRouter;
  const internal =
    cluster && isRouter
      ? privateZoneIn(guestGroup(object.spec), internalZoneName(cluster.name))
      : undefined;
  if (isRouter && given) add("internal", choices.internalZone, false, true);
  if (isRouter && managed) add("internal", internal, true, true);
  if (given && object.spec.baseDomain) add("base", choices.baseZone, false, true);
  if (managed && object.spec.baseDomain)
    add("base", baseZonePlace(peerOf(link, sources), peersOf(link, sources)), true, true);
  if (isRouter) add("internal", idOf(status.privateDNSZoneID), true, false);
  add("base", idOf(status.baseDomainDNSZoneID), true, false);
  if (going === undefined) return places;
  if (isRouter) add("internal", internal, true, false);
  if (object.spec.baseDomain)
    add(
      "base",
      privateZoneIn(guestGroup(object.spec), plainName(object.spec.baseDomain)),
      true,
      false,
    );
  return places;
}

function withIds(ids: readonly ResourceId[], found: readonly { id?: string }[]): ResourceId[] {
  const all = new Map(ids.map((id) => [idKey(id), id]));
  for (const { id } of found) if (id !== undefined) all.set(idKey(id), parseResourceId(id));
  return [...all.values()];
}

/** The links that share a network and a base domain with this one. */
function peersOf(link: AzurePrivateLinkService, sources: Sources): Peer[] {
  return sources.links
    .byIndex("endpoint-domain", domainKey(link))
    .map((each) => peerOf(each, sources));
}

/** What in a zone is of interest though it may not exist. */
function inside(seen: Observed, place: Place): Pick<ZoneQuery, "links" | "records"> {
  const links = wantedNetworks(seen).flatMap((network) => linkIdsOf(seen, place, network));
  const records = wantedNames(seen)
    .filter(({ role }) => place.wanted && role === place.role)
    .flatMap(({ fqdn }) => nameInZone(fqdn, place.id) ?? [])
    .flatMap((each) => ["A", "AAAA"].map((type) => recordId(place.id, { type, name: each })));
  return { links, records };
}

/**
 * A zone that we published and that is not ours was somebody's, used by annotation, and the annotation has gone: it is
 * given up. Where the one that is wanted now would be that very one, the plan says whose it is.
 */
function settled(seen: Observed, zones: Observed["zones"]): Observed["zones"] {
  return zones.map((zone) => {
    const { look, managed, wanted } = zone;
    if (wanted || !managed || look.state !== "there") return zone;
    const { tags } = look.resource;
    const ours =
      ourClaim(tags, seen.us) !== undefined ||
      isHyperShifts(tags, "private-dns-zone") ||
      hasLostClaim(seen, zone) ||
      (lastUserIn(tags) !== undefined && isOwnPlace(seen, zone));
    return ours ? zone : { ...zone, managed: false };
  });
}

function idOf(text: string | undefined): ResourceId | undefined {
  return text === undefined
    ? undefined
    : parseResourceId(text, "Microsoft.Network/privateDnsZones");
}

/** The index of links by the zone of a base domain that they would share. */
export function domainKey({ spec }: AzurePrivateLinkService): string {
  return `${idKey(spec.guestVNetID)} ${plainName(spec.baseDomain ?? "")}`;
}

/** The index of links by the name that their endpoints would have. */
export function placeKey({ metadata, spec }: AzurePrivateLinkService): string {
  return `${idKey(guestGroup(spec))} ${metadata.name}`;
}
