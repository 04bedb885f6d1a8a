import type { Failure } from "@postern/core/failure.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { idKey, parseResourceId, type ResourceId, resourceIn } from "@postern/core/resource-id.ts";
import type { TenantPolicy } from "@postern/core/tenant-policy.ts";
import type { ArmClient } from "../../../azure/arm.ts";
import { virtualNetworkLinks } from "../../../azure/gateways/private-dns.ts";
import type { KubeClient } from "../../../kube/client.ts";
import type { Reconcile } from "../../../kube/reconcile.ts";
import { tryRead } from "../../../kube/try-read.ts";
import {
  type FoundLink,
  foundLinks,
  observeLink,
  pointsTo,
} from "../../../private-dns/links/observed.ts";
import { isClaimed } from "../../../private-dns/user.ts";
import type { ZoneReads } from "../../../private-dns/zone/observe.ts";
import { isPrivate } from "../../azure-clusters.ts";
import {
  apiEndpointName,
  apiLinkName,
  everyLink,
  type ManagementLink,
  managementEndpointName,
  managementLinkName,
} from "../../names.ts";
import { privateLinksOf } from "../../requested-links.ts";
import type { ArmClients } from "../azure/arm-clients.ts";
import type { Objects, Setting } from "../objects/facts.ts";
import {
  type ClusterSettings,
  capzZone,
  groupOf,
  managementLinkGroup,
} from "../objects/resource-groups.ts";
import type { Addresses, Observed, ServiceNames } from "../observed.ts";
import { reasons } from "../reasons.ts";
import { userOf } from "../zones/owner.ts";
import { apiAddresses, bastionAddresses, endpointAddresses, hostOf } from "./addresses.ts";
import { namesOf, workloadServices } from "./workload-services.ts";

export interface ObserveOptions extends Setting {
  /** The resource group of the zone in which clusters are delegated. */
  baseZoneGroup: ResourceId;
  managementLinks: readonly ManagementLink[];
  settings: ClusterSettings;
  policy?: TenantPolicy | undefined;
}

/** Where everything is reached that is to have a name. */
export async function observeAddresses(
  observed: Observed,
  objects: Objects,
  armClients: ArmClients,
  reads: ZoneReads,
  given: { reconcile: Reconcile; kube: KubeClient; options: ObserveOptions },
): Promise<Observed> {
  const { infrastructure, cluster } = objects;
  if (infrastructure?.is === "other") {
    const { host, ...api } = hostOf(cluster);
    const services = await observeServices(observed, cluster, given);
    if (host === undefined) return { ...observed, api, services };
    const message = `api.${observed.domains.cluster} is not written · the endpoint ${JSON.stringify(host.slice(0, 100))} of the Cluster is not an address · set spec.controlPlaneEndpoint.host to one`;
    const problem = { reason: reasons.endpointNotAnAddress, message };
    return { ...observed, api, services, problems: [...observed.problems, problem] };
  }
  if (infrastructure?.is !== "azure") return observed;
  const object = infrastructure.object as AzureCluster;
  const group = groupOf(object);
  if (group === undefined) return observed;
  const arm = armClients.cluster;
  const unknown: Addresses = { state: "unknown" };
  const problems: Failure[] = [];
  const ask = async (read: () => Promise<Addresses>): Promise<Addresses> => {
    const found = await tryRead(reads.reconcile, read);
    if (!("failed" in found)) return found;
    if (!problems.some(({ message }) => message === found.failed.message))
      problems.push(found.failed);
    return unknown;
  };
  const [api, bastion, toWorkload, toManagement] = await Promise.all([
    arm ? ask(() => apiAddresses(object, group, arm, reads)) : unknown,
    arm ? ask(() => bastionAddresses(object, group, arm, reads)) : unknown,
    ask(() => toWorkloadOf(object, group, objects, armClients, reads)),
    observeToManagement(object, objects.management, given.options, (link) =>
      ask(() => toManagementOf(link, object, group, objects, armClients, reads)),
    ),
  ]);
  const withAddresses: Observed = {
    ...observed,
    api,
    bastion,
    toWorkload,
    toManagement,
    problems: [...observed.problems, ...problems],
  };
  return {
    ...withAddresses,
    ...(await observeServed(withAddresses, object, objects, armClients, reads)),
  };
}

/** The names that a cluster on other infrastructure requests; undefined where it does not answer. */
async function observeServices(
  observed: Observed,
  cluster: Objects["cluster"],
  { reconcile, kube }: { reconcile: Reconcile; kube: KubeClient },
): Promise<ServiceNames> {
  const read = () => workloadServices(cluster, kube, reconcile.signal);
  // It may be away for days, and its other names do not wait for it.
  const services = await tryRead(reconcile, read, { reportsTransient: true });
  reconcile.signal.throwIfAborted();
  if (services === undefined || !("failed" in services))
    return services && namesOf(services, observed.domains.cluster);
  const { reason, message } = services.failed;
  reconcile.log.info({ reason, message }, "the workload cluster does not answer");
  return undefined;
}

async function toWorkloadOf(
  cluster: AzureCluster,
  group: ResourceId,
  { management }: Objects,
  armClients: ArmClients,
  reads: ZoneReads,
): Promise<Addresses> {
  const managementGroup = management && groupOf(management);
  if (managementGroup === undefined || !isPrivate(cluster)) return { state: "none" };
  const { links, problem } = privateLinksOf(cluster);
  if (problem !== undefined) return { state: "unknown" };
  // The name that the chart of the operators before us gives.
  const names =
    links.length > 0 ? links.map(({ name }) => name) : [apiLinkName(cluster.metadata.name)];
  const found = await Promise.all(
    names.map(async (name) => {
      const endpoint = { group: managementGroup, name: apiEndpointName(name) };
      return observeEndpoint(endpoint, { group, name }, armClients.management, reads);
    }),
  );
  // Of several links the last one that is connected counts, as for the operator before us.
  return (
    found.findLast(({ state }) => state === "known") ??
    found.find(({ state }) => state === "unknown") ?? { state: "none" }
  );
}

