import { withConditions } from "@postern/core/conditions.ts";
import { idKey, parseResourceId, type ResourceId } from "@postern/core/resource-id.ts";
import type { ArmResource, Observation, Precondition } from "postern/azure/gateway.ts";
import type {
  PrivateDnsZone,
  PrivateRecordSet,
  VirtualNetworkLink,
} from "postern/azure/gateways/private-dns.ts";
import type { PrivateEndpoint } from "postern/azure/gateways/private-endpoints.ts";
import {
  clusterGroup,
  desiredNames,
  desiredNetworks,
  endpointIds,
  hostPlaces,
  isHostZone,
  linkIdsOf,
  nameInZone,
  usesHostZones,
} from "postern/hosted/endpoint/desired/desired.ts";
import type { Observed, ZoneInRole } from "postern/hosted/endpoint/observed.ts";
import type { EndpointStep } from "postern/hosted/endpoint/steps.ts";
import { internalZoneName, privateRouter } from "postern/hosted/names.ts";
import type { Plan } from "postern/kube/feature.ts";
import { recordId } from "postern/private-dns/records/desired.ts";
import { fromPrivate, toPrivate } from "postern/private-dns/records/observed.ts";
import { privateZoneIn, type Zone } from "postern/private-dns/zone/observed.ts";

export const subscription = "33333333-3333-4333-8333-333333333333";
export const clusterID = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
export const otherID = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb";
export const alias = "pls.0.westeurope.azure.privatelinkservice";
export const clusterNetwork = `/subscriptions/${subscription}/resourceGroups/guest/providers/Microsoft.Network/virtualNetworks/guest`;
export const group = clusterGroup({
  subscriptionID: subscription,
  resourceGroupName: "guest",
} as Observed["object"]["spec"]);

/** What is observed of a new object of a cluster whose finalizer is there, before anything exists. */
export function observed(over: Partial<Observed> = {}): Observed {
  return {
    object: { name: privateRouter, namespace: "clusters-one", hasFinalizer: true, spec: spec() },
    self: { uid: "link-uid", clusterID, controlPlaneUid: "plane-uid" },
    cluster: {
      name: "one",
      hostedCluster: "one",
      hostedClusterKey: "clusters/one",
      hasFinalizer: true,
      public: false,
      domain: "cluster.test",
      hostnames: {},
    },
    deletion: undefined,
    deletingMs: 0,
    abandoned: false,
    pause: { paused: false },
    choices: {
      zones: "managed",
      internalZone: undefined,
      baseZone: undefined,
      networks: [],
      wrong: undefined,
    },
    siblings: [],
    link: {
      alias,
      id: undefined,
      condition: { status: "True", reason: "AzureSuccess", message: "made" },
      current: true,
    },
    conditions: [],
    status: {},
    endpointSinceMs: 0,
    noCredential: undefined,
    endpoints: [],
    endpointsFailed: undefined,
    nameReserved: false,
    zones: [],
    zoneNames: [],
    zonesFailed: undefined,
    services: [],
    ...over,
  };
}

/** The spec of a link. */
export function spec(over: Partial<Observed["object"]["spec"]> = {}): Observed["object"]["spec"] {
  return {
    subscriptionID: subscription,
    resourceGroupName: "guest",
    location: "westeurope",
    guestSubnetID: `${clusterNetwork}/subnets/workers`,
    guestVNetID: clusterNetwork,
    baseDomain: "example.com",
    ...over,
  };
}

/** A model of Azure in memory: resources by id. Writes end at once; what Azure would reject is rejected. */
export class AzureModel {
  readonly resources = new Map<string, ArmResource>();
  #etag = 0;
  /** How a new endpoint is connected, and its addresses. */
  state = "Approved";
  addresses: string[] = ["192.168.0.4"];

