import type { ArmView } from "../../azure/arm.ts";
import { privateLinkServices } from "../../azure/gateways/private-link-services.ts";
import { ownerIn } from "../../model/ownership.ts";
import { parseResourceId, type ResourceId } from "../../model/resource-id.ts";

/** The link services of the management group, listed once for all: those who look one up afterwards need no read. */
export class ServiceList {
  readonly #group: ResourceId;
  #byOwner = new Map<string, ResourceId[]>();
  #listedAt = Number.NEGATIVE_INFINITY;
  #listing: Promise<void> | undefined;

  constructor(group: ResourceId) {
    this.#group = group;
  }

  /** See to it that the list is no older. */
  async refresh(view: ArmView, maxAgeMs: number, now: number): Promise<void> {
    if (this.#listedAt > now - maxAgeMs) return;
    this.#listing ??= this.#list(view, now).finally(() => {
      this.#listing = undefined;
    });
    return this.#listing;
  }

  /** The link services that the tag of an object is on, when they were last listed. */
  ownedBy(uid: string): readonly ResourceId[] {
    return this.#byOwner.get(uid) ?? [];
  }

  async #list(view: ArmView, now: number): Promise<void> {
    const byOwner = new Map<string, ResourceId[]>();
    for (const { id, tags } of await privateLinkServices(view).list(this.#group)) {
      const uid = ownerIn(tags)?.uid;
      if (id === undefined || uid === undefined) continue;
      const parsed = parseResourceId(id, "Microsoft.Network/privateLinkServices");
      byOwner.set(uid, [...(byOwner.get(uid) ?? []), parsed]);
    }
    this.#byOwner = byOwner;
    this.#listedAt = now;
  }
}
