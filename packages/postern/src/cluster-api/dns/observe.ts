import type { Failure } from "@postern/core/failure.ts";
import { keyOf } from "@postern/core/kind.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { parentOf, type ResourceId } from "@postern/core/resource-id.ts";
import { allowsResourceGroup } from "@postern/core/tenant-policy.ts";
import type { ArmClient } from "../../azure/arm.ts";
import { privateDnsZones } from "../../azure/gateways/private-dns.ts";
import { resourceGroups } from "../../azure/gateways/resource-groups.ts";
import { maxReadAgeMs } from "../../azure/read-cache.ts";
import type { KubeClient } from "../../kube/client.ts";
import { waits } from "../../kube/part.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import { tryRead } from "../../kube/try-read.ts";
import {
  isDueByBudget,
  observeZone,
  unreadZone,
  type ZoneQuery,
  type ZoneReads,
} from "../../private-dns/zone/observe.ts";
import { isPrivate } from "../azure-clusters.ts";
import { admits } from "../endpoints/claims/desired.ts";
import { annotations } from "../names.ts";
import { privateLinksOf } from "../requested-links.ts";
import { type ObserveOptions, observeAddresses } from "./addresses/observe.ts";
import type { ArmClients } from "./azure/arm-clients.ts";
import { factsOf, groupTags, type Objects } from "./objects/facts.ts";
import { type ClusterGroups, groupOf, groupsOf, networkOf } from "./objects/resource-groups.ts";
import type { Observed, ZoneInRole } from "./observed.ts";
import { reasons } from "./reasons.ts";
import { isName, zoneIn } from "./zones/desired.ts";
import { linkIds } from "./zones/links.ts";

/** After a deletion nothing is observed again, so reads are fresh: another process may have led and written since. */
const deletingAgeMs = 15_000;
/** While the counts of a zone are right, what is in it is read whole this often. */
const countedAgeMs = 30 * 60_000;

/** Everything that a plan needs: what Kubernetes says, and what is in Azure, by three ARM clients. */
export async function observe(
  objects: Objects,
  {
    armClients,
    kube,
    options,
  }: { armClients: ArmClients; kube: KubeClient; options: ObserveOptions },
  reconcile: Reconcile,
): Promise<Observed> {
  const known = factsOf(objects, options);
  if (!needsAzure(known)) return known;
  const deleting = isBeingDeleted(known);
  const drift = reconcile.priority === "drift" && !deleting;
  const maxAgeMs = Math.min(
    maxReadAgeMs(reconcile),
    deleting ? deletingAgeMs : Number.POSITIVE_INFINITY,
  );
  const reads: ZoneReads = {
    reconcile,
    drift,
    maxAgeMs,
    countedAgeMs,
    isDue: isDueByBudget,
    ...(!deleting && { trustsEmptyCounts: true as const }),
  };
  const groups = groupsIn(objects, options, deleting);
  const networks = networksOf(objects);
  const observed: Observed = {
    ...known,
    networks,
    expected: expectedOf(objects, options),
    problems: [
      ...armClients.problems,
      ...groupProblems(known, groups),
      ...(deleting ? outOfReach(known, objects, options) : []),
    ],
  };
  const [zones, group] = await Promise.all([
    observeZones(observed, objects, armClients, groups, reads, options),
    observeGroup(objects, armClients, groups, reads, options),
  ]);
  const { publicGroup } = groups;
  const publicZoneId = publicGroup && zoneIn(publicGroup, "public", observed.domains.cluster);
  const withZones = {
    ...observed,
    publicZoneId,
    zones,
    ...group,
    problems: [...observed.problems, ...group.problems],
  };
  if (deleting) return withZones;
  return observeAddresses(withZones, objects, armClients, reads, { reconcile, kube, options });
}

