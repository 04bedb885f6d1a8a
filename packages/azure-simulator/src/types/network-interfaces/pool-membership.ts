import { bump } from "../../arm/etags.ts";
import { isObject } from "../../arm/fields.ts";
import { idIn, idsIn, referred } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { World } from "../../arm/resource-type.ts";
import { type JsonObject, parentOf, type Resource } from "../../state/store.ts";
import { configurationsOf, networkOf } from "./ip-configurations.ts";

const poolType = "Microsoft.Network/loadBalancers/backendAddressPools";

/** Refuse an interface that may not join the pools that it names. */
export function checkPools(
  world: World,
  id: string,
  configurations: readonly { name: string; properties: JsonObject }[],
): void {
  for (const { properties } of configurations) {
    for (const rule of idsIn(properties.loadBalancerInboundNatRules))
      referred(world, rule, "Microsoft.Network/loadBalancers/inboundNatRules", id);
    for (const poolId of idsIn(properties.loadBalancerBackendAddressPools)) {
      const pool = referred(world, poolId, poolType, id);
      if (hasAddresses(pool)) throw mixed(pool.id);
      const frontendNetwork = networkOfBalancer(world, parentOf(pool.key));
      const network = networkOf(configurations);
      if (frontendNetwork !== undefined && frontendNetwork !== network)
        throw new Refusal(
          400,
          "NetworkInterfaceAndInternalLoadBalancerMustUseSameVnet",
          `Network interface ${id} uses virtual network ${network} but the internal load balancer ${parentOf(pool.id)} uses virtual network ${frontendNetwork}.`,
        );
    }
  }
}

/** Whether a pool was given members by address. */
function hasAddresses(pool: Resource): boolean {
  return addressesOf(pool).some(({ properties }) => (properties as JsonObject).ipAddress);
}

function addressesOf(pool: Resource): JsonObject[] {
  return (pool.properties.loadBalancerBackendAddresses ?? []) as JsonObject[];
}

/** A pool has members by address or by interface, never both. The code is that of terraform-provider-azurerm#25962. */
export function mixed(pool: string): Refusal {
  return new Refusal(
    400,
    "CannotMixIPBasedAddressesAndIPConfigurationsOnLoadBalancerBackendAddressPool",
    `Mixing backend ipconfigurations and IPAddresses in backend pool ${pool} is not allowed.`,
  );
}

/** The ids of the ip configurations that are members of a pool, each with its interface. */
export function* membersOf(
  pool: Resource,
  world: World,
): Generator<{ id: string; name: string; properties: JsonObject; of: Resource }> {
  for (const user of world.store.referrers(pool.key))
    if (user.type.endsWith("/networkInterfaces"))
      for (const { name, properties } of configurationsOf(user))
        if (names(properties, pool.key))
          yield { id: `${user.id}/ipConfigurations/${name}`, name, properties, of: user };
}

/** Take a pool that is gone out of the interfaces that name it, so that no reference dangles. */
export function leavePool(pool: Resource, world: World): void {
  leave(pool, "loadBalancerBackendAddressPools", world);
}

/** The same for an inbound NAT rule. */
export function leaveRule(rule: Resource, world: World): void {
  leave(rule, "loadBalancerInboundNatRules", world);
}

function leave(gone: Resource, list: string, world: World): void {
  for (const user of [...world.store.referrers(gone.key)]) {
    if (!user.type.endsWith("/networkInterfaces")) continue;
    user.properties = {
      ...user.properties,
      ipConfigurations: configurationsOf(user).map(({ name, properties }) => {
        const { [list]: kept, ...rest } = properties;
        const left = idsIn(kept).filter((each) => each.toLowerCase() !== gone.key);
        return {
          name,
          properties: left.length === 0 ? rest : { ...rest, [list]: left.map((id) => ({ id })) },
        };
      }),
    };
    bump(user);
    world.store.put(user);
  }
}

/** Joining and leaving changes the load balancer too: its etag is another one after it. */
export function touchBalancers(
  before: Resource | undefined,
  after: Resource | undefined,
  world: World,
): void {
  const old = poolsOf(before);
  const now = poolsOf(after);
  const changed = [...old, ...now].filter((each) => old.has(each) !== now.has(each));
  for (const key of old) if (!now.has(key)) forgetState(key, before, world);
  for (const key of new Set(changed.map(parentOf))) {
    const balancer = world.store.get(key);
    if (!balancer) continue;
    bump(balancer);
    world.store.put(balancer);
  }
}

/** The admin state of a member by interface goes with it. */
function forgetState(key: string, left: Resource | undefined, world: World): void {
  const pool = world.store.get(key);
  if (!pool) return;
  const addresses = addressesOf(pool);
  const stay = addresses.filter(({ properties }) => {
    const id = idIn((properties as JsonObject).networkInterfaceIPConfiguration);
    return !id?.toLowerCase().startsWith(`${left?.key}/`);
  });
  if (stay.length === addresses.length) return;
  pool.properties = { ...pool.properties, loadBalancerBackendAddresses: stay };
  world.store.put(pool);
}

function poolsOf(resource: Resource | undefined): Set<string> {
  const configurations = resource ? configurationsOf(resource) : [];
  return new Set(
    configurations.flatMap(({ properties }) =>
      idsIn(properties.loadBalancerBackendAddressPools).map((each) => each.toLowerCase()),
    ),
  );
}

function names(properties: JsonObject, pool: string): boolean {
  return idsIn(properties.loadBalancerBackendAddressPools).some(
    (each) => each.toLowerCase() === pool,
  );
}

/** The network of an internal load balancer; undefined for a public one. */
export function networkOfBalancer(world: World, balancer: string): string | undefined {
  for (const frontend of world.store.collection(`${balancer}/frontendipconfigurations`)) {
    const subnet = isObject(frontend.properties.subnet)
      ? idIn(frontend.properties.subnet)
      : undefined;
    if (subnet !== undefined) return parentOf(subnet.toLowerCase());
  }
  return undefined;
}
