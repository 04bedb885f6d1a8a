import { lastUserIn } from "@postern/core/claims.ts";
import { conditionOf } from "@postern/core/conditions.ts";
import { plainName } from "@postern/core/dns-name.ts";
import type { Failure } from "@postern/core/failure.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { isOrphaned } from "@postern/core/ownership.ts";
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
import type { Observation } from "../../azure/gateway.ts";
import { privateDnsZones } from "../../azure/gateways/private-dns.ts";
import { type PrivateEndpoint, privateEndpoints } from "../../azure/gateways/private-endpoints.ts";
import { maxReadAgeMs } from "../../azure/read-cache.ts";
import type { OwnObjects } from "../../kube/own-objects.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import { tryRead, tryReadNow } from "../../kube/try-read.ts";
import { recordId } from "../../private-dns/records/desired.ts";
import {
  isDueByBudget,
  observeZone,
  type ZoneQuery,
  type ZoneReads,
  zonesAgeMs,
} from "../../private-dns/zone/observe.ts";
import { privateZoneIn } from "../../private-dns/zone/observed.ts";
import { addressesOf, stateOf } from "../../private-link/endpoint/observed.ts";
import type { HostedArmClients } from "../arm-clients.ts";
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
  clusterGroup,
  desiredNames,
  desiredNetworks,
  endpointIds,
  hostPlaces,
  isHostZone,
  linkIdsOf,
  mayShadow,
  nameInZone,
  usesHostZones,
} from "./desired/desired.ts";
import { isOwnPlace, lacksClaim } from "./dns/missing-tags.ts";
import {
  type Observed,
  type OwnStatus,
  type Self,
  statusFields,
  type ZoneInRole,
} from "./observed.ts";
import { isHyperShifts, isOwned, ownClaim } from "./ownership/owner.ts";
import { reasons } from "./reasons.ts";

/** What `observe` reads from. */
export interface Parts {
  sources: Sources;
  services: OwnObjects<Service>;
  armClients: HostedArmClients;
  policy?: TenantPolicy | undefined;
}

/** How a reconcile reads Azure: how old an observation may be, and whether it only checks for drift. */
interface Reads {
  reconcile: Reconcile;
  arm: ArmClient;
  maxAgeMs: number;
  drift: boolean;
}

/** An endpoint that is not connected yet is read again, but not by every reconcile. */
const unconnectedAgeMs = 15_000;

/** Everything that a plan needs: from the caches, and from the subscription of the hosted cluster. */
export async function observe(
  link: AzurePrivateLinkService,
  parts: Parts,
  reconcile: Reconcile,
): Promise<Observed & { arm?: ArmClient }> {
  const known = observeKubernetes(link, reconcile, parts);
  const { cluster, deletion, self, object } = known;
  const obeyed = cluster?.unverified === undefined && cluster?.notAllowed === undefined;
  const ready = cluster?.hasFinalizer === true && self.clusterID !== undefined && obeyed;
  if (deletion === undefined ? !ready : !object.hasFinalizer) return known;
  const services = await observeServices(known, reconcile, parts);
  const client = armClientOf(
    link,
    belongingOf(link, parts.sources),
    reconcile,
    parts,
    deletion !== undefined,
  );
  if ("failed" in client) return { ...known, services, noCredential: client.failed };
  const drift = reconcile.priority === "drift" && reconcile.freshSince === undefined;
  const reads: Reads = {
    reconcile,
    arm: client,
    drift,
    maxAgeMs: maxReadAgeMs(reconcile),
  };
  const [endpoints, zones] = await Promise.all([
    observeEndpoints(known, link, reads, parts.sources),
    observeZones(known, link, reads, parts.sources),
  ]);
  // Meanwhile the deletion of the control plane may have begun. Nothing delays it before our finalizer is on the object.
  const deletionNow = object.hasFinalizer ? undefined : belongingOf(link, parts.sources).deletion;
  if (deletion === undefined && deletionNow !== undefined)
    return { ...known, deletion: deletionNow };
  return { ...known, services, ...endpoints, ...zones, arm: client };
}

