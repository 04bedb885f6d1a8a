import type { ArmView } from "../../azure/arm.ts";
import { type LoadBalancer, loadBalancers } from "../../azure/gateways/load-balancers.ts";
import { formatIp, isIp, parseIp } from "../../model/ip.ts";
import { idKey, lastSegment, parseResourceId, type ResourceId } from "../../model/resource-id.ts";

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
}

/** Who finds nothing may ask for a fresher list, but not more often than this, for all together. */
export const fresherMs = 10_000;

/** The frontends of all load balancers of a group by their addresses: one list for all who look for one. */
export class Frontends {
  #byAddress = new Map<string, Frontend[]>();
  #listedAt = Number.NEGATIVE_INFINITY;
  #listing: Promise<void> | undefined;

  /** The frontends that have an address, by id. Both spellings of an address of IPv6 are the same. */
  async at(
    view: ArmView,
    group: ResourceId,
    address: string,
    maxAgeMs: number,
    now: number,
    /** Whether what is found is what was expected; otherwise a fresher list is asked for. */
    expected: (found: readonly Frontend[]) => boolean = (found) => found.length > 0,
  ): Promise<readonly Frontend[]> {
    const key = addressKey(address);
    await this.#list(view, group, maxAgeMs, now);
    const found = this.#byAddress.get(key) ?? [];
    if (expected(found)) return found;
    await this.#list(view, group, fresherMs, now);
    return this.#byAddress.get(key) ?? [];
  }

  async #list(view: ArmView, group: ResourceId, maxAgeMs: number, now: number): Promise<void> {
    if (this.#listedAt > now - maxAgeMs) return;
    this.#listing ??= this.#read(view, group, now).finally(() => {
      this.#listing = undefined;
    });
    return this.#listing;
  }

  async #read(view: ArmView, group: ResourceId, now: number): Promise<void> {
    const found = await loadBalancers(view).list(group);
    const byAddress = new Map<string, Frontend[]>();
    for (const balancer of found)
      for (const [key, frontend] of frontendsOf(balancer)) {
        const there = byAddress.get(key);
        if (there) there.push(frontend);
        else byAddress.set(key, [frontend]);
      }
    for (const there of byAddress.values())
      there.sort((a, b) => (idKey(a.id) < idKey(b.id) ? -1 : 1));
    this.#byAddress = byAddress;
    this.#listedAt = now;
  }
}

/** The internal frontends of a load balancer with the keys of their addresses. */
export function frontendsOf({ id, location, sku, properties }: LoadBalancer): [string, Frontend][] {
  if (id === undefined) return [];
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
    };
    return [[addressKey(address), frontend]];
  });
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
