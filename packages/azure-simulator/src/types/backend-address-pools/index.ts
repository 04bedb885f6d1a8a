import { defined } from "../../arm/fields.ts";
import { checkNetworkName, idIn, joinsIn } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { ResourceType, World } from "../../arm/resource-type.ts";
import { type Json, type JsonObject, parentOf, type Resource } from "../../state/store.ts";
import { usersOf } from "../load-balancers/back-references.ts";
import { skuOf, tierOf } from "../load-balancers/frontends.ts";
import { leavePool, membersOf } from "../network-interfaces/pool-membership.ts";
import { acceptPool } from "./accept.ts";

/** Backend pools. They share the etag of their load balancer, so that any write to it makes a pool's etag old. */
export const backendAddressPools: ResourceType = {
  type: "Microsoft.Network/loadBalancers/backendAddressPools",
  dialect: "network",
  within: "parent",
  put: "async",
  delete: "async",
  joins: ({ properties }) => joinsIn(properties, poolJoins),
  accept({ properties, parent, existing, world, id, name }) {
    checkNetworkName(name);
    const siblings = world.store.count(`${parent?.key}/backendaddresspools`);
    const at = existing ? indexOf(existing, world) : siblings;
    return {
      properties: acceptPool(properties, {
        world,
        id,
        sku: skuOf(parent),
        isGlobal: tierOf(parent) === "Global",
        balancer: parent?.key ?? "",
        existing,
        at,
      }),
    };
  },
  show: (pool, world) => shownPool(pool, world),
  mayDelete(pool, world) {
    checkMayGo(pool, world);
    const { loadBalancingRules, outboundRules, inboundNatRules } = usersOf(pool, world);
    const user = [loadBalancingRules, outboundRules, inboundNatRules].flatMap(
      (each) => each ?? [],
    )[0];
    if (user)
      throw new Refusal(
        400,
        "InUseBackendAddressPoolCannotBeDeleted",
        `Backend address pool ${pool.id} is in use by ${user.id} and cannot be deleted.`,
      );
  },
  afterDelete(pool, world) {
    leavePool(pool, world);
  },
  differences: [
    "Whether a pool of a Gateway load balancer accepts members by address is a switch: the documentation does not say.",
    "A pool has the etag of its load balancer: by analogy with route tables and networks [?].",
    "The default tunnel interface is Internal, VXLAN, port 10800 and identifier 900, one more for each further pool: the CLI tutorial and the form of Microsoft's example [D, S].",
    "The names of members by interface consist of group, interface and configuration [?].",
    "Deleting a pool removes it from the interfaces that reference it; it is rejected if a rule references it, with a code by analogy [?].",
    "adminState is stored and returned; there is no traffic for it to affect.",
  ],
};

/** What the asker needs on what a pool names. */
export const poolJoins: Readonly<Record<string, string>> = {
  virtualNetwork: "Microsoft.Network/virtualNetworks/joinLoadBalancer/action",
  subnet: "Microsoft.Network/virtualNetworks/subnets/joinLoadBalancer/action",
};

/** What follows from others: members by interface, and the rules that use the pool. */
export function shownPool(pool: Resource, world: World): JsonObject {
  const kept = (pool.properties.loadBalancerBackendAddresses ?? []) as JsonObject[];
  const members = [...membersOf(pool, world)];
  const states = new Map(
    kept.map(({ properties }) => {
      const { networkInterfaceIPConfiguration, adminState } = properties as JsonObject;
      return [idIn(networkInterfaceIPConfiguration)?.toLowerCase(), adminState];
    }),
  );
  const byInterface = members.map(({ id, name, of }) => ({
    name: `${of.id.split("/")[4]}_${of.name}${name}`,
    properties: defined({
      networkInterfaceIPConfiguration: { id },
      adminState: states.get(id.toLowerCase()),
    }),
  }));
  const etag = `W/"${world.store.get(parentOf(pool.key))?.etag}"`;
  const byAddress = kept.flatMap((each) => {
    const fields = each.properties as JsonObject;
    const address = addressOf(fields, world);
    if (address === undefined) return [];
    return {
      name: each.name,
      id: `${pool.id}/loadBalancerBackendAddresses/${each.name}`,
      etag,
      type: "Microsoft.Network/loadBalancers/backendAddressPools/loadBalancerBackendAddresses",
      properties: {
        provisioningState: pool.state,
        ...fields,
        ipAddress: address,
        // Recorded: None is not shown.
        ...(fields.adminState === "None" && { adminState: undefined }),
      },
    };
  });
  return defined({
    loadBalancerBackendAddresses: [...byAddress, ...byInterface],
    backendIPConfigurations: members.length === 0 ? undefined : members.map(({ id }) => ({ id })),
    ...usersOf(pool, world),
  });
}

/** The address of a member by address: its own, or that of the regional frontend that it is. */
function addressOf(fields: JsonObject, world: World): Json | undefined {
  const frontend = world.store.get(idIn(fields.loadBalancerFrontendIPConfiguration) ?? "");
  if (!frontend) return fields.ipAddress;
  const address = world.store.get(idIn(frontend.properties.publicIPAddress) ?? "");
  return address?.properties.ipAddress ?? "";
}

/** Refuse to let a pool go that a scale set names. The words are those of Azure/vm-scale-sets#53. */
export function checkMayGo(pool: Resource, world: World): void {
  const user = scaleSetUsing(pool, world);
  if (user === undefined) return;
  throw new Refusal(
    400,
    "LoadBalancerBackendAddressPoolInUseByVirtualMachineScaleSet",
    `Cannot remove backend address pool ${pool.name} from load balancer since it is in use by virtual machine scale set ${user}.`,
  );
}

/** The id of a scale set that names a pool, itself or by one of its instances. */
export function scaleSetUsing(pool: Resource, world: World): string | undefined {
  for (const user of world.store.referrers(pool.key))
    if (user.type.startsWith("Microsoft.Compute/virtualMachineScaleSets"))
      return user.id.split("/").slice(0, 9).join("/");
  return undefined;
}

function indexOf(pool: Resource, world: World): number {
  let at = 0;
  for (const each of world.store.collection(`${parentOf(pool.key)}/backendaddresspools`)) {
    if (each.key === pool.key) return at;
    at++;
  }
  return at;
}
