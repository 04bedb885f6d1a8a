import { ownerIn } from "@postern/core/ownership.ts";
import { idKey, nameOf, parseResourceId, type ResourceId } from "@postern/core/resource-id.ts";
import type { ArmClient } from "../../../azure/arm.ts";
import { privateLinkServices } from "../../../azure/gateways/private-link-services.ts";
import { balancerOf, mostOnBalancer } from "../../../private-link/link-service/balancer.ts";

/** For so long one that was just created may be missing in a list. */
const createdMs = 2 * 60_000;

/** The link services of the management group, listed once for all: those who look one up afterwards need no read. */
export class ServiceList {
  readonly #group: ResourceId;
  #byOwner = new Map<string, ResourceId[]>();
  #owners = new Map<string, string>();
  /** By load balancer: the link services in front of it. */
  #byBalancer = new Map<string, Set<string>>();
  readonly #created = new Map<string, { balancer: string; at: number }>();
  #listedAt = Number.NEGATIVE_INFINITY;
  #listing: Promise<void> | undefined;

  constructor(group: ResourceId) {
    this.#group = group;
  }

  /** List them again where the last list is older. */
  async refresh(arm: ArmClient, maxAgeMs: number, now: number): Promise<void> {
    if (this.#listedAt > now - maxAgeMs) return;
    // Until a list succeeds, an older one does not count as recent.
    this.#listedAt = Number.NEGATIVE_INFINITY;
    this.#listing ??= this.#list(arm, now).finally(() => {
      this.#listing = undefined;
    });
    return this.#listing;
  }

  /** The link services that the tag of an object is on, when they were last listed. */
  ownedBy(uid: string): readonly ResourceId[] {
    return this.#byOwner.get(uid) ?? [];
  }

  /** The uid in the owner tag of a link service, by its name in lower case. */
  ownerOf(name: string): string | undefined {
    return this.#owners.get(name);
  }

  /** Whether a load balancer has as many link services as Azure allows, without this one. */
  isFull(balancer: string, service: ResourceId, now: number): boolean {
    const key = idKey(balancer);
    const others = new Set(this.#byBalancer.get(key));
    for (const [id, created] of this.#created)
      if (created.at <= now - createdMs) this.#created.delete(id);
      else if (created.balancer === key) others.add(id);
    others.delete(idKey(service));
    return others.size >= mostOnBalancer;
  }

  /** Before a link service is created: whether its load balancer takes it. Two that come at once do not both take the last place. */
  tryCreate(balancer: string, service: ResourceId, now: number): boolean {
    if (this.isFull(balancer, service, now)) return false;
    this.#created.set(idKey(service), { balancer: idKey(balancer), at: now });
    return true;
  }

  async #list(arm: ArmClient, now: number): Promise<void> {
    const byOwner = new Map<string, ResourceId[]>();
    const owners = new Map<string, string>();
    const byBalancer = new Map<string, Set<string>>();
    for (const { id, tags, properties } of await privateLinkServices(arm).list(this.#group)) {
      const balancer = balancerOf(properties);
      if (id !== undefined && balancer !== undefined)
        byBalancer.set(balancer, (byBalancer.get(balancer) ?? new Set()).add(idKey(id)));
      const uid = ownerIn(tags)?.uid;
      if (id === undefined || uid === undefined) continue;
      const parsed = parseResourceId(id, "Microsoft.Network/privateLinkServices");
      owners.set(nameOf(parsed).toLowerCase(), uid);
      const owned = byOwner.get(uid);
      if (owned) owned.push(parsed);
      else byOwner.set(uid, [parsed]);
    }
    this.#byOwner = byOwner;
    this.#owners = owners;
    this.#byBalancer = byBalancer;
    this.#listedAt = now;
  }
}
