import { isObject } from "../../arm/fields.ts";
import { idIn, idsIn } from "../../arm/links.ts";
import type { World } from "../../arm/resource-type.ts";
import { type Json, type JsonObject, parentOf, type Resource } from "../../state/store.ts";
import { configurationsOf } from "../network-interfaces/ip-configurations.ts";

/** Which lists of a load balancer name a child, each a list of references. Empty lists are left out, as Azure does. */
export interface Users {
  loadBalancingRules?: { id: string }[];
  inboundNatRules?: { id: string }[];
  outboundRules?: { id: string }[];
  inboundNatPools?: { id: string }[];
}

const lists = ["loadBalancingRules", "inboundNatRules", "outboundRules"] as const;

/** The rules of its own load balancer that use a frontend, a pool or a probe. */
export function usersOf(child: Resource, world: World): Users {
  const users: Users = {};
  const balancer = parentOf(child.key);
  for (const user of world.store.referrers(child.key)) {
    const list = lists.find(
      (each) =>
        user.type === `Microsoft.Network/loadBalancers/${each}` && parentOf(user.key) === balancer,
    );
    if (list) users[list] = [...(users[list] ?? []), { id: user.id }];
  }
  const pools = natPoolsOf(world.store.get(balancer))
    .filter(({ properties }) => {
      const frontend = isObject(properties) ? idIn(properties.frontendIPConfiguration) : undefined;
      return frontend?.toLowerCase() === child.key;
    })
    .map(({ name }) => ({ id: `${parentOf(child.id)}/inboundNatPools/${name}` }));
  if (pools.length > 0) users.inboundNatPools = pools;
  return users;
}

/** The inbound NAT pools of a load balancer, which have no address of their own to be read at. */
export function natPoolsOf(balancer: Resource | undefined): JsonObject[] {
  const kept: Json | undefined = balancer?.properties.inboundNatPools;
  return Array.isArray(kept) ? kept.filter(isObject) : [];
}

/** The ip configuration that an inbound NAT rule leads to: the interface says so, not the rule. */
export function membersOfRule(rule: Resource, world: World): JsonObject {
  for (const user of world.store.referrers(rule.key)) {
    if (!user.type.endsWith("/networkInterfaces")) continue;
    for (const { name, properties } of configurationsOf(user))
      if (idsIn(properties.loadBalancerInboundNatRules).some((id) => id.toLowerCase() === rule.key))
        return { backendIPConfiguration: { id: `${user.id}/ipConfigurations/${name}` } };
  }
  return {};
}
