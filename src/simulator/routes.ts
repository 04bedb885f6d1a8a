import { lastSegment } from "../model/resource-id.ts";
import { type Address, readAddress } from "./address.ts";
import { typeNamed } from "./registry.ts";
import { groupType, type ResourceType } from "./resource-type.ts";
import { collectionOf } from "./store.ts";

/** What a request is about, found before anything is done: for the log, the throttle and the faults. */
export interface Routed {
  address: Address;
  type: ResourceType | undefined;
  /** The action in the terms of roles, such as `Microsoft.Network/virtualNetworks/read`. */
  action: string;
}

const most = 4096;
const longest = 400;

/** What requests are about. Clients ask for the same again and again, so what was found is remembered. */
export class Routes {
  readonly #found = new Map<string, Routed>();

  find(method: string, path: string): Routed {
    const asked = `${method} ${path}`;
    const known = this.#found.get(asked);
    if (known) return known;
    const routed = findRoute(method, path);
    if (this.#found.size >= most) this.#found.clear();
    if (path.length < longest) this.#found.set(asked, routed);
    return routed;
  }
}

function findRoute(method: string, path: string): Routed {
  const address = readAddress(path);
  const named = wholeType(address);
  const exact = typeNamed(named);
  // `…/virtualNetworks/v/subnets` is a collection of subnets; `…/privateLinkServices/p/check` an action on p.
  const type = exact ?? (address.collection ? typeNamed(collectionOf(named)) : undefined);
  return {
    address,
    type,
    action: `${type?.roleType ?? type?.type ?? named}/${verbOf(method, address, exact)}`,
  };
}

/** The type that an address names, with the type of groups and subscriptions, which stands in no path. */
export function wholeType(address: Address): string {
  if (address.type !== "") return address.type;
  if (/\/resourcegroups(\/|$)/.test(address.key)) return groupType;
  return `Microsoft.Resources/${address.key.split("/")[1] ?? ""}`;
}

function verbOf(method: string, address: Address, exact: ResourceType | undefined): string {
  switch (method) {
    case "GET":
    case "HEAD":
      return "read";
    case "DELETE":
      return "delete";
    case "POST":
      return exact ? "write" : `${lastSegment(address.type)}/action`;
    default:
      return "write";
  }
}