function observeKubernetes(
  link: AzurePrivateLinkService,
  reconcile: Reconcile,
  { sources, policy }: Parts,
): Observed {
  const belonging = belongingOf(link, sources);
  const { controlPlane, cluster, owner, deletion } = belonging;
  const { metadata, spec, status } = link;
  const reported = status?.conditions ?? [];
  const linkCondition = conditionOf(reported, conditions.link);
  const endpoint = conditionOf(reported, conditions.endpoint);
  const self: Self = {
    uid: metadata.uid ?? "",
    clusterID: controlPlane?.spec.clusterID ?? cluster?.spec.clusterID,
    controlPlaneUid: owner?.uid,
  };
  const published: OwnStatus = {};
  for (const field of statusFields) if (status?.[field]) published[field] = status[field];
  return {
    object: {
      name: metadata.name,
      namespace: metadata.namespace ?? "",
      hasFinalizer: metadata.finalizers?.includes(endpointFinalizer) ?? false,
      spec,
    },
    self,
    cluster: clusterFacts(belonging, sources, policy, baseZoneOf(link, sources, policy)),
    deletion,
    deletingMs: deletingMs(belonging, reconcile.date()),
    abandoned: isAbandoned(link, belonging),
    isOnCluster: isOnCluster(belonging, reconcile.date()),
    pause: paused((cluster ?? controlPlane)?.spec.pausedUntil, reconcile.date()),
    choices: choicesOf(belonging),
    siblings: siblingsOf(link, sources),
    link: {
      alias: status?.privateLinkServiceAlias,
      id: status?.privateLinkServiceID,
      condition: linkCondition,
      current: linkCondition?.observedGeneration === metadata.generation,
    },
    conditions: reported.filter(({ type }) =>
      [conditions.available, conditions.endpoint, conditions.dns].some((each) => each === type),
    ),
    status: published,
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

/** How long an object, or else its control plane, has been deleted. */
function deletingMs({ link, controlPlane }: Belonging, now: Date): number {
  const since = link.metadata.deletionTimestamp ?? controlPlane?.metadata.deletionTimestamp;
  return since === undefined ? 0 : Math.max(0, now.getTime() - Date.parse(since));
}

/** How long an object waits for its HostedCluster to list what is abandoned: its controller may not run. */
const clusterReportMs = 60_000;

function isOnCluster({ link, cluster }: Belonging, now: Date): boolean | undefined {
  if (cluster === undefined) return undefined;
  const reported = conditionOf(cluster.status?.conditions, conditions.available);
  if (reported?.reason === reasons.abandoned) return true;
  const endpoint = conditionOf(link.status?.conditions, conditions.endpoint);
  if (endpoint?.reason !== reasons.abandoned) return false;
  return now.getTime() - Date.parse(endpoint.lastTransitionTime) >= clusterReportMs;
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

async function observeServices(
  observed: Observed,
  reconcile: Reconcile,
  { services }: Parts,
): Promise<Service[]> {
  if (observed.object.name !== privateRouter) return [];
  const { namespace } = observed.object;
  const found = await Promise.all(
    Object.values(externalServices).map((name) =>
      services.get({ namespace, name }, reconcile.signal),
    ),
  );
  return found.filter((each) => each !== undefined);
}

/** With the control plane's own credential, or what is known of it where the control plane does not exist any more. */
function armClientOf(
  { metadata, spec: link }: AzurePrivateLinkService,
  { controlPlane, cluster, clusterKey, owner }: Belonging,
  reconcile: Reconcile,
  { armClients }: Parts,
  deletion: boolean,
): ArmClient | { failed: Failure } {
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
      // One that does not exist any more is verified as one that is being deleted.
      deletionTimestamp: metadata.deletionTimestamp ?? metadata.creationTimestamp ?? "",
      ...(owner && { uid: owner.uid }),
      ...(clusterKey && { annotations: { [clusterAnnotation]: clusterKey } }),
    },
    spec: cluster?.spec ?? { platform: { type: "Azure", azure } },
  } as HostedControlPlane;
  const open = () => armClients.hosted(controlPlane ?? standIn, reconcile);
  if (!deletion) return open();
  return tryReadNow(reconcile, open);
}

async function observeEndpoints(
  observed: Observed,
  link: AzurePrivateLinkService,
  { reconcile, arm, maxAgeMs }: Reads,
  sources: Sources,
): Promise<Partial<Observed>> {
  const gateway = privateEndpoints(arm);
  const ids = endpointIds(observed.object, observed.self.clusterID);
  const group = clusterGroup(observed.object.spec);
  const exists = (uid: string) => sources.links.byIndex("uid", uid).length > 0;
  const isLeft = (observation: Observation<PrivateEndpoint>) =>
    observation.state === "exists" && isOrphaned(observation.resource.tags, observed.self, exists);
  const one = async (id: ResourceId): Promise<Observation<PrivateEndpoint>> => {
    const observation = await gateway.observe(id, maxAgeMs);
    // An orphaned one is adopted as it is now, not as it was listed.
    if (isLeft(observation)) return gateway.observe(id, 0);
    const known =
      observation.state === "exists" && isOwned(observation.resource.tags, observed.self);
    if (!known || observed.deletion !== undefined) return observation;
    if (stateOf(observation.resource) !== "approved") return gateway.observe(id, unconnectedAgeMs);
    // A list has no addresses of interfaces.
    return addressesOf(observation.resource).length === 0 ? gateway.observe(id, 0) : observation;
  };
  const read = async () => {
    const listed = await gateway.list(group, maxAgeMs);
    // At a deletion all that we own counts, under whatever name: the id of the cluster may be unknown by now.
    const own =
      observed.deletion === undefined
        ? []
        : listed.filter(({ tags }) => isOwned(tags, observed.self));
    const all = withIds(ids, own);
    const observations = await Promise.all(
      all.map(async (id) => ({ id, observation: await one(id) })),
    );
    return observations.map((each) => ({ ...each, left: isLeft(each.observation) }));
  };
  const endpoints = await tryRead(reconcile, read);
  if ("failed" in endpoints) return { endpointsFailed: endpoints.failed };
  const [shipped] = ids;
  // Of interest only where an endpoint is to be created.
  if (shipped === undefined || endpoints[0]?.observation.state !== "absent") return { endpoints };
  const rivals = sources.links.byIndex("endpoint-place", placeKey(link));
  const peers = rivals.map((each) => peerOf(each, sources));
  const nameReserved = isNameReserved(peerOf(link, sources), shipped, peers);
  return { endpoints, nameReserved };
}

async function observeZones(
  observed: Observed,
  link: AzurePrivateLinkService,
  reads: Reads,
  sources: Sources,
): Promise<Partial<Observed>> {
  const gateway = privateDnsZones(reads.arm);
  const group = clusterGroup(observed.object.spec);
  const { arm, drift } = reads;
  const maxAgeMs = drift ? zonesAgeMs(group, arm, reads.maxAgeMs) : reads.maxAgeMs;
  const list = () => tryRead(reads.reconcile, () => gateway.list(group, maxAgeMs));
  // Which zones are desired depends on which exist only where a base domain lies above the cluster's own.
  const first = mayShadow(observed) && observed.choices.zones === "managed" ? await list() : [];
  if ("failed" in first) return { zonesFailed: first.failed };
  const zoneNames = first.map(({ id = "" }) => plainName(lastSegment(id)));
  const places = zonePlaces({ ...observed, zoneNames }, link, sources);
  const inGroup = places.some(({ id }) => sameId(parentOf(id) ?? "", group));
  const listed = first.length === 0 && inGroup ? await list() : first;
  if ("failed" in listed) return { zonesFailed: listed.failed };
  const zones = await Promise.all(
    places.map((place) =>
      observeZoneInRole(place, inside({ ...observed, zoneNames }, place), reads),
    ),
  );
  return { zones: withoutForeign({ ...observed, zoneNames }, zones), zoneNames };
}

type Place = Pick<ZoneInRole, "role" | "id" | "managed" | "desired">;

async function observeZoneInRole(
  place: Place,
  inside: Pick<ZoneQuery, "links" | "records">,
  { reconcile, arm, maxAgeMs, drift }: Reads,
): Promise<ZoneInRole> {
  const reads: ZoneReads = {
    reconcile,
    maxAgeMs,
    drift,
    countedAgeMs: Number.POSITIVE_INFINITY,
    isDue: isDueByBudget,
    trustsEmptyCounts: true,
  };
  return { ...place, ...(await observeZone({ id: place.id, ...inside }, arm, reads)) };
}

/** The desired zones, and those that the status names or that would have been created: they may contain what we own. */
function zonePlaces(observed: Observed, link: AzurePrivateLinkService, sources: Sources): Place[] {
  const { object, cluster, choices, status, deletion } = observed;
  const places: Place[] = [];
  const add = (
    role: Place["role"],
    id: ResourceId | undefined,
    managed: boolean,
    desired: boolean,
  ) => {
    if (id !== undefined && !places.some((each) => sameId(each.id, id)))
      places.push({ role, id, managed, desired: desired && deletion === undefined });
  };
  const managed = choices.zones === "managed";
  const given = choices.zones === "existing";
  const isRouter = object.name === privateRouter;
  const internal =
    cluster && isRouter
      ? privateZoneIn(clusterGroup(object.spec), internalZoneName(cluster.name))
      : undefined;
  if (isRouter && given) add("internal", choices.internalZone, false, true);
  if (isRouter && managed) add("internal", internal, true, true);
  if (given && object.spec.baseDomain) add("base", choices.baseZone, false, true);
  const hosts = hostPlaces(observed);
  for (const { id, desired } of hosts) if (desired) add("host", id, true, true);
  if (managed && object.spec.baseDomain && !usesHostZones(observed))
    add("base", baseZonePlace(peerOf(link, sources), peersOf(link, sources)), true, true);
  if (isRouter) add("internal", idOf(status.privateDNSZoneID), true, false);
  const published = idOf(status.baseDomainDNSZoneID);
  add(isHostZone(observed, published) ? "host" : "base", published, true, false);
  for (const { id, left } of hosts) if (left) add("host", id, true, false);
  if (deletion === undefined) return places;
  if (isRouter) add("internal", internal, true, false);
  if (object.spec.baseDomain)
    add(
      "base",
      privateZoneIn(clusterGroup(object.spec), plainName(object.spec.baseDomain)),
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
function inside(observed: Observed, place: Place): Pick<ZoneQuery, "links" | "records"> {
  const links = desiredNetworks(observed).flatMap((network) => linkIdsOf(observed, place, network));
  const records = desiredNames(observed)
    .filter(({ role }) => place.desired && role === place.role)
    .flatMap(({ fqdn }) => nameInZone(fqdn, place.id) ?? [])
    .flatMap((each) => ["A", "AAAA"].map((type) => recordId(place.id, { type, name: each })));
  return { links, records };
}

/**
 * A zone that our status names and that we do not own was used by annotation, and the annotation was removed: it is given up.
 * Where it is the desired one, the plan reports its owner.
 */
function withoutForeign(observed: Observed, zones: Observed["zones"]): Observed["zones"] {
  return zones.map((zone) => {
    const { observation, managed, desired } = zone;
    if (desired || !managed || observation.state !== "exists") return zone;
    const { tags } = observation.resource;
    const isOwn =
      ownClaim(tags, observed.self) !== undefined ||
      isHyperShifts(tags, "private-dns-zone") ||
      lacksClaim(observed, zone) ||
      (lastUserIn(tags) !== undefined && isOwnPlace(observed, zone));
    return isOwn ? zone : { ...zone, managed: false };
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
  return `${idKey(clusterGroup(spec))} ${metadata.name}`;
}
