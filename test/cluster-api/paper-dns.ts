import {
  idKey,
  nameOf,
  parseResourceId,
  type ResourceId,
  resourceGroupId,
  resourceIn,
} from "@postern/core/resource-id.ts";
import type { Observation } from "postern/azure/gateway.ts";
import type { VirtualNetworkLink } from "postern/azure/gateways/private-dns.ts";
import type { Observed, ZoneInRole, ZoneRole } from "postern/cluster-api/dns/observed.ts";
import { plan } from "postern/cluster-api/dns/plan.ts";
import type { DnsStep } from "postern/cluster-api/dns/steps.ts";
import { zoneIn } from "postern/cluster-api/dns/zones/desired.ts";
import { ownerFor } from "postern/cluster-api/dns/zones/owner.ts";
import type { Plan } from "postern/kube/feature.ts";
import type { RecordSet } from "postern/private-dns/records/observed.ts";
import type { Zone } from "postern/private-dns/zone/observed.ts";
import { planTwice } from "../setup/plan-twice.ts";

const workloadSubscription = "33333333-3333-4333-8333-333333333333";
const managementSubscription = "11111111-1111-4111-8111-111111111111";
export const workloadGroup = resourceGroupId(workloadSubscription, "wc1");
export const otherGroup = resourceGroupId(workloadSubscription, "elsewhere");
export const managementGroup = resourceGroupId(managementSubscription, "mc");
export const baseGroup = resourceGroupId(managementSubscription, "base");
const network = "Microsoft.Network/virtualNetworks";
export const workloadNetwork = resourceIn(workloadGroup, network, "wc1-vnet");
/** The network of another cluster in the same group. */
export const otherNetwork = resourceIn(workloadGroup, network, "wc10-vnet");
export const managementNetwork = resourceIn(managementGroup, network, "mc-vnet");

export const zoneIds = {
  public: zoneIn(workloadGroup, "public", "wc1.example.com"),
  base: zoneIn(baseGroup, "base", "example.com"),
  toWorkload: zoneIn(managementGroup, "toWorkload", "wc1.example.com"),
  toManagement: zoneIn(workloadGroup, "toManagement", "mc.example.com"),
} as const;

export const us = ownerFor("mc", { namespace: "org", name: "wc1", uid: "uid-1" });
/** Another cluster, whose name begins with ours. */
export const them = ownerFor("mc", { namespace: "org", name: "wc10", uid: "uid-10" });
export const ourMark = { postern_owner: `${us.clusterID}/${us.uid}` };
export const theirMark = { postern_owner: `${them.clusterID}/${them.uid}` };
export const ourClaim = { [`postern_user_${us.clusterID}`]: us.uid };
export const theirClaim = { [`postern_user_${them.clusterID}`]: them.uid };
export const servers = ["ns1-01.azure-dns.com.", "ns2-01.azure-dns.net."];

/** A private cluster that is ready and held, with both endpoints approved, before anything exists. */
export function observed(over: Partial<Observed> = {}): Observed {
  return {
    cluster: { name: "wc1", deleting: false, paused: false, ready: true },
    infrastructure: {
      is: "azure",
      called: "AzureCluster org/wc1",
      deleting: false,
      hasFinalizer: true,
      condition: undefined,
      published: [],
    },
    us,
    namesake: undefined,
    refused: undefined,
    domains: { base: "example.com", cluster: "wc1.example.com", management: "mc.example.com" },
    publicZoneId: zoneIds.public,
    zones: [],
    networks: { toWorkload: managementNetwork, toManagement: workloadNetwork },
    served: { toWorkload: false, toManagement: false },
    expected: { toWorkload: true, toManagement: true },
    api: { state: "known", values: ["10.1.0.100"] },
    bastion: { state: "none" },
    services: [],
    toWorkload: { state: "known", values: ["10.0.0.7"] },
    toManagement: { gateway: { state: "known", values: ["10.1.0.8"] }, ingress: { state: "none" } },
    wildcards: { cluster: undefined, management: undefined },
    group: undefined,
    problems: [],
    ...over,
  };
}

type Kept =
  | { is: "zone"; tags: Record<string, string>; provisioningState?: string }
  | { is: "link"; link: VirtualNetworkLink }
  | { is: "record"; record: RecordSet }
  | { is: "group"; tags: Record<string, string> };

