import type { Drawn, Node } from "@postern/core/dashboard/picture.ts";
import { idKey, lastSegment } from "@postern/core/resource-id.ts";
import type { BackendAddress } from "../../azure/gateways/backend-pools.ts";
import { networkOf, type WorldIndex } from "../index-of.ts";
import { type NodeStatus, provisioned } from "./states.ts";

/** Gateway load balancers, their pools, and the appliances in them. */
export function applianceParts(index: WorldIndex): Drawn {
  const drawn: Drawn = { clusters: [], nodes: [], lines: [] };
  for (const balancer of index.world.azure.loadBalancers) {
    if (balancer.sku?.name !== "Gateway") continue;
    const network = networkOf(
      balancer.properties.frontendIPConfigurations?.[0]?.properties.subnet?.id,
    );
    const balancerNode = `gateway|${idKey(balancer.id ?? "")}`;
    const place = network ? { network } : {};
    drawn.nodes.push({
      id: balancerNode,
      kind: "load-balancer",
      label: balancer.name ?? "",
      ...place,
      ...provisioned(balancer.properties.provisioningState),
      facts: { sku: "Gateway" },
      azureId: balancer.id ?? "",
    });
    for (const pool of balancer.properties.backendAddressPools ?? []) {
      const poolNode = `pool|${idKey(pool.id ?? "")}`;
      const members = pool.properties.loadBalancerBackendAddresses ?? [];
      // Azure tells of a pool of interfaces in the second list, and leaves the first one empty.
      const interfaces = pool.properties.backendIPConfigurations ?? [];
      const count = Math.max(members.length, interfaces.length);
      const status: NodeStatus =
        count > 0
          ? provisioned(pool.properties.provisioningState)
          : { state: "absent", reason: "Empty", message: "no appliance is in the pool" };
      drawn.nodes.push({
        id: poolNode,
        kind: "pool",
        label: pool.name ?? "",
        under: balancerNode,
        ...place,
        ...status,
        facts: { members: String(count) },
        azureId: pool.id ?? "",
      });
      drawn.lines.push({ from: balancerNode, to: poolNode, state: status.state });
      const appliances = members
        .map((member) => applianceNode(index, poolNode, member, place))
        .sort((one, other) => one.label.localeCompare(other.label, "en", { numeric: true }));
      drawn.nodes.push(...appliances);
      drawn.lines.push(...appliances.map(({ id, state }) => ({ from: poolNode, to: id, state })));
    }
  }
  return drawn;
}

function applianceNode(
  index: WorldIndex,
  under: string,
  { name, properties }: BackendAddress,
  place: { network?: string },
): Node {
  const drains = /^(down|drain)$/i.test(properties.adminState ?? "");
  const via = properties.networkInterfaceIPConfiguration?.id;
  return {
    id: `${under}|${name ?? properties.ipAddress ?? via ?? ""}`,
    kind: "appliance",
    label:
      index.machineAt(properties.ipAddress, place.network) ??
      name ??
      (via ? lastSegment(via) : (properties.ipAddress ?? "")),
    under,
    ...place,
    ...(drains ? { state: "working" as const, reason: "Draining" } : { state: "ok" as const }),
    facts: { ...(properties.ipAddress && { address: properties.ipAddress }) },
  };
}
