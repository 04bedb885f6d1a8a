import type { Network } from "@postern/core/dashboard/picture.ts";
import { idKey, lastSegment } from "@postern/core/resource-id.ts";
import type { LoadBalancer } from "../azure/gateways/load-balancers.ts";
import { connectionsOf, type PrivateEndpoint } from "../azure/gateways/private-endpoints.ts";
import type { PrivateLinkService } from "../azure/gateways/private-link-services.ts";
import { type RequestedEndpoint, requestedEndpoints } from "./cluster-objects.ts";
import type { World, Zone } from "./world.ts";

/** A world in which everything is found by its id, so that no drawing searches a list for each cluster. */
export interface WorldIndex {
  world: World;
  /** When the world was observed: ages count to then. */
  now: Date;
  networks: Network[];
  linkService(id: string | undefined): PrivateLinkService | undefined;
  byAlias(alias: string): PrivateLinkService | undefined;
  loadBalancer(id: string | undefined): LoadBalancer | undefined;
  endpoint(id: string | undefined): PrivateEndpoint | undefined;
  /** The endpoints that lead to a link service, by its id or its alias. */
  endpointsTo(service: PrivateLinkService): PrivateEndpoint[];
  /** The endpoints that clusters of Cluster API request to a link service, whether they exist or not. */
  requestedEndpoints(service: string): RequestedEndpoint[];
  /** The name of the virtual machine with an address in a network. */
  machineAt(address: string | undefined, network: string | undefined): string | undefined;
  zone(id: string | undefined): Zone | undefined;
  /** Whether a zone is there, and nobody asked what is in it. */
  isUnopened(id: string): boolean;
  /** The networks that one is peered with. */
  peersOf(network: string): string[];
  /** The addresses of an endpoint, from its network interfaces. */
  addressesOf(endpoint: PrivateEndpoint): string[];
}

export function indexOf(world: World): WorldIndex {
  const { azure } = world;
  const services = byId(azure.linkServices);
  const aliases = new Map(
    azure.linkServices.flatMap((each) =>
      each.properties.alias ? [[each.properties.alias.toLowerCase(), each] as const] : [],
    ),
  );
  const balancers = byId(azure.loadBalancers);
  const endpoints = byId(azure.endpoints);
  const interfaces = byId(azure.interfaces);
  const machines = new Map(
    azure.interfaces.flatMap(({ properties }) => {
      const machine = properties.virtualMachine?.id;
      return (properties.ipConfigurations ?? []).flatMap(({ properties: at }) => {
        const network = networkOf(at.subnet?.id);
        return machine && at.privateIPAddress
          ? [[`${network} ${at.privateIPAddress}`, lastSegment(machine)] as const]
          : [];
      });
    }),
  );
  const zones = new Map(azure.zones.map((each) => [idKey(each.zone.id ?? ""), each]));
  const unopened = new Set((azure.unopened ?? []).map(idKey));
  const targets = azure.endpoints.flatMap((endpoint) =>
    targetsOf(endpoint).map((target) => ({ endpoint, target })),
  );
  const towards = Map.groupBy(targets, ({ target }) => {
    const service = services.get(idKey(target)) ?? aliases.get(target.toLowerCase());
    return idKey(service?.id ?? target);
  });
  const requested = Map.groupBy(requestedEndpoints(world.kube), ({ service }) => idKey(service));
  const peers = new Map(
    azure.networks.map(({ id = "", properties }) => [
      idKey(id),
      (properties.virtualNetworkPeerings ?? []).flatMap((each) => {
        const remote = each.properties.remoteVirtualNetwork?.id;
        return remote === undefined ? [] : [idKey(remote)];
      }),
    ]),
  );
  const find =
    <T>(map: Map<string, T>) =>
    (id: string | undefined) =>
      id === undefined ? undefined : map.get(idKey(id));
  return {
    world,
    now: world.observedAt === undefined ? new Date() : new Date(world.observedAt),
    networks: azure.networks.map(({ id = "", properties }) => ({
      id: idKey(id),
      label: lastSegment(id),
      blocks: properties.addressSpace?.addressPrefixes ?? [],
    })),
    linkService: find(services),
    byAlias: (alias) => aliases.get(alias.toLowerCase()),
    loadBalancer: find(balancers),
    endpoint: find(endpoints),
    endpointsTo: (service) =>
      (towards.get(idKey(service.id ?? "")) ?? []).map(({ endpoint }) => endpoint),
    requestedEndpoints: (service) => requested.get(idKey(service)) ?? [],
    machineAt: (address, network) => machines.get(`${network} ${address}`),
    zone: find(zones),
    isUnopened: (id) => unopened.has(idKey(id)),
    peersOf: (network) => peers.get(network) ?? [],
    addressesOf: ({ properties }) =>
      (properties.networkInterfaces ?? []).flatMap((each) => {
        const found = interfaces.get(idKey(each.id)) ?? each;
        return (found.properties?.ipConfigurations ?? []).flatMap(
          (one) => one.properties.privateIPAddress ?? [],
        );
      }),
  };
}

/** Whether some things of a kind could not be listed. */
export function isHidden({ world }: WorldIndex, what: string): boolean {
  return world.unread.some((each) => each.scope !== undefined && each.type === what);
}

/** Whether what is in a zone could not be listed. */
export function isClosed(
  { world }: WorldIndex,
  { zone }: Zone,
  what: "links" | "records",
): boolean {
  return world.unread.some((each) => each.type === what && each.scope === zone.id);
}

/** What an endpoint leads to: ids or aliases of link services. */
export function targetsOf({ properties }: PrivateEndpoint): string[] {
  return connectionsOf({ properties }).flatMap(
    (each) => each.properties.privateLinkServiceId ?? [],
  );
}

/** The network of a subnet, as the picture names it. */
export function networkOf(subnet: string | undefined): string | undefined {
  const [network] = subnet?.split(/\/subnets\//i) ?? [];
  return network ? idKey(network) : undefined;
}

function byId<T extends { id?: string }>(all: readonly T[]): Map<string, T> {
  return new Map(all.map((each) => [idKey(each.id ?? ""), each]));
}