/** An Azure on paper: what there is, by id. Writes are over at once, and refuse what Azure refuses. */
export class PaperDns {
  readonly things = new Map<string, Kept & { id: ResourceId; etag: string }>();
  /** The zones that are observed, with their roles. */
  readonly zoneList: readonly { role: ZoneRole; id: ResourceId }[];
  #etag = 0;

  constructor(zoneList: readonly { role: ZoneRole; id: ResourceId }[] = usualZones) {
    this.zoneList = zoneList;
    this.set(zoneIds.base, { is: "zone", tags: {} });
  }

  set(id: string, kept: Kept): void {
    this.things.set(idKey(id), { ...kept, id: parseResourceId(id), etag: String(++this.#etag) });
  }

  zone(id: string, tags: Record<string, string> = {}): this {
    this.set(id, { is: "zone", tags });
    return this;
  }

  link(
    zone: string,
    name: string,
    to: string,
    tags: Record<string, string> = {},
    state: Pick<
      VirtualNetworkLink["properties"],
      "provisioningState" | "virtualNetworkLinkState"
    > = {},
  ): this {
    const link = {
      location: "global",
      tags,
      properties: { virtualNetwork: { id: to }, registrationEnabled: false, ...state },
    };
    this.set(`${zone}/virtualNetworkLinks/${name}`, { is: "link", link });
    return this;
  }

  record(
    zone: string,
    type: string,
    name: string,
    values: string[],
    metadata: Record<string, string> = {},
    ttlSeconds = 300,
  ): this {
    const record = { type, name, values, metadata, ttlSeconds };
    this.set(`${zone}/${type}/${name}`, { is: "record", record });
    return this;
  }

  /** The values of a record set. */
  values(zone: string, type: string, name: string): readonly string[] | undefined {
    const found = this.things.get(idKey(`${zone}/${type}/${name}`));
    return found?.is === "record" ? found.record.values : undefined;
  }

  has(id: string): boolean {
    return this.things.has(idKey(id));
  }

  tags(id: string): Record<string, string> | undefined {
    const found = this.things.get(idKey(id));
    return found?.is === "link"
      ? found.link.tags
      : found && "tags" in found
        ? found.tags
        : undefined;
  }

  /** Look at everything that concerns a cluster, as `observe` does. */
  observed(world: Observed, zoneList: PaperDns["zoneList"] = this.zoneList): Observed {
    const zones = zoneList.map(({ role, id }) =>
      this.#observeZoneInRole(role, id, world.cluster.name),
    );
    const group = world.group && { ...world.group, observation: this.#group(world.group.id) };
    return { ...world, zones, group };
  }

  #group(id: ResourceId): NonNullable<Observed["group"]>["observation"] {
    const found = this.things.get(idKey(id));
    if (found?.is !== "group") return { state: "absent" };
    return {
      state: "exists",
      resource: { location: "westeurope", tags: found.tags, properties: {} },
    };
  }

  #observeZoneInRole(role: ZoneRole, id: ResourceId, cluster: string): ZoneInRole {
    const found = this.things.get(idKey(id));
    if (found?.is !== "zone")
      return { role, id, observation: { state: "absent" }, links: [], records: [] };
    const { tags, etag, provisioningState } = found;
    const nameServers = role === "public" ? servers : [];
    const resource: Zone = { tags, etag, nameServers, provisioningState };
    const observation: Observation<Zone> = { state: "exists", resource };
    const links: ZoneInRole["links"][number][] = [];
    const records: ZoneInRole["records"][number][] = [];
    for (const each of this.below(id)) {
      if (each.is === "link")
        links.push({
          id: each.id,
          observation: { state: "exists", resource: { ...each.link, etag: each.etag } },
        });
      const isNamed = ({ name }: RecordSet) => name === cluster || name.endsWith(`.${cluster}`);
      if (each.is === "record" && (role !== "base" || isNamed(each.record)))
        records.push({
          id: each.id,
          observation: { state: "exists", resource: { ...each.record, etag: each.etag } },
        });
    }
    return { role, id, observation, links, records };
  }

  below(id: string) {
    return [...this.things.values()].filter((each) => idKey(each.id).startsWith(`${idKey(id)}/`));
  }

  /** Do what a step says, or refuse it. What is done to the object is for the caller. */
  apply(step: DnsStep): void {
    if (step.on === "object") return;
    const found = this.things.get(idKey(step.id));
    if ("ifNoneMatch" in step && step.ifNoneMatch && found) throw new Error(`exists: ${step.id}`);
    if ("ifMatch" in step && step.ifMatch !== undefined && found?.etag !== step.ifMatch)
      throw new Error(`changed: ${step.id}`);
    if (step.on === "zone") this.#onZone(step);
    else if (step.on === "group") this.#onGroup(step);
    else this.#inZone(step);
  }

  #inZone(step: Extract<DnsStep, { on: "link" | "record" }>): void {
    const zone = step.id.split("/").slice(0, -2).join("/");
    if (!this.has(zone)) throw new Error(`no zone for ${step.id}`);
    if (!("records" in step) && !("body" in step)) {
      this.things.delete(idKey(step.id));
      return;
    }
    if ("records" in step) {
      this.#refuseNeighbours(zone, step.records);
      this.set(step.id, { is: "record", record: step.records });
      return;
    }
    const to = step.body.properties.virtualNetwork?.id ?? "";
    for (const each of this.things.values())
      if (each.is === "link" && idKey(each.id) !== idKey(step.id))
        if (idKey(each.link.properties.virtualNetwork?.id ?? "") === idKey(to))
          if (nameOf(zoneOf(each.id)) === nameOf(zoneOf(step.id)))
            throw new Error(`linked already by ${each.id}`);
    this.set(step.id, { is: "link", link: step.body });
  }

  #refuseNeighbours(zone: string, { type, name }: RecordSet): void {
    for (const each of this.below(zone))
      if (each.is === "record" && each.record.name === name && each.record.type !== type)
        if ([type, each.record.type].includes("CNAME")) throw new Error(`CNAME beside ${each.id}`);
  }

