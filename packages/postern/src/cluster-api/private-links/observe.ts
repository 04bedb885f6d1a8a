import type { Failure } from "@postern/core/failure.ts";
import { keyOf } from "@postern/core/kind.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { isOwnedBy } from "@postern/core/ownership.ts";
import {
  idKey,
  parentOf,
  parseResourceId,
  type ResourceId,
  type ResourceType,
  sameId,
} from "@postern/core/resource-id.ts";
import type { ArmClient } from "../../azure/arm.ts";
import type { ArmResource, Observation, ResourceGateway } from "../../azure/gateway.ts";
import { loadBalancers } from "../../azure/gateways/load-balancers.ts";
import { type PrivateEndpoint, privateEndpoints } from "../../azure/gateways/private-endpoints.ts";
import {
  type PrivateLinkService,
  privateLinkServices,
} from "../../azure/gateways/private-link-services.ts";
import { virtualNetworks } from "../../azure/gateways/virtual-networks.ts";
import { maxReadAgeMs } from "../../azure/read-cache.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import { tryRead } from "../../kube/try-read.ts";
import { connectedOf, endpointDifferences } from "../../private-link/endpoint/desired.ts";
import { isBalancerFull } from "../../private-link/link-service/balancer.ts";
import {
  hasNatAddresses,
  linkServiceDifferences,
} from "../../private-link/link-service/desired.ts";
import { foreignEndpoints, tenantFirstMs } from "../../private-link/link-service/disconnect.ts";
import { clusterNameOf } from "../azure-clusters.ts";
import {
  endpointsFinalizer,
  formerPrivateLinksFinalizer,
  privateLinksFinalizer,
} from "../names.ts";
import { isPaused } from "../paused.ts";
import type { ClusterIds } from "./azure/created-ids.ts";
import type { PrivateLinkParts } from "./azure/dependencies.ts";
import { isInOwnGroup } from "./azure/missing-tags.ts";
import { isUnmarked } from "./azure/owner.ts";
import {
  type FrontendLookup,
  observeFrontend,
  withoutForeignServices,
} from "./azure/service-frontends.ts";
import type { Found, Observed, ObservedEndpoints, ObservedLinks, Subject } from "./observed.ts";
import { reasons } from "./reasons.ts";
import { type ClusterResources, clusterResourcesOf, ownerOf } from "./spec/cluster-resources.ts";
import {
  type Desired,
  type DesiredPrivateEndpoint,
  type DesiredPrivateLink,
  desiredOf,
} from "./spec/desired.ts";
import { conditionOfScope, foreignEndpointsAnnotation, managedScopes } from "./spec/managed.ts";

/** How old a sighting may be of what is waited for: somebody else creates or approves it. */
const awaitedMs = 10_000;

/** Read everything about one AzureCluster, once. Azure is not read where there is nothing to do. */
export async function observe(
  object: AzureCluster,
  parts: PrivateLinkParts,
  reconcile: Reconcile,
): Promise<Observed> {
  const { namespace = "" } = object.metadata;
  const cluster = parts.clusters.get(
    keyOf({ metadata: { namespace, name: clusterNameOf(object) ?? object.metadata.name } }),
  );
  const subject = subjectOf(object, cluster, reconcile.date());
  if (isPaused(cluster, object)) return { stage: "paused", subject };
  const deleting = object.metadata.deletionTimestamp !== undefined;
  const requested = withoutForeignServices(object, desiredOf(object), parts.management);
  const ours: Desired = {
    resources: requested.resources,
    links: subject.scopes.includes("links") ? requested.links : [],
    endpoints: subject.scopes.includes("endpoints") ? requested.endpoints : [],
    problems: requested.problems.filter(({ scope }) => subject.scopes.includes(scope)),
  };
  const { resources, problems } = ours;
  const nothing = ours.links.length + ours.endpoints.length === 0;
  const free = !subject.hasFinalizer && (deleting || nothing);
  // Where others manage both scopes, they delete what we created before: it has their tag too.
  const isReleased = !deleting && subject.scopes.length === 0;
  if (resources === undefined && deleting && subject.hasFinalizer)
    return { stage: "unread", subject, failure: unknownLocation(object) };
  if (resources === undefined || free || isReleased)
    return { stage: "idle", subject, problems: deleting ? [] : problems };
  const observed = await tryRead(reconcile, async (): Promise<Observed> => {
    const arm = parts.clients.of(object, reconcile);
    const maxAgeMs = maxReadAgeMs(reconcile);
    const created = parts.created.of(object);
    const observation = { arm, resources, subject, maxAgeMs, deleting, created };
    const frontends = { kube: parts.kube, arm, group: resources.group, maxAgeMs, reconcile };
    const [links, endpoints] = await Promise.all([
      observeLinks(deleting ? requested : ours, observation, frontends),
      observeEndpoints(deleting ? requested : ours, observation),
    ]);
    return { stage: "observed", subject, deleting, problems, links, endpoints };
  });
  if (!("failed" in observed)) return observed;
  const isRefused = deleting && parts.clients.refusalOf?.(object) !== undefined;
  const failure = isRefused ? withRemedy(observed.failed, object) : observed.failed;
  return { stage: "unread", subject, failure };
}

