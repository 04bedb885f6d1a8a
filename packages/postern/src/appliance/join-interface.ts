import { provisioningOf } from "@postern/core/provisioning.ts";
import { sameId } from "@postern/core/resource-id.ts";
import { tagOf, withTags } from "@postern/core/tags.ts";
import type { ArmClient } from "../azure/arm.ts";
import { AzureError } from "../azure/errors.ts";
import type { Reference } from "../azure/gateway.ts";
import {
  type InterfaceIPConfiguration,
  type NetworkInterface,
  networkInterfaces,
} from "../azure/gateways/network-interfaces.ts";
import { ApplianceError } from "./errors.ts";
import { primaryConfiguration } from "./find-machine.ts";
import type { GWLBConfig } from "./gwlb-config.ts";

/** On an interface that the agent put into a pool: which one. What others put there, the agent leaves there. */
const joinedTag = "postern-agent-joined";

/**
 * Put the machine's interface into the pool; false where it names the pool already, so that only the pool need be read
 * again. `writing` is told before anything is written.
 */
export async function associate(
  arm: ArmClient,
  config: GWLBConfig,
  writing: () => void,
): Promise<boolean> {
  const nic = await readInterface(arm, config);
  if (namesPool(nic, config) && provisioningOf(nic) !== "failed") return false;
  writing();
  await write(arm, nic, withPool(nic, config));
  return true;
}

/**
 * Take the machine's interface out of the pool, if the agent put it there; `kept` where somebody else did. `gone`: the
 * interface names the pool no more, and the pool was read as it was before.
 */
export async function dissociate(
  arm: ArmClient,
  config: GWLBConfig,
): Promise<"written" | "kept" | "gone"> {
  if (config.scaleSet?.mode === "Uniform") return "kept";
  const nic = await readInterface(arm, config);
  if (!namesPool(nic, config)) return "gone";
  if (tagOf(nic.tags, joinedTag)?.toLowerCase() !== poolTagOf(config).toLowerCase()) return "kept";
  await write(arm, nic, withoutPool(nic, config));
  return "written";
}

/** The interface to write, with the pool and our mark. */
export function withPool(nic: NetworkInterface, config: GWLBConfig): NetworkInterface {
  const tags = withTags(nic.tags ?? {}, { [joinedTag]: poolTagOf(config) });
  const pool = { id: config.backendPoolResourceId };
  return {
    ...withPools(nic, (pools) => [...pools.filter((each) => !sameId(each.id, pool.id)), pool]),
    tags,
  };
}

/** The interface to write, without either. */
export function withoutPool(nic: NetworkInterface, config: GWLBConfig): NetworkInterface {
  const tags = Object.fromEntries(
    Object.entries(nic.tags ?? {}).filter(([name]) => name.toLowerCase() !== joinedTag),
  );
  const remaining = (pools: readonly Reference[]) =>
    pools.filter(({ id }) => !sameId(id, config.backendPoolResourceId));
  return { ...withPools(nic, remaining), tags };
}

/** `rg/gw/inspect`: another load balancer may have a pool of the same name, and a whole id may be too long for a tag. */
function poolTagOf({ backendPoolResourceId }: GWLBConfig): string {
  const [, , , , group, , , , balancer, , pool] = backendPoolResourceId.split("/");
  return `${group}/${balancer}/${pool}`;
}

function namesPool(nic: NetworkInterface, { backendPoolResourceId }: GWLBConfig): boolean {
  const { ipConfigurations = [] } = nic.properties;
  return ipConfigurations.some(({ properties: { loadBalancerBackendAddressPools = [] } }) =>
    loadBalancerBackendAddressPools.some(({ id }) => sameId(id, backendPoolResourceId)),
  );
}

function withPools(
  nic: NetworkInterface,
  change: (pools: readonly Reference[]) => Reference[],
): NetworkInterface {
  const primary = primaryConfiguration(nic);
  const changed = (each: InterfaceIPConfiguration): InterfaceIPConfiguration => {
    const { loadBalancerBackendAddressPools = [], ...rest } = each.properties;
    const pools = change(loadBalancerBackendAddressPools);
    return { ...each, properties: { ...rest, loadBalancerBackendAddressPools: pools } };
  };
  const { ipConfigurations = [] } = nic.properties;
  return {
    ...nic,
    properties: {
      ...nic.properties,
      ipConfigurations: ipConfigurations.map((each) => (each === primary ? changed(each) : each)),
    },
  };
}

async function readInterface(
  arm: ArmClient,
  { nicResourceId }: GWLBConfig,
): Promise<NetworkInterface> {
  const nic = await networkInterfaces(arm).get(nicResourceId);
  if (nic !== undefined) return nic;
  const what = "change the machine's interface";
  throw new ApplianceError({ code: "InterfaceNotFound", what, detail: nicResourceId });
}

async function write(
  arm: ArmClient,
  read: NetworkInterface,
  body: NetworkInterface,
): Promise<void> {
  const { etag: ifMatch, ...desired } = body;
  const what = "change the machine's interface";
  if (ifMatch === undefined) throw new AzureError({ code: "UnreadableAnswer", what });
  await networkInterfaces(arm).put(read.id ?? "", desired, { ifMatch });
}