  #onZone(step: Extract<DnsStep, { on: "zone" }>): void {
    if (step.do !== "delete DNS zone") {
      this.zone(step.id, { ...step.tags });
      return;
    }
    const inside = this.below(step.id);
    if (inside.some(({ is }) => is === "link")) throw new Error(`${step.id} has links`);
    for (const { id } of inside) this.things.delete(idKey(id));
    this.things.delete(idKey(step.id));
  }

  #onGroup(step: Extract<DnsStep, { on: "group" }>): void {
    this.set(step.id, { is: "group", tags: { ...step.body.tags } });
  }
}

const usualZones = Object.entries(zoneIds).map(([role, id]) => ({ role: role as ZoneRole, id }));

function zoneOf(id: string): ResourceId {
  return parseResourceId(id.split("/").slice(0, -2).join("/"));
}

/** What a reconcile makes of the world beside Azure: the object is held or let go, the condition written. */
export function after(
  world: Observed,
  {
    steps,
    conditions,
    retainsStatus,
  }: Pick<Plan<DnsStep>, "steps" | "conditions" | "retainsStatus">,
): Observed {
  const { infrastructure } = world;
  if (infrastructure === undefined) return world;
  const next = { ...infrastructure };
  for (const step of steps)
    if (step.on === "object") next.hasFinalizer = step.do === "add finalizer";
  // The status of an AzureASOManagedCluster has no conditions.
  if (!retainsStatus && next.is !== "aks") next.condition = conditions[0];
  return { ...world, infrastructure: next };
}

/** Plan and do until nothing is left to do; every plan is handed to `watch` first. */
export function settle(
  azure: PaperDns,
  world: Observed,
  watch: (planned: Plan<DnsStep>) => void = () => {},
): { world: Observed; planned: ReturnType<typeof plan> } {
  let now = world;
  for (let reconciles = 0; reconciles < 15; reconciles++) {
    const planned = planTwice(plan, azure.observed(now));
    const ids = planned.steps.flatMap((step) => ("id" in step ? [idKey(step.id)] : []));
    if (new Set(ids).size < ids.length) throw new Error(`two steps on one resource: ${ids}`);
    watch(planned);
    for (const step of planned.steps) azure.apply(step);
    now = after(now, planned);
    if (planned.steps.length === 0) return { world: now, planned };
  }
  throw new Error(
    `it does not come to rest: ${JSON.stringify(plan(azure.observed(now)).steps, null, 1)}`,
  );
}
