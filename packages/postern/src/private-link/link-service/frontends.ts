import { formatIp, isIp, parseIp } from "@postern/core/ip.ts";
import { provisioningOf } from "@postern/core/provisioning.ts";
import { idKey, lastSegment, parseResourceId, type ResourceId } from "@postern/core/resource-id.ts";
import type { ArmClient } from "../../azure/arm.ts";
import { type LoadBalancer, loadBalancers } from "../../azure/gateways/load-balancers.ts";

/** An address of an internal load balancer, and what it takes to put a link service before it. */
export interface Frontend {
  id: string;
  name: string;
  /** The id of its load balancer, in the spelling of HyperShift's schema. */
  balancer: ResourceId;
  location: string;
  sku: string;
  /** The id of the subnet that the address is in; some have none. */
  subnet: string | undefined;
  /** The provisioning state of its load balancer, where the last write to that failed. */
  failed?: string;
  /** Whether its load balancer has members by IP address: Azure puts no link service in front of such a one. */
  isIpBased?: true;
}

/** Who finds nothing may ask for a fresher list, but not more often than this, for all together. */
export const fresherMs = 10_000;

/** The frontends of each load balancer that was listed, by address: it is read once and not for each who asks. */
const indexes = new WeakMap<LoadBalancer, Map<string, Frontend[]>>();

/**
 * The frontends of load balancers that have an address, by id: one list of each group for all who look for one. Both spellings of
 * an address of IPv6 are the same.
 */
export async function frontendsAt(
  arm: ArmClient,
  groups: readonly ResourceId[],
  address: string,
  maxAgeMs: number,
  /** Whether what is found is what was expected; otherwise a fresher list is asked for. */
  expected: (found: readonly Frontend[]) => boolean = (found) => found.length > 0,
): Promise<readonly Frontend[]> {
  const key = addressKey(address);
  const find = async (age: number) => {
    const lists = await Promise.allSettled(
      groups.map((group) => loadBalancers(arm).list(group, age)),
    );
    const balancers = lists.flatMap((list) => (list.status === "fulfilled" ? list.value : []));
    const found = balancers.flatMap((balancer) => indexOf(balancer).get(key) ?? []);
    const unread = lists.find((list) => list.status === "rejected");
    // A group that cannot be read concerns only what is in no other.
    if (unread !== undefined && !expected(found)) throw unread.reason;
    return found.sort((a, b) => (idKey(a.id) < idKey(b.id) ? -1 : 1));
  };
  const found = await find(maxAgeMs);
  return expected(found) ? found : find(Math.min(fresherMs, maxAgeMs));
}

function indexOf(balancer: LoadBalancer): Map<string, Frontend[]> {
  const known = indexes.get(balancer);
  if (known !== undefined) return known;
  const made = new Map<string, Frontend[]>();
  for (const [key, frontend] of frontendsOf(balancer)) {
    const found = made.get(key);
    if (found) found.push(frontend);
    else made.set(key, [frontend]);
  }
  indexes.set(balancer, made);
  return made;
}

/** The internal frontends of a load balancer with the keys of their addresses. */
export function frontendsOf(given: LoadBalancer): [string, Frontend][] {
  const { id, location, sku, properties } = given;
  if (id === undefined) return [];
  const failed = provisioningOf(given) === "failed" ? properties.provisioningState : undefined;
  const balancer = parseResourceId(id, "Microsoft.Network/loadBalancers");
  return (properties.frontendIPConfigurations ?? []).flatMap((each): [string, Frontend][] => {
    const address = each.properties?.privateIPAddress;
    if (each.id === undefined || address === undefined) return [];
    const frontend = {
      id: each.id,
      name: lastSegment(each.id),
      balancer,
      location: location ?? "",
      // Azure calls one without a SKU Basic.
      sku: sku?.name ?? "Basic",
      subnet: each.properties.subnet?.id,
      ...(failed !== undefined && { failed }),
      ...(isIpBased(given) && { isIpBased: true as const }),
    };
    return [[addressKey(address), frontend]];
  });
}

/** Whether a load balancer has a pool with members by IP address, as AKS creates them with `nodeIP`. */
export function isIpBased({ properties }: LoadBalancer): boolean {
  return (properties.backendAddressPools ?? []).some((pool) =>
    (pool.properties?.loadBalancerBackendAddresses ?? []).some(
      (each) =>
        each.properties?.ipAddress !== undefined &&
        each.properties.networkInterfaceIPConfiguration === undefined,
    ),
  );
}

/**
 * Whether a frontend was created for a Service. The cloud provider names it `a<uid of the Service>`, cut to 32 characters,
 * with the subnet behind it where the Service names one
 * (https://github.com/kubernetes-sigs/cloud-provider-azure, getDefaultFrontendIPConfigName). An address alone proves
 * nothing: any Service can carry any address in its status, and may even share the frontend of another.
 */
export function isFrontendOf({ name }: Pick<Frontend, "name">, serviceUid: string): boolean {
  const base = `a${serviceUid.replaceAll("-", "")}`.slice(0, 32).toLowerCase();
  const given = name.toLowerCase();
  return serviceUid !== "" && (given === base || given.startsWith(`${base}-`));
}

/** An address as it is compared: both spellings of an IPv6 address are the same. */
export function addressKey(address: string): string {
  return isIp(address) ? formatIp(parseIp(address)) : address;
}
