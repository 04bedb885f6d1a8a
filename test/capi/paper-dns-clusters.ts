import { plan } from "../../src/capi/dns/plan.ts";
import type { Seen, ZoneRole } from "../../src/capi/dns/seen.ts";
import type { DnsStep } from "../../src/capi/dns/steps.ts";
import { zoneIn } from "../../src/capi/dns/wanted.ts";
import { ownerFor } from "../../src/capi/dns/whose.ts";
import type { ResourceId } from "../../src/model/resource-id.ts";
import {
  after,
  managementGroup,
  type PaperDns,
  seen,
  workloadGroup,
  zoneIds,
} from "./paper-dns.ts";

/** One of several clusters that act on the same Azure. */
export interface PaperCluster {
  world: Seen;
  places: readonly { role: ZoneRole; id: ResourceId }[];
  /** The address of its endpoint to the management cluster, which is of use in its own network only. */
  gateway: string;
}

/** A private cluster in the group that all of them share, with both endpoints approved. */
export function paperCluster(
  name: string,
  n: number,
  network: ResourceId,
  namespace = "org",
): PaperCluster {
  const domain = `${name}.example.com`;
  const places = {
    public: zoneIn(workloadGroup, "public", domain),
    base: zoneIds.base,
    toWorkload: zoneIn(managementGroup, "toWorkload", domain),
    toManagement: zoneIds.toManagement,
  };
  const gateway = `10.1.1.${n}`;
  const world = seen();
  return {
    world: {
      ...world,
      cluster: { ...world.cluster, name },
      us: ownerFor("mc", { namespace, name, uid: `uid-${n}` }),
      domains: { ...world.domains, cluster: domain },
      publicPlace: places.public,
      networks: { ...world.networks, toManagement: network },
      api: { state: "known", values: [`10.1.0.${n}`] },
      toWorkload: { state: "known", values: [`10.0.0.${n}`] },
      toManagement: { gateway: { state: "known", values: [gateway] }, ingress: { state: "none" } },
    },
    places: Object.entries(places).map(([role, id]) => ({ role: role as ZoneRole, id })),
    gateway,
  };
}

/** Passes that overlap: all see before any of them writes, and what Azure refuses is for the next pass. */
export function passTogether(azure: PaperDns, clusters: readonly PaperCluster[]): number {
  const planned = clusters.map((each) => plan(azure.seen(each.world, each.places)).steps);
  for (const [n, cluster] of clusters.entries()) {
    const done = (planned[n] ?? []).filter((step) => isTaken(azure, step));
    cluster.world = after(cluster.world, done);
  }
  return planned.flat().length;
}

function isTaken(azure: PaperDns, step: DnsStep): boolean {
  try {
    azure.apply(step);
    return true;
  } catch {
    return false;
  }
}

/** One pass after another, until none of them has anything to do. */
export function settleAll(azure: PaperDns, clusters: readonly PaperCluster[]): void {
  for (let rounds = 0; rounds < 15; rounds++) {
    const steps = clusters.map((each) => passTogether(azure, [each]));
    if (steps.every((count) => count === 0)) return;
  }
  throw new Error("they do not come to rest");
}

/** It is to go. */
export function end(cluster: PaperCluster): void {
  const { world } = cluster;
  cluster.world = { ...world, cluster: { ...world.cluster, deleting: true } };
}
