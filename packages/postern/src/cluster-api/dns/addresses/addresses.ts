import { isIp } from "@postern/core/ip.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { type ResourceId, resourceIn } from "@postern/core/resource-id.ts";
import type { ArmClient } from "../../../azure/arm.ts";
import { privateEndpoints } from "../../../azure/gateways/private-endpoints.ts";
import { publicIPAddresses } from "../../../azure/gateways/public-ip-addresses.ts";
import type { ZoneReads } from "../../../private-dns/zone/observe.ts";
import { reachOf } from "../../endpoint-address.ts";
import type { Addresses } from "../observed.ts";

/** What does not exist yet is read again, but not by every reconcile that something else causes. */
const missingAgeMs = 15_000;

const none: Addresses = { state: "none" };
const unknown: Addresses = { state: "unknown" };

/** Addresses that were written down; anything that is none is as good as nothing. */
export function addressesIn(...texts: (string | undefined)[]): Addresses {
  const values = texts.filter((each) => each !== undefined && isIp(each)) as string[];
  return values.length > 0 ? { state: "known", values } : unknown;
}

/** Where the API server of a cluster that is not of CAPZ is reached: nothing is looked up. */
export function hostOf({ spec }: CapiCluster): Addresses & { host?: string } {
  const { host } = spec.controlPlaneEndpoint ?? {};
  if (!host) return unknown;
  return isIp(host) ? { state: "known", values: [host] } : { ...none, host };
}

/** Where the API server of an AzureCluster is reached: at the frontend of its load balancer. */
export async function apiAddresses(
  cluster: AzureCluster,
  group: ResourceId,
  arm: ArmClient,
  reads: Pick<ZoneReads, "maxAgeMs">,
): Promise<Addresses> {
  const { apiServerLB } = cluster.spec.networkSpec ?? {};
  const { host } = cluster.spec.controlPlaneEndpoint ?? {};
  // CAPZ leaves the load balancer out where somebody else runs the control plane.
  if (!apiServerLB) return host && isIp(host) ? addressesIn(host) : none;
  const frontends = (apiServerLB.frontendIPs ?? []).filter((each) => each !== null);
  if (apiServerLB.type === "Internal")
    return addressesIn(...frontends.map(({ privateIP }) => privateIP));
  const name = frontends.find(({ publicIP }) => publicIP?.name)?.publicIP?.name;
  return name === undefined ? unknown : publicAddress(name, group, arm, reads);
}

/** Where Azure Bastion is reached, where the cluster has one. */
export async function bastionAddresses(
  cluster: AzureCluster,
  group: ResourceId,
  arm: ArmClient,
  reads: Pick<ZoneReads, "maxAgeMs">,
): Promise<Addresses> {
  const { bastionSpec } = cluster.spec as {
    bastionSpec?: { azureBastion?: { publicIP?: { name?: string } } | null } | null;
  };
  const bastion = bastionSpec?.azureBastion;
  if (!bastion) return none;
  const name = bastion.publicIP?.name || `${cluster.metadata.name}-azure-bastion-pip`;
  return publicAddress(name, group, arm, reads);
}

async function publicAddress(
  name: string,
  group: ResourceId,
  arm: ArmClient,
  { maxAgeMs }: Pick<ZoneReads, "maxAgeMs">,
): Promise<Addresses> {
  const id = resourceIn(group, "Microsoft.Network/publicIPAddresses", name);
  const gateway = publicIPAddresses(arm);
  let observation = await gateway.observe(id, maxAgeMs);
  if (
    observation.state === "absent" ||
    (observation.state === "exists" && !observation.resource.properties.ipAddress)
  )
    observation = await gateway.observe(id, Math.min(maxAgeMs, missingAgeMs));
  return observation.state === "exists"
    ? addressesIn(observation.resource.properties.ipAddress)
    : unknown;
}

/**
 * Where an endpoint is reached, by the endpoint itself: only while its connection to that link service is approved. While
 * it is being changed it is as good as it was.
 */
export async function endpointAddresses(
  id: ResourceId,
  service: ResourceId,
  arm: ArmClient,
  { maxAgeMs }: Pick<ZoneReads, "maxAgeMs">,
): Promise<Addresses> {
  const gateway = privateEndpoints(arm);
  const group = id.slice(0, id.toLowerCase().indexOf("/providers/"));
  const observation = async (ageMs: number) => {
    // One list serves all clusters of the group, and shows which endpoints do not exist.
    await gateway.list(group, ageMs);
    const found = reachOf(await gateway.observe(id, ageMs), service);
    // A list does not tell the addresses of interfaces.
    const unread = found.is === "without interface" || found.is === "without address";
    return unread ? reachOf(await gateway.observe(id, 0), service) : found;
  };
  let reach = await observation(maxAgeMs);
  if (reach.is !== "connected" && reach.is !== "changing")
    reach = await observation(Math.min(maxAgeMs, missingAgeMs));
  if (reach.is === "connected") return { state: "known", values: [reach.address] };
  return reach.is === "changing" ? unknown : none;
}