/** What to do about a cluster that is being deleted and that Postern may not act for any more. */
function withRemedy(failure: Failure, object: AzureCluster): Failure {
  const message = `${failure.message} · nothing is deleted until then · list it in the tenant policy, or delete what has the tag postern_owner of ${keyOf(object)} and remove the finalizer`;
  return { ...failure, message };
}

/** We have created something for it, and the object no longer says where. */
function unknownLocation(object: AzureCluster): Failure {
  const resources = clusterResourcesOf(object);
  const why = "missing" in resources ? resources.missing : "it is not known where it is";
  const message = `the resources of this AzureCluster cannot be deleted · ${why} · set it, or delete what is tagged with its name and remove the finalizer ${privateLinksFinalizer}`;
  return { reason: reasons.notReady, message, terminal: true };
}

interface Lookup {
  arm: ArmClient;
  resources: ClusterResources;
  subject: Subject;
  maxAgeMs: number;
  deleting: boolean;
  created: ClusterIds;
}

async function observeLinks(
  requested: Desired,
  lookup: Lookup,
  frontends: FrontendLookup,
): Promise<ObservedLinks> {
  const { arm, resources, subject, maxAgeMs, deleting } = lookup;
  const services = privateLinkServices(arm);
  const type = "Microsoft.Network/privateLinkServices";
  if (deleting) {
    // A frontend is of interest only for a service that lost its tags: that it cannot be read must not hold up the deletion.
    const desired = await Promise.all(
      requested.links.map((link) => observeFrontend(link, frontends).catch(() => ({ link }))),
    );
    const links = desired.map(({ link }) => link);
    const obsolete = await observeDeleted(services, type, links, lookup, isDesiredLink);
    return { desired: [], obsolete, networks: [] };
  }
  if (!subject.scopes.includes("links")) return { desired: [], obsolete: [], networks: [] };
  const withFrontends = await Promise.all(
    requested.links.map((link) => observeFrontend(link, frontends)),
  );
  const links = withFrontends.map(({ link }) => link);
  const obsolete = await observeObsolete(services, type, links, lookup);
  const desired = await Promise.all(
    withFrontends.map(async ({ link, missing }) => {
      const { id } = link;
      const observation = await services.observe(id, maxAgeMs);
      // Who is connected to one that is to be replaced changes without a write to the service itself.
      const isReplaced =
        observation.state === "exists" &&
        linkServiceDifferences(observation.resource, link).fixed.length > 0;
      const lacksTags = await lacksOwnTags(observation, link, lookup, isDesiredLink);
      const now = isReplaced ? await services.observe(id) : observation;
      return { link, id, observation: now, lacksTags, missing };
    }),
  );
  const needy = desired
    .filter(
      ({ observation, link }) =>
        observation.state === "absent" ||
        (observation.state === "exists" && !hasNatAddresses(observation.resource, link)),
    )
    .map(({ link }) => link);
  if (needy.length === 0) return { desired, obsolete, networks: [] };
  const ids = unique(
    needy.flatMap(({ nat }) => nat.map(({ subnet }) => parentOf(subnet) as ResourceId)),
  );
  const balancerIds = unique(
    needy.flatMap(({ frontends }) => frontends.map((each) => parentOf(each) ?? resources.balancer)),
  );
  const isCreated = needy.some((link) =>
    desired.some((each) => each.link === link && each.observation.state === "absent"),
  );
  const [networks, balancers, fullBalancers] = await Promise.all([
    Promise.all(
      ids.map(async (id) => ({
        id,
        observation: await virtualNetworks(arm).observe(id, awaitedMs),
        isInGroup: sameId(parentOf(id) ?? "", resources.group),
      })),
    ),
    Promise.all(
      balancerIds.map(async (id) => ({
        id,
        observation: await loadBalancers(arm).observe(id, awaitedMs),
      })),
    ),
    isCreated ? observeFull(services, balancerIds, lookup) : [],
  ]);
  return { desired, obsolete, networks, balancers, fullBalancers };
}

