import { formatIp, isIp, parseIp } from "@postern/core/ip.ts";
import { sameId } from "@postern/core/resource-id.ts";
import type { BackendAddress, BackendPool } from "../azure/gateways/backend-pools.ts";
import type { GWLBConfig } from "./gwlb-config.ts";

/** Who looks into a pool: one machine, by its address and by its interface. */
export type Self = Pick<GWLBConfig, "vmId" | "privateIP" | "vnetResourceId" | "nicResourceId">;

/** How a machine is in a pool. */
export interface Membership {
  by: "address" | "interface";
  /** Who made an entry by address, as its name tells. */
  madeBy?: "this agent" | "another agent" | "somebody else";
  /** It takes no new connections. */
  drained: boolean;
}

/** Whoever made an entry; of two for one address the first of these counts. */
const makers = ["this agent", "somebody else", "another agent"] as const;

/** The name of the entry that the agent of a machine makes: it stays, whatever address the machine gets. */
export function entryName({ vmId }: Pick<Self, "vmId">): string {
  return `postern-${vmId.toLowerCase()}`;
}

/** How a machine is in a pool; undefined where it is not. */
export function membershipIn(pool: BackendPool, self: Self): Membership | undefined {
  const entries = entriesOf(pool);
  const addressed = entries.filter((each) => isAddressOf(each, self, pool));
  for (const madeBy of makers) {
    const entry = addressed.find((each) => makerOf(each, self) === madeBy);
    if (entry !== undefined) return { by: "address", madeBy, drained: isDown(entry) };
  }
  const ofInterface = entries.find((each) => isInterfaceOf(each, self));
  if (ofInterface !== undefined) return { by: "interface", drained: isDown(ofInterface) };
  const { backendIPConfigurations = [] } = pool.properties;
  return backendIPConfigurations.some(({ id }) => lies(id, self))
    ? { by: "interface", drained: false }
    : undefined;
}

/** Whether a pool has an entry that is the agent's of a machine, for whatever address. */
export function hasOwnIn(pool: BackendPool, self: Self): boolean {
  return entriesOf(pool).some((each) => isOwn(each, self, pool));
}

/** What kind of members a pool has. Azure never mixes them. */
export function memberKindOf(pool: BackendPool): "addresses" | "interfaces" | "nothing" {
  const entries = entriesOf(pool);
  // Azure also tells the interface of a member by address.
  if (entries.some(({ properties }) => properties.ipAddress !== undefined)) return "addresses";
  const { backendIPConfigurations = [] } = pool.properties;
  return entries.length + backendIPConfigurations.length > 0 ? "interfaces" : "nothing";
}

/** How many members a pool has. */
export function sizeOf(pool: BackendPool): number {
  return Math.max(entriesOf(pool).length, (pool.properties.backendIPConfigurations ?? []).length);
}

/** A pool to write in which the machine is a member by its address; everybody else's entry is as it was. */
export function withMember(pool: BackendPool, self: Self): BackendPool {
  const own: BackendAddress = {
    name: entryName(self),
    properties: { ipAddress: self.privateIP, virtualNetwork: { id: self.vnetResourceId } },
  };
  return toWrite(pool, [...otherMembers(pool, self), own]);
}

/** A pool to write without what the machine's agent made; everybody else's entry is as it was. */
export function withoutMember(pool: BackendPool, self: Self): BackendPool {
  return toWrite(pool, otherMembers(pool, self));
}

/** A pool to write in which the entry that the machine's agent made has another admin state. */
export function withAdminState(pool: BackendPool, self: Self, state: "Down" | "None"): BackendPool {
  return toWrite(
    pool,
    entriesOf(pool).map((each) =>
      makerOf(each, self) === "this agent"
        ? { ...each, properties: { ...each.properties, adminState: state } }
        : each,
    ),
  );
}

/** The same pool, to be written once more. */
export function asItIs(pool: BackendPool): BackendPool {
  return toWrite(pool, entriesOf(pool));
}

/** What only Azure fills in: sent back, it would be taken for something that is wanted. */
const filledIn = new Set([
  "provisioningState",
  "backendIPConfigurations",
  "loadBalancingRules",
  "inboundNatRules",
  "outboundRule",
  "outboundRules",
]);

function toWrite(pool: BackendPool, entries: readonly BackendAddress[]): BackendPool {
  const copied = Object.entries(pool.properties).filter(([name]) => !filledIn.has(name));
  return {
    ...(pool.name !== undefined && { name: pool.name }),
    properties: {
      ...Object.fromEntries(copied),
      loadBalancerBackendAddresses: entries.map(entryToWrite),
    },
  };
}

function entryToWrite({ name, properties }: BackendAddress): BackendAddress {
  const { networkInterfaceIPConfiguration, ...rest } = properties;
  const byInterface = rest.ipAddress === undefined && networkInterfaceIPConfiguration;
  return {
    ...(name !== undefined && { name }),
    properties: byInterface ? { ...rest, networkInterfaceIPConfiguration } : rest,
  };
}

function entriesOf(pool: BackendPool): readonly BackendAddress[] {
  return pool.properties.loadBalancerBackendAddresses ?? [];
}

function otherMembers(pool: BackendPool, self: Self): BackendAddress[] {
  return entriesOf(pool).filter((each) => !isOwn(each, self, pool));
}

/** An address is one machine's: what another agent wrote for it is of a machine that had it before. */
function isOwn(entry: BackendAddress, self: Self, pool: BackendPool): boolean {
  const maker = makerOf(entry, self);
  if (maker === "another agent") return isAddressOf(entry, self, pool);
  return maker === "this agent";
}

/** The agent of every machine names its entry by the machine's id, which is no other machine's. */
function makerOf({ name = "" }: BackendAddress, self: Self): NonNullable<Membership["madeBy"]> {
  if (name.toLowerCase() === entryName(self)) return "this agent";
  return /^postern-[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(name)
    ? "another agent"
    : "somebody else";
}

/** The same address in another network is another machine. */
function isAddressOf({ properties }: BackendAddress, self: Self, pool: BackendPool): boolean {
  const { ipAddress, virtualNetwork, subnet } = properties;
  if (ipAddress === undefined || !sameAddress(ipAddress, self.privateIP)) return false;
  const network =
    virtualNetwork?.id ??
    subnet?.id.replace(/\/subnets\/[^/]+$/i, "") ??
    pool.properties.virtualNetwork?.id;
  return network === undefined || sameId(network, self.vnetResourceId);
}

function isInterfaceOf({ properties }: BackendAddress, self: Self): boolean {
  const { ipAddress, networkInterfaceIPConfiguration: configuration } = properties;
  return ipAddress === undefined && configuration !== undefined && lies(configuration.id, self);
}

function lies(configurationId: string, { nicResourceId }: Self): boolean {
  return configurationId.toLowerCase().startsWith(`${nicResourceId.toLowerCase()}/`);
}

function isDown({ properties }: BackendAddress): boolean {
  return properties.adminState === "Down";
}

function sameAddress(a: string, b: string): boolean {
  // Only an address of IPv6 can be written in two ways.
  return a === b || (a.includes(":") && isIp(a) && isIp(b) && plain(a) === plain(b));
}

function plain(address: string): string {
  return formatIp(parseIp(address));
}