  set(id: string, body: ArmResource): void {
    this.resources.set(idKey(id), { ...body, id, etag: String(++this.#etag) });
  }

  at<T extends ArmResource>(id: string): T | undefined {
    return this.resources.get(idKey(id)) as T | undefined;
  }

  observe<T extends ArmResource>(id: string): Observation<T> {
    const resource = this.at<T>(id);
    return resource === undefined ? { state: "absent" } : { state: "exists", resource };
  }

  below(id: string): ResourceId[] {
    return [...this.resources.values()].flatMap((each) =>
      each.id !== undefined && idKey(each.id).startsWith(`${idKey(id)}/`)
        ? [parseResourceId(each.id)]
        : [],
    );
  }

  /** Observe everything that concerns an object, as `observe` does. */
  observed(world: Observed): Observed {
    const endpoints = endpointIds(world.object, world.self.clusterID).map((id) => ({
      id,
      observation: this.observe<PrivateEndpoint>(id),
    }));
    return { ...world, endpoints, zones: this.zones(world) };
  }

  zones(world: Observed): ZoneInRole[] {
    const { object, cluster, choices, deletion, status } = world;
    const isRouter = object.name === privateRouter;
    const places: Pick<ZoneInRole, "role" | "id" | "managed" | "desired">[] = [];
    const add = (
      role: ZoneInRole["role"],
      id: ResourceId | undefined,
      managed: boolean,
      desired: boolean,
    ) => {
      if (id && !places.some((each) => idKey(each.id) === idKey(id)))
        places.push({ role, id, managed, desired: desired && deletion === undefined });
    };
    if (choices.zones === "existing") {
      if (isRouter) add("internal", choices.internalZone, false, true);
      if (object.spec.baseDomain) add("base", choices.baseZone, false, true);
    }
    const managed = choices.zones === "managed" || deletion !== undefined;
    if (managed && isRouter && cluster)
      add("internal", privateZoneIn(group, internalZoneName(cluster.name)), true, true);
    const hosts = hostPlaces(world);
    for (const { id, desired } of hosts) if (desired) add("host", id, true, true);
    if (managed && object.spec.baseDomain && (deletion !== undefined || !usesHostZones(world)))
      add("base", privateZoneIn(group, object.spec.baseDomain), true, true);
    if (status.privateDNSZoneID)
      add("internal", parseResourceId(status.privateDNSZoneID), true, false);
    const role = isHostZone(world, status.baseDomainDNSZoneID) ? "host" : "base";
    if (status.baseDomainDNSZoneID)
      add(role, parseResourceId(status.baseDomainDNSZoneID), true, false);
    for (const { id, left } of hosts) if (left) add("host", id, true, false);
    return places.map((place) => this.zone(world, place));
  }

  zone(
    world: Observed,
    place: Pick<ZoneInRole, "role" | "id" | "managed" | "desired">,
  ): ZoneInRole {
    const observation = formed(this.observe<PrivateDnsZone>(place.id), zoneOf);
    if (observation.state !== "exists") return { ...place, observation, links: [], records: [] };
    const children = this.below(place.id);
    const candidates = desiredNetworks(world).flatMap((network) =>
      linkIdsOf(world, place, network),
    );
    const names = desiredNames(world)
      .filter(({ role }) => role === place.role)
      .flatMap(({ fqdn }) => nameInZone(fqdn, place.id) ?? [])
      .flatMap((name) => ["A", "AAAA"].map((type) => recordId(place.id, { type, name })));
    const isLink = (id: string) => /\/virtualNetworkLinks\//i.test(id);
    const once = (ids: ResourceId[]) => [...new Map(ids.map((id) => [idKey(id), id])).values()];
    return {
      ...place,
      observation,
      links: once([...children.filter(isLink), ...candidates]).map((id) => ({
        id,
        observation: this.observe<VirtualNetworkLink>(id),
      })),
      records: once([...children.filter((id) => !isLink(id)), ...names]).map((id) => ({
        id,
        observation: formed(this.observe<PrivateRecordSet>(id), fromPrivate),
      })),
    };
  }

  /** Apply a step, or throw what Azure would answer. */
  apply(step: EndpointStep): void {
    if (step.on === "service") return;
    const found = this.resources.get(idKey(step.id));
    const body = bodyOf(step);
    const etag = etagOf(step);
    if (body !== undefined) {
      if (isForNew(step) && found) throw new Error(`412: ${step.do} ${step.id}`);
      if (etag !== undefined && etag !== found?.etag) throw new Error(`412: ${step.do} ${step.id}`);
      if (step.on !== "endpoint" && step.on !== "zone" && !this.#parentOf(step.id))
        throw new Error(`404: ${step.do} ${step.id}`);
      if (step.on === "link" && step.verb === "create") this.#checkLink(step.id, step.body);
      this.set(step.id, step.on === "endpoint" ? this.#connected(body as PrivateEndpoint) : body);
      return;
    }
    if (found === undefined) return;
    if (etag !== undefined && etag !== found.etag) throw new Error(`412: ${step.do} ${step.id}`);
    const inside = this.below(step.id);
    if (inside.some((id) => /virtualNetworkLinks/i.test(id)))
      throw new Error(`409: ${step.id} has links`);
    for (const id of inside) this.resources.delete(idKey(id));
    this.resources.delete(idKey(step.id));
  }

  /** A network is linked to a zone once. */
  #checkLink(id: string, body: VirtualNetworkLink): void {
    const zone = id.slice(0, id.toLowerCase().indexOf("/virtualnetworklinks/"));
    const network = idKey(body.properties.virtualNetwork?.id ?? "");
    for (const other of this.below(zone)) {
      const found = this.at<VirtualNetworkLink>(other)?.properties.virtualNetwork?.id;
      if (found !== undefined && idKey(found) === network) throw new Error(`409: ${id}`);
    }
  }

  #parentOf(id: string): ArmResource | undefined {
    return this.resources.get(idKey(id.split("/").slice(0, -2).join("/")));
  }

  #connected(body: PrivateEndpoint): PrivateEndpoint {
    return connectedEndpoint(body, this.state, this.addresses);
  }
}

type AzureStep = Exclude<EndpointStep, { on: "service" }>;

/** The etag without which Azure does not accept a step. */
function etagOf(step: AzureStep): string | undefined {
  if (step.on !== "endpoint") return step.ifMatch;
  return step.verb === "create" ? undefined : step.etag;
}

function isForNew(step: AzureStep): boolean {
  return step.on === "endpoint"
    ? step.verb === "create"
    : (step as Precondition).ifNoneMatch === "*";
}

/** What a step writes, as Azure takes it; undefined for one that deletes. */
function bodyOf(step: AzureStep): ArmResource | undefined {
  if ("body" in step) return step.body;
  if ("records" in step) return toPrivate(step.records);
  return "tags" in step
    ? { location: "global", tags: { ...step.tags }, properties: {} }
    : undefined;
}

function zoneOf({ tags = {}, etag, properties }: PrivateDnsZone): Zone {
  return { tags, etag, nameServers: [], provisioningState: properties.provisioningState };
}

function formed<T, U>(observation: Observation<T>, form: (found: T) => U): Observation<U> {
  return observation.state === "exists"
    ? { state: "exists", resource: form(observation.resource) }
    : observation;
}

/** An endpoint as Azure shows it once it is made. */
export function connectedEndpoint(
  body: PrivateEndpoint,
  status: string,
  addresses: readonly string[],
): PrivateEndpoint {
  const [connection] = body.properties.manualPrivateLinkServiceConnections ?? [];
  const ipConfigurations = addresses.map((privateIPAddress) => ({
    properties: { privateIPAddress },
  }));
  return {
    ...body,
    properties: {
      ...body.properties,
      manualPrivateLinkServiceConnections: [
        {
          ...connection,
          properties: {
            ...connection?.properties,
            privateLinkServiceConnectionState: { status } as never,
          },
        },
      ],
      networkInterfaces: [{ id: "/nic", properties: { ipConfigurations } }],
    },
  };
}

/** The object as its status says after a plan. */
export function nowAfter(world: Observed, plan: Plan<EndpointStep>): Observed {
  const conditions = withConditions([], plan.conditions, [], new Date("2026-01-01T00:00:00Z"));
  const hasFinalizer = plan.finalizer === "add" ? true : world.object.hasFinalizer;
  return {
    ...world,
    object: { ...world.object, hasFinalizer },
    conditions,
    status: plan.status ?? {},
  };
}