/** The load balancers that take no more link services. Somebody may have made room since the last list. */
async function observeFull(
  services: ResourceGateway<PrivateLinkService>,
  balancers: readonly ResourceId[],
  { resources, maxAgeMs }: Lookup,
): Promise<ResourceId[]> {
  const full = async (ageMs: number) => {
    const listed = await services.list(resources.group, ageMs);
    return balancers.filter((each) => isBalancerFull(each, listed));
  };
  return (await full(maxAgeMs)).length > 0 ? full(Math.min(awaitedMs, maxAgeMs)) : [];
}

async function observeEndpoints(
  { endpoints }: Desired,
  lookup: Lookup,
): Promise<ObservedEndpoints> {
  const { arm, subject, maxAgeMs, deleting } = lookup;
  const gateway = privateEndpoints(arm);
  const type = "Microsoft.Network/privateEndpoints";
  if (deleting) {
    const obsolete = await observeDeleted(gateway, type, endpoints, lookup, isDesiredEndpoint);
    return { desired: [], obsolete };
  }
  if (!subject.scopes.includes("endpoints")) return { desired: [], obsolete: [] };
  const obsolete = await observeObsolete(gateway, type, endpoints, lookup);
  const desired = await Promise.all(
    endpoints.map(async (endpoint) => {
      const { id } = endpoint;
      const observation = await gateway.observe(id, maxAgeMs);
      // Its state changes by what somebody else decides, of which no write of ours tells.
      const waits =
        observation.state === "exists" && connectedOf(observation.resource) !== "approved";
      const lacksTags = await lacksOwnTags(observation, endpoint, lookup, isDesiredEndpoint);
      return {
        endpoint,
        id,
        observation: waits ? await gateway.observe(id, awaitedMs) : observation,
        lacksTags,
      };
    }),
  );
  return { desired, obsolete };
}

/** What has our mark in the cluster's group and is not desired. */
async function observeObsolete<T extends ArmResource>(
  gateway: ResourceGateway<T>,
  type: ResourceType,
  desired: readonly { id: ResourceId }[],
  lookup: Lookup,
): Promise<Found<T>[]> {
  const { subject, created } = lookup;
  const keys = new Set(desired.map(({ id }) => idKey(id)));
  await noteListed(gateway, type, lookup.maxAgeMs, lookup);
  const ids = created.ofType(type).filter((id) => !keys.has(idKey(id)));
  return owned(ids, gateway, subject, created);
}

/**
 * Everything of ours at a deletion, read again: also what is desired and not yet in a list, because a write of it
 * may be on its way.
 */
async function observeDeleted<T extends ArmResource, W extends { id: ResourceId }>(
  gateway: ResourceGateway<T>,
  type: ResourceType,
  requested: readonly W[],
  lookup: Lookup,
  isDesired: (found: T, desired: W) => boolean,
): Promise<Found<T>[]> {
  const { subject, created } = lookup;
  await noteListed(gateway, type, 0, lookup);
  const ids = unique([...created.ofType(type), ...requested.map(({ id }) => id)]);
  const ours = await owned(ids, gateway, subject, created);
  const others = requested.filter(({ id }) => !ours.some((each) => sameId(each.id, id)));
  const missing = await Promise.all(
    others.map(async (desired) => {
      const { id } = desired;
      const observation = await gateway.observe(id);
      return (await lacksOwnTags(observation, desired, lookup, isDesired))
        ? [{ id, observation }]
        : [];
    }),
  );
  return [...ours, ...missing.flat()];
}