/** The resource groups of a cluster. A group that the policy does not allow is observed only to delete what is there. */
function groupsIn(
  objects: Objects,
  { settings, policy }: ObserveOptions,
  deleting: boolean,
): ClusterGroups {
  const { cluster, infrastructure, management } = objects;
  const groups = groupsOf(cluster, infrastructure, management, settings);
  const rules = policy?.rulesOf(cluster.metadata.namespace ?? "");
  if (rules === undefined || deleting || infrastructure?.is !== "azure") return groups;
  const publicGroups = groups.publicGroups.filter((group) => allowsResourceGroup(rules, group));
  return { ...groups, publicGroups };
}

function isBeingDeleted({ cluster, infrastructure }: Observed): boolean {
  return cluster.deleting || infrastructure?.deleting === true;
}

/** The zone in the management network of a cluster that is being deleted, where nobody knows any more which network that is. */
function outOfReach(
  { domains }: Observed,
  { infrastructure, management, itself }: Objects,
  options: ObserveOptions,
): Failure[] {
  if (management !== undefined || itself || infrastructure?.is !== "azure") return [];
  const object = infrastructure.object as AzureCluster;
  const has = (name: string) => object.metadata.annotations?.[name];
  if (!isPrivate(object) && has(annotations.apiServerAddress) === undefined) return [];
  if (has(annotations.abandon) === "true") return [];
  const key = keyOf({ metadata: options.management });
  const message = `the zone ${domains.cluster} in the management network is not found · AzureCluster ${key} does not exist · correct --management-cluster-name, or annotate this AzureCluster with ${annotations.abandon}="true" to delete it anyway`;
  return [{ reason: reasons.managementNotFound, message, requeueAfterMs: waits.changeMs }];
}

/** Azure is not read where nothing is to be done. */
function needsAzure(observed: Observed): boolean {
  const { cluster, infrastructure, refused } = observed;
  if (cluster.paused) return false;
  if (isBeingDeleted(observed)) return infrastructure === undefined || infrastructure.hasFinalizer;
  if (refused !== undefined) return false;
  // Also before the finalizer is added: what would be written is said of a cluster that a policy does not allow to be adopted.
  return infrastructure !== undefined && cluster.ready;
}

function groupProblems(
  { infrastructure, domains, cluster }: Observed,
  groups: ClusterGroups,
): Failure[] {
  if (infrastructure === undefined) return [];
  if (!isName(domains.cluster)) {
    const message = `no DNS records are written for ${cluster.name} · ${domains.cluster} cannot be a zone · give the cluster another name, or the operator another --base-domain`;
    return [{ reason: reasons.placeUnknown, message }];
  }
  if (groups.publicGroup !== undefined) return [];
  const remedy =
    infrastructure.is === "azure"
      ? `set spec.subscriptionID of ${infrastructure.called}`
      : "set CLUSTER_AZURE_SUBSCRIPTION_ID, CLUSTER_AZURE_CLIENT_ID and CLUSTER_AZURE_TENANT_ID for the operator";
  const message = `the zone ${domains.cluster} is not created · its subscription is unknown · ${remedy}`;
  return [{ reason: reasons.placeUnknown, message }];
}

/** The networks in which private zones answer: the other cluster's for each. */
function networksOf({ infrastructure, management }: Objects): Observed["networks"] {
  if (management === undefined) return {};
  const toWorkload = networkOf(management);
  const toManagement =
    infrastructure?.is === "azure" ? networkOf(infrastructure.object as AzureCluster) : undefined;
  return { ...(toWorkload && { toWorkload }), ...(toManagement && { toManagement }) };
}

/**
 * Which endpoints are to come: to a link that admits the management cluster, and to a management cluster that is private.
 * Neither needs the control plane, so this may wait for them although the control plane waits for this.
 */
function expectedOf(
  { infrastructure, management }: Objects,
  { managementLinks }: ObserveOptions,
): Observed["expected"] {
  if (management === undefined || infrastructure?.is !== "azure")
    return { toWorkload: false, toManagement: false };
  const workload = infrastructure.object as AzureCluster;
  const subscription = management.spec.subscriptionID ?? "";
  return {
    toWorkload:
      isPrivate(workload) &&
      privateLinksOf(workload).links.some((link) => admits(link, subscription)),
    toManagement: isPrivate(management) && managementLinks.length > 0,
  };
}

