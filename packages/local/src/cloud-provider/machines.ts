import { sameId } from "@postern/core/resource-id.ts";
import type { LoadBalancer } from "postern/azure/gateways/load-balancers.ts";
import type { NetworkInterface } from "postern/azure/gateways/network-interfaces.ts";
import { poolName } from "./names.ts";

/** A machine that is to be put into pools, as its interface. */
export interface Joining {
  id: string;
  body: NetworkInterface;
  etag: string | undefined;
}

/**
 * The interfaces that are not in the pool of every load balancer, and what each is to become. A link service wants a pool of
 * interfaces and not of addresses, and so the pool is written by way of its members. Azure lets an interface be behind one
 * internal load balancer only, so that the real provider has machines of their own for each; here all have the same.
 */
export function joining(
  machines: readonly NetworkInterface[],
  balancers: readonly (LoadBalancer | undefined)[],
): Joining[] {
  const pools = balancers.flatMap((balancer) =>
    balancer?.id && balancer.properties.backendAddressPools?.some(({ name }) => name === poolName)
      ? [`${balancer.id}/backendAddressPools/${poolName}`]
      : [],
  );
  return machines.flatMap((machine) => joined(machine, pools) ?? []);
}

function joined(machine: NetworkInterface, pools: readonly string[]): Joining | undefined {
  const { id, etag, properties } = machine;
  const [first, ...others] = properties.ipConfigurations ?? [];
  if (id === undefined || first === undefined) return undefined;
  const held = first.properties.loadBalancerBackendAddressPools ?? [];
  const missing = pools.filter((pool) => !held.some((each) => sameId(each.id, pool)));
  if (missing.length === 0) return undefined;
  const within = [...held, ...missing.map((pool) => ({ id: pool }))];
  const own = {
    ...first,
    properties: { ...first.properties, loadBalancerBackendAddressPools: within },
  };
  const body = { ...machine, properties: { ...properties, ipConfigurations: [own, ...others] } };
  return { id, body, etag };
}