/** Whether something that is desired is ours, and somebody has replaced its tags. */
async function lacksOwnTags<T extends ArmResource, W>(
  observation: Observation<T>,
  desired: W,
  { arm, resources, subject }: Lookup,
  isDesired: (found: T, desired: W) => boolean,
): Promise<boolean> {
  if (observation.state !== "exists" || !isUnmarked(observation.resource.tags)) return false;
  return isDesired(observation.resource, desired) && isInOwnGroup(arm, resources, subject.cluster);
}

function isDesiredLink(found: PrivateLinkService, desired: DesiredPrivateLink): boolean {
  return linkServiceDifferences(found, desired).fixed.length === 0;
}

function isDesiredEndpoint(found: PrivateEndpoint, desired: DesiredPrivateEndpoint): boolean {
  return endpointDifferences(found, desired).fixed.length === 0;
}

/** Remember what is ours. A list does not tell of what was written since: that is known here already. */
async function noteListed<T extends ArmResource>(
  gateway: ResourceGateway<T>,
  type: ResourceType,
  maxAgeMs: number,
  { resources, subject, created }: Lookup,
): Promise<void> {
  for (const { id, tags } of await gateway.list(resources.group, maxAgeMs))
    if (id !== undefined && isOwnedBy(tags, subject.owner)) created.add(parseResourceId(id, type));
}

/** Those that are there and have our mark, or are being written, read again; the others are forgotten. */
async function owned<T extends ArmResource>(
  ids: readonly ResourceId[],
  gateway: ResourceGateway<T>,
  { owner }: Subject,
  created: ClusterIds,
): Promise<Found<T>[]> {
  const found = await Promise.all(
    ids.map(async (id) => ({ id, observation: await gateway.observe(id) })),
  );
  return found.filter(({ id, observation: { state, ...rest } }) => {
    const ours = "resource" in rest ? isOwnedBy(rest.resource.tags, owner) : state !== "absent";
    if (!ours) created.remove(id);
    return ours;
  });
}

function unique(ids: readonly ResourceId[]): ResourceId[] {
  return [...new Map(ids.map((id) => [idKey(id), id])).values()];
}

/**
 * The name by which CAPZ marks what it creates for a cluster. Label and owner of an AzureCluster are a tenant's words: they count
 * where the Cluster that they name names the AzureCluster, too.
 */
function ownCluster({ metadata }: AzureCluster, cluster: CapiCluster | undefined): string {
  const { kind, name } = cluster?.spec?.infrastructureRef ?? {};
  const isMutual = kind === azureCluster.kind && name === metadata.name;
  return cluster !== undefined && isMutual ? cluster.metadata.name : metadata.name;
}

function subjectOf(object: AzureCluster, owner: CapiCluster | undefined, now: Date): Subject {
  const scopes = managedScopes(object);
  const types = scopes.map((scope): string => conditionOfScope[scope]);
  const { finalizers, annotations } = object.metadata;
  return {
    owner: ownerOf(object),
    cluster: ownCluster(object, owner),
    scopes,
    hasFinalizer:
      finalizers?.some(
        (each) => each === privateLinksFinalizer || each === formerPrivateLinksFinalizer,
      ) === true,
    conditions: (object.status?.conditions ?? [])
      .filter(({ type }) => types.includes(type))
      .map(({ type, status, reason = "", message = "", lastTransitionTime }) => ({
        type,
        status,
        reason,
        message,
        sinceMs: Math.max(0, now.getTime() - Date.parse(lastTransitionTime)),
      })),
    foreignEndpoints: foreignEndpoints(annotations?.[foreignEndpointsAnnotation]),
    graceMs: graceMs(object, now),
  };
}

/** While the management side holds the object too, its endpoints are better deleted there than cut off here. */
function graceMs({ metadata }: AzureCluster, now: Date): number {
  const { deletionTimestamp, finalizers } = metadata;
  if (deletionTimestamp === undefined || !finalizers?.includes(endpointsFinalizer)) return 0;
  const since = now.getTime() - Date.parse(deletionTimestamp);
  return Math.max(0, tenantFirstMs - Math.max(0, since));
}
