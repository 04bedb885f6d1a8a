import { sameRegion } from "@postern/core/region.ts";
import { sameId } from "@postern/core/resource-id.ts";
import type { BackendPool, TunnelInterface } from "../azure/gateways/backend-pools.ts";
import type { LoadBalancer } from "../azure/gateways/load-balancers.ts";
import { ApplianceError } from "./errors.ts";
import type { GWLBConfig, HealthProbe, Tunnel } from "./gwlb-config.ts";

/** The pool that was asked for and where this machine is. */
export interface PoolQuery {
  poolName: string;
  /** The machine's region and network. */
  location: string;
  vnetResourceId: string;
  /** Where was looked, for people: `resource group rg`. */
  scope: string;
  /** The load balancer that was named. */
  named?: string | undefined;
}

/** What is known of the pool once it is found. */
export type SelectedPool = Pick<
  GWLBConfig,
  | "loadBalancerName"
  | "loadBalancerResourceId"
  | "backendPoolName"
  | "backendPoolResourceId"
  | "frontendIPs"
  | "tunnels"
  | "tunnelsAssumed"
  | "probe"
>;

/** The ports of the portal, for pools that say nothing: https://learn.microsoft.com/azure/load-balancer/tutorial-gateway-portal */
export const internalVXLANPort = 10800;
/** The other one. */
export const externalVXLANPort = 10801;

const portalTunnels: readonly Tunnel[] = [
  { type: "Internal", port: internalVXLANPort, identifier: 800 },
  { type: "External", port: externalVXLANPort, identifier: 801 },
];

/**
 * Choose the pool by its exact name, of the load balancer that was named or of any:
 *
 *   load balancers    of SKU Gateway   with the pool   in the region   →
 *   any               none                                             LoadBalancerNotFound (the named one: LoadBalancerNotGateway)
 *   any               some             none                            PoolNotFound
 *   any               some             some            none            PoolInAnotherRegion
 *   any               some             some            several         PoolAmbiguous
 *   any               some             some            one             that one, if it is in the machine's network
 */
export function choosePool(found: readonly LoadBalancer[], query: PoolQuery): SelectedPool {
  const { poolName, location, scope, named } = query;
  const what = `find the backend pool "${poolName}"`;
  const refuse = (code: ConstructorParameters<typeof ApplianceError>[0]["code"], detail: string) =>
    new ApplianceError({ code, what, detail });
  const meant = found.filter(
    ({ name }) => named === undefined || name?.toLowerCase() === named.toLowerCase(),
  );
  const gateways = meant.filter(({ sku }) => sku?.name?.toLowerCase() === "gateway");
  if (gateways.length === 0) {
    const has = `has ${listed(found.map(({ name, sku }) => `${name} (${sku?.name ?? "Basic"})`))}`;
    const isThere = named === undefined || meant.length > 0;
    throw refuse(
      named !== undefined && isThere ? "LoadBalancerNotGateway" : "LoadBalancerNotFound",
      isThere ? `${scope} ${has}` : `"${named}" is not in ${scope}, which ${has}`,
    );
  }
  const having = gateways.flatMap((balancer) =>
    poolsOf(balancer)
      .filter(({ name }) => name === poolName)
      .map((pool) => ({ balancer, pool })),
  );
  if (having.length === 0)
    throw refuse(
      "PoolNotFound",
      listed(
        gateways.map(
          (each) => `${each.name} has ${listed(poolsOf(each).map(({ name = "" }) => name))}`,
        ),
      ),
    );
  const near = having.filter(({ balancer }) => sameRegion(balancer.location, location));
  const [one] = near;
  if (one === undefined)
    throw refuse(
      "PoolInAnotherRegion",
      `${listed(having.map(({ balancer }) => `${balancer.name} is in ${balancer.location}`))}, this machine in ${location}`,
    );
  if (near.length > 1)
    throw refuse("PoolAmbiguous", listed(near.map(({ balancer }) => balancer.id ?? "")));
  const elsewhere = networksOf(one.balancer).find((id) => !sameId(id, query.vnetResourceId));
  if (elsewhere !== undefined)
    throw refuse(
      "PoolInAnotherNetwork",
      `${one.balancer.name} is in ${elsewhere}, this machine in ${query.vnetResourceId}`,
    );
  return selectedPool(one.balancer, one.pool);
}

function selectedPool(balancer: LoadBalancer, pool: BackendPool): SelectedPool {
  const declared = (pool.properties.tunnelInterfaces ?? []).filter(
    ({ type, protocol }) => type !== "None" && protocol !== "None",
  );
  const probe = probeOf(balancer, pool);
  return {
    loadBalancerName: balancer.name ?? "",
    loadBalancerResourceId: balancer.id ?? "",
    backendPoolName: pool.name ?? "",
    backendPoolResourceId: pool.id ?? "",
    frontendIPs: (balancer.properties.frontendIPConfigurations ?? []).flatMap(
      ({ properties }) => properties.privateIPAddress ?? [],
    ),
    tunnels: declared.length > 0 ? declared.flatMap(asTunnel) : [...portalTunnels],
    tunnelsAssumed: declared.length === 0,
    ...(probe && { probe }),
  };
}

function asTunnel({ type, port, identifier, protocol }: TunnelInterface): Tunnel[] {
  const kind = type === "External" || type === "Internal" ? type : undefined;
  if (kind === undefined || (protocol ?? "VXLAN") !== "VXLAN") return [];
  const usual = portalTunnels[kind === "Internal" ? 0 : 1];
  return [
    {
      type: kind,
      port: port || (usual?.port ?? 0),
      identifier: identifier ?? usual?.identifier ?? 0,
    },
  ];
}

/** The probe of the first rule that sends to the pool. */
function probeOf(balancer: LoadBalancer, pool: BackendPool): HealthProbe | undefined {
  const { loadBalancingRules = [], probes = [] } = balancer.properties;
  const rule = loadBalancingRules.find(({ properties }) => {
    const { backendAddressPool, backendAddressPools = [] } = properties;
    const named = [...backendAddressPools, ...(backendAddressPool ? [backendAddressPool] : [])];
    return named.some(({ id }) => sameId(id, pool.id ?? ""));
  });
  const probe = probes.find(({ id = "" }) => sameId(id, rule?.properties.probe?.id ?? "none"));
  if (probe === undefined) return undefined;
  const { protocol = "Tcp", port = 0, requestPath = "/", intervalInSeconds = 5 } = probe.properties;
  const { probeThreshold, numberOfProbes } = probe.properties;
  return {
    protocol,
    port,
    path: requestPath,
    intervalSeconds: intervalInSeconds,
    threshold: Math.max(1, probeThreshold ?? numberOfProbes ?? 1),
  };
}

function poolsOf(balancer: LoadBalancer): BackendPool[] {
  return balancer.properties.backendAddressPools ?? [];
}

function networksOf(balancer: LoadBalancer): string[] {
  return (balancer.properties.frontendIPConfigurations ?? []).flatMap(
    ({ properties }) => properties.subnet?.id.replace(/\/subnets\/[^/]+$/i, "") ?? [],
  );
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(", ");
  return names.length === 0
    ? "none"
    : names.length > 10
      ? `${shown} and ${names.length - 10} more`
      : shown;
}
