import { claimsIn } from "@postern/core/claims.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Observed, ZoneRole } from "postern/cluster-api/dns/observed.ts";
import { plan } from "postern/cluster-api/dns/plan.ts";
import type { DnsStep } from "postern/cluster-api/dns/steps.ts";
import { zoneIn } from "postern/cluster-api/dns/zones/desired.ts";
import { ownerFor } from "postern/cluster-api/dns/zones/owner.ts";
import { planTwice } from "../setup/plan-twice.ts";
import {
  after,
  managementGroup,
  observed,
  type PaperDns,
  workloadGroup,
  zoneIds,
} from "./paper-dns.ts";

/** One of several clusters that act on the same Azure. */
export interface PaperCluster {
  world: Observed;
  zoneList: readonly { role: ZoneRole; id: ResourceId }[];
  /** The address of its endpoint to the management cluster, which is of use in its own network only. */
  gateway: string;
  /** What it last listed of the zones. Others act by identities of their own, so it does not hear of what they write. */
  listed?: Observed | undefined;
}

/** A private cluster in the group that all of them share, with both endpoints approved. */
export function paperCluster(
  name: string,
  n: number,
  network: ResourceId,
  namespace = "org",
): PaperCluster {
  const domain = `${name}.example.com`;
  const zoneList = {
    public: zoneIn(workloadGroup, "public", domain),
    base: zoneIds.base,
    toWorkload: zoneIn(managementGroup, "toWorkload", domain),
    toManagement: zoneIds.toManagement,
  };
  const gateway = `10.1.1.${n}`;
  const world = observed();
  return {
    world: {
      ...world,
      cluster: { ...world.cluster, name },
      us: ownerFor("mc", { namespace, name, uid: `uid-${n}` }),
      domains: { ...world.domains, cluster: domain },
      publicZoneId: zoneList.public,
      networks: { ...world.networks, toManagement: network },
      api: { state: "known", values: [`10.1.0.${n}`] },
      toWorkload: { state: "known", values: [`10.0.0.${n}`] },
      toManagement: { gateway: { state: "known", values: [gateway] }, ingress: { state: "none" } },
    },
    zoneList: Object.entries(zoneList).map(([role, id]) => ({ role: role as ZoneRole, id })),
    gateway,
  };
}

/**
 * Passes that overlap: all see before any of them writes, and what Azure refuses is for the next reconcile. With `cached` they know
 * what others have in the zones by an earlier list.
 */
export function passTogether(
  azure: PaperDns,
  clusters: readonly PaperCluster[],
  cached = false,
): number {
  const looks = clusters.map((each) => look(azure, each, cached));
  const planned = looks.map((each) => planTwice(plan, each));
  for (const [n, cluster] of clusters.entries()) {
    const own = planned[n];
    if (own === undefined) continue;
    const steps = own.steps.filter((step) => isTaken(azure, step, cluster, looks[n]));
    cluster.world = after(cluster.world, { ...own, steps });
  }
  return planned.flatMap(({ steps }) => steps).length;
}

function look(azure: PaperDns, cluster: PaperCluster, cached: boolean): Observed {
  const now = azure.observed(cluster.world, cluster.zoneList);
  if (!cached || cluster.listed === undefined) {
    cluster.listed = now;
    return now;
  }
  const { listed } = cluster;
  const isOwn = (each: unknown) => JSON.stringify(each).includes(cluster.world.us.clusterID);
  const merged = <T>(fresh: readonly T[], old: readonly T[]): T[] => [
    ...fresh.filter(isOwn),
    ...old.filter((each) => !isOwn(each)),
  ];
  const zones = now.zones.map((zone) => {
    const old = listed.zones.find(({ id }) => id === zone.id);
    if (old?.observation.state !== "exists" || zone.observation.state !== "exists") return zone;
    const links = merged(zone.links, old.links);
    return { ...zone, links, records: merged(zone.records, old.records) };
  });
  return { ...now, zones };
}

/** Whether a private zone is about to be deleted or left to nobody by a list that is not right any more. */
function isOutdated(azure: PaperDns, step: DnsStep, seenBy: Observed | undefined): boolean {
  if (step.on !== "zone" || step.role === "public") return false;
  const isLast =
    step.do === "delete DNS zone" ||
    (step.do === "release DNS zone" && claimsIn(step.tags).length === 0);
  if (!isLast) return false;
  const zone = seenBy?.zones.find(({ id }) => id === step.id);
  const listed = [...(zone?.links ?? []), ...(zone?.records ?? [])].flatMap((each) =>
    each.observation.state === "exists" ? [`${each.id} ${each.observation.resource.etag}`] : [],
  );
  const inside = azure.below(step.id).map(({ id, etag }) => `${id} ${etag}`);
  return JSON.stringify(listed.sort()) !== JSON.stringify(inside.sort());
}

function isTaken(
  azure: PaperDns,
  step: DnsStep,
  cluster: PaperCluster,
  seenBy: Observed | undefined,
): boolean {
  try {
    if (isOutdated(azure, step, seenBy)) {
      cluster.listed = undefined;
      return false;
    }
    azure.apply(step);
    return true;
  } catch {
    return false;
  }
}

/** One reconcile after another, until none of them has anything to do. */
export function settleAll(
  azure: PaperDns,
  clusters: readonly PaperCluster[],
  cached = false,
): void {
  for (let rounds = 0; rounds < 15; rounds++) {
    const steps = clusters.map((each) => passTogether(azure, [each], cached));
    if (steps.every((count) => count === 0)) return;
  }
  throw new Error("they do not come to rest");
}

/** It is to go. */
export function end(cluster: PaperCluster): void {
  const { world } = cluster;
  cluster.world = { ...world, cluster: { ...world.cluster, deleting: true } };
}