async function observeZones(
  observed: Observed,
  { management, itself }: Objects,
  armClients: ArmClients,
  groups: ClusterGroups,
  reads: ZoneReads,
  { baseZoneGroup }: ObserveOptions,
): Promise<ZoneInRole[]> {
  const { domains, networks } = observed;
  const deleting = isBeingDeleted(observed);
  const base = zoneIn(baseZoneGroup, "base", domains.base);
  const zones: ZoneQueryInRole[] = [
    { role: "base", id: base, only: observed.cluster.name, arm: armClients.base },
  ];
  const add = (role: ZoneInRole["role"], group: ResourceId, name: string, arm: ArmClient) => {
    const id = zoneIn(group, role, name);
    const network = role === "toWorkload" || role === "toManagement" ? networks[role] : undefined;
    const links = network === undefined ? [] : linkIds(id, network);
    zones.push({ role, id, links, arm });
  };
  if (armClients.cluster) {
    const publicGroups = new Map(groups.publicGroups.map((group) => [group.toLowerCase(), group]));
    for (const group of publicGroups.values())
      add("public", group, domains.cluster, armClients.cluster);
    // For a deletion it is observed without the management cluster too: it is in the group of this one.
    if (groups.own && (management || (deleting && !itself)))
      add("toManagement", groups.own, domains.management, armClients.cluster);
  }
  const managementGroup = management && groupOf(management);
  const reachable = observed.infrastructure === undefined || observed.infrastructure.is === "azure";
  if (managementGroup && armClients.management && reachable)
    add("toWorkload", managementGroup, domains.cluster, armClients.management);
  return Promise.all(zones.map((query) => observeZoneInRole(query, reads)));
}

interface ZoneQueryInRole extends ZoneQuery {
  role: ZoneInRole["role"];
  arm: ArmClient;
}

async function observeZoneInRole(
  { role, arm, ...query }: ZoneQueryInRole,
  reads: ZoneReads,
): Promise<ZoneInRole> {
  const { id } = query;
  const isPrivate = role === "toWorkload" || role === "toManagement";
  // One list serves all clusters whose zones are in this group, and reports those that are still to be created. A drift check lists by itself.
  const listed =
    isPrivate && !reads.drift
      ? await tryRead(reads.reconcile, () =>
          privateDnsZones(arm).list(parentOf(id) ?? id, reads.maxAgeMs),
        )
      : [];
  if ("failed" in listed)
    return { role, ...unreadZone(id, { on: "zone", failure: listed.failed }) };
  const zone = await observeZone(query, arm, reads);
  return { role, ...(zone.unread === undefined ? zone : unreadZone(id, zone.unread)) };
}

async function observeGroup(
  { infrastructure }: Objects,
  armClients: ArmClients,
  { publicGroup: id, location }: ClusterGroups,
  reads: ZoneReads,
  { policy }: ObserveOptions,
): Promise<Pick<Observed, "group" | "problems">> {
  const { cluster: arm } = armClients;
  if (!infrastructure || infrastructure.is === "azure" || !id || !arm)
    return { group: undefined, problems: [] };
  const observation = await tryRead(reads.reconcile, () =>
    resourceGroups(arm).observe(id, reads.maxAgeMs),
  );
  if ("failed" in observation) return { group: undefined, problems: [observation.failed] };
  const tags = groupTags(infrastructure.object);
  const { metadata } = infrastructure.object;
  const listed = policy?.rulesOf(metadata.namespace ?? "").resourceGroups !== undefined;
  const mayAdopt = listed || Boolean(metadata.annotations?.[annotations.identity]);
  return { group: { id, observation, tags, location, mayAdopt }, problems: [] };
}
