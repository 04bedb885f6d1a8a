import type { Principal } from "./resource-type.ts";
import type { Store } from "./store.ts";

/** Who may do what, where. */
export class Roles {
  readonly #owners = new Set<string>();

  constructor(options: { store: Store }) {
    void options.store;
  }

  /** Let someone do everything everywhere. */
  makeOwner(principal: Principal): void {
    this.#owners.add(principal.objectId);
  }

  allow(asker: Principal, _action: string, _scopeKey: string): boolean {
    return this.#owners.has(asker.objectId);
  }
}
