import { ownerIn } from "@postern/core/ownership.ts";
import { nameOf, parseResourceId, type ResourceId } from "@postern/core/resource-id.ts";
import type { ArmClient } from "../../../azure/arm.ts";
import { privateLinkServices } from "../../../azure/gateways/private-link-services.ts";

/** The link services of the management group, listed once for all: those who look one up afterwards need no read. */
export class ServiceList {
  readonly #group: ResourceId;
  #byOwner = new Map<string, ResourceId[]>();
  #owners = new Map<string, string>();
  #listedAt = Number.NEGATIVE_INFINITY;
  #listing: Promise<void> | undefined;

  constructor(group: ResourceId) {
    this.#group = group;
  }

  /** List them again where the last list is older. */
  async refresh(arm: ArmClient, maxAgeMs: number, now: number): Promise<void> {
    if (this.#listedAt > now - maxAgeMs) return;
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

  async #list(arm: ArmClient, now: number): Promise<void> {
    const byOwner = new Map<string, ResourceId[]>();
    const owners = new Map<string, string>();
    for (const { id, tags } of await privateLinkServices(arm).list(this.#group)) {
      const uid = ownerIn(tags)?.uid;
      if (id === undefined || uid === undefined) continue;
      const parsed = parseResourceId(id, "Microsoft.Network/privateLinkServices");
      owners.set(nameOf(parsed).toLowerCase(), uid);
      byOwner.set(uid, [...(byOwner.get(uid) ?? []), parsed]);
    }
    this.#byOwner = byOwner;
    this.#owners = owners;
    this.#listedAt = now;
  }
}