interface NameInGroup {
  group: ResourceId;
  name: string;
}

/** The address of an endpoint to a link service, by their names. */
async function observeEndpoint(
  endpoint: NameInGroup,
  link: NameInGroup,
  arm: ArmClient | undefined,
  reads: ZoneReads,
): Promise<Addresses> {
  if (arm === undefined) return { state: "unknown" };
  const id = resourceIn(endpoint.group, "Microsoft.Network/privateEndpoints", endpoint.name);
  const service = resourceIn(link.group, "Microsoft.Network/privateLinkServices", link.name);
  return endpointAddresses(id, service, arm, reads);
}

/**
 * By every way that is configured; and by another that the spec still has, until the first of them works: whoever uses it
 * finds it.
 */
async function observeToManagement(
  { metadata, spec }: AzureCluster,
  management: AzureCluster | undefined,
  { managementLinks }: ObserveOptions,
  observation: (link: ManagementLink) => Promise<Addresses>,
): Promise<Observed["toManagement"]> {
  const addressesOfAll = async (
    links: readonly ManagementLink[],
  ): Promise<Observed["toManagement"]> =>
    Object.fromEntries(
      await Promise.all(links.map(async (link) => [link, await observation(link)] as const)),
    );
  const connections = await addressesOfAll(managementLinks);
  const [first] = managementLinks;
  if (management === undefined || (first && connections[first]?.state === "known"))
    return connections;
  const endpoints = (spec.networkSpec?.subnets ?? []).flatMap(
    (each) => each?.privateEndpoints ?? [],
  );
  const isRetained = (link: ManagementLink) => {
    const name = idKey(managementEndpointName(metadata.name, management.metadata.name, link));
    return endpoints.some((each) => each && idKey(each.name) === name);
  };
  const otherLinks = everyLink.filter(
    (link) => !managementLinks.includes(link) && isRetained(link),
  );
  return { ...connections, ...(await addressesOfAll(otherLinks)) };
}

async function toManagementOf(
  link: ManagementLink,
  { metadata: { name: workload } }: AzureCluster,
  group: ResourceId,
  { management }: Objects,
  armClients: ArmClients,
  reads: ZoneReads,
): Promise<Addresses> {
  const linkGroup = management && managementLinkGroup(management, link);
  if (management === undefined || linkGroup === undefined || !isPrivate(management))
    return { state: "none" };
  const { name } = management.metadata;
  const endpoint = { group, name: managementEndpointName(workload, name, link) };
  const service = { group: linkGroup, name: managementLinkName(name, link) };
  return observeEndpoint(endpoint, service, armClients.cluster, reads);
}

/** Whether CAPZ has linked a zone of its own of the same name to a network in which ours would answer. */
async function observeServed(
  observed: Observed,
  cluster: AzureCluster,
  { management }: Objects,
  armClients: ArmClients,
  reads: ZoneReads,
): Promise<Pick<Observed, "served" | "servedBy">> {
  const one = async (role: "toWorkload" | "toManagement", of: AzureCluster | undefined) => {
    const network = observed.networks[role];
    const domain = role === "toWorkload" ? observed.domains.cluster : observed.domains.management;
    const id = of && capzZone(of, domain);
    const arm = role === "toWorkload" ? armClients.cluster : armClients.management;
    const desired =
      role === "toWorkload" ? [observed.toWorkload] : Object.values(observed.toManagement);
    if (!network || !id || !arm || !desired.some(({ state }) => state === "known"))
      return undefined;
    const ownLinks = observed.zones
      .filter((zone) => zone.role === role)
      .flatMap(foundLinks)
      .some(({ found }) => isClaimed(found.tags, userOf(observed)) && pointsTo(found, network));
    if (ownLinks) return undefined;
    const link = await tryRead(reads.reconcile, () => servingLink(id, network, arm, reads));
    return link !== undefined && "failed" in link ? undefined : link;
  };
  const [toWorkload, toManagement] = await Promise.all([
    one("toWorkload", cluster),
    one("toManagement", management),
  ]);
  return {
    served: { toWorkload: toWorkload !== undefined, toManagement: toManagement !== undefined },
    servedBy: {
      ...(toWorkload?.found && { toWorkload: toWorkload.found }),
      ...(toManagement?.found && { toManagement: toManagement.found }),
    },
  };
}

/** The link of a zone to a network; without `found` while Azure writes it. */
async function servingLink(
  zone: ResourceId,
  network: ResourceId,
  arm: ArmClient,
  reads: ZoneReads,
): Promise<{ found?: FoundLink } | undefined> {
  const gateway = virtualNetworkLinks(arm);
  // No count of this zone is known, so its links are read as if it were right.
  const isDue = reads.drift && reads.isDue("links", zone, arm);
  const listed = await gateway.list(zone, isDue ? reads.maxAgeMs : reads.countedAgeMs);
  const link = listed.find((each) => pointsTo(each, network));
  if (link?.id === undefined) return undefined;
  const id = parseResourceId(link.id);
  const observation = await observeLink(gateway, id, Number.POSITIVE_INFINITY);
  if (observation.state === "absent") return undefined;
  return observation.state === "exists" ? { found: { id, found: observation.resource } } : {};
}
