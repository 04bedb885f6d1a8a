import { lastSegment } from "@postern/core/resource-id.ts";
import { collectionOf } from "../state/store.ts";
import { type Address, readAddress } from "./address.ts";
import { typeNamed } from "./registry.ts";
import { groupType, type ResourceType } from "./resource-type.ts";

/** What a request is about, found before anything is done: for the log, the throttle and the faults. */
export interface Routed {
  address: Address;
  type: ResourceType | undefined;
  /** The action in the terms of roles, such as `Microsoft.Network/virtualNetworks/read`. */
  action: string;
  /** For the address of an operation: its guid, and whether what it came to is asked for and not how far it is. */
  poll: { operation: string; results: boolean } | undefined;
}

const most = 4096;
const longest = 400;

/** What requests are about. Clients ask for the same again and again, so what was found is remembered. */
export class Routes {
  readonly #found = new Map<string, Map<string, Routed>>();

  find(method: string, path: string): Routed {
    const known = this.#found.get(method)?.get(path);
    if (known) return known;
    const routed = findRoute(method, path);
    if (path.length >= longest) return routed;
    const found = this.#found.get(method) ?? new Map<string, Routed>();
    if (found.size >= most) found.clear();
    this.#found.set(method, found.set(path, routed));
    return routed;
  }
}

function findRoute(method: string, path: string): Routed {
  const address = readAddress(path);
  const named = wholeType(address);
  const exact = typeNamed(named);
  // `…/virtualNetworks/v/subnets` is a collection of subnets; `…/privateLinkServices/p/check` an action on p.
  const type = exact ?? (address.collection ? typeNamed(collectionOf(named)) : undefined);
  // To list the records of all types, `…/privateDnsZones/z/ALL`, is a right of its own.
  const acted = exact || method !== "GET" ? (type?.roleType ?? type?.type ?? named) : named;
  return {
    address,
    type,
    action: `${acted}/${verbOf(method, address, exact)}`,
    poll: method === "GET" ? pollAt(address.key) : undefined,
  };
}

function pollAt(key: string): Routed["poll"] {
  const match =
    /\/(operations|operationresults|operationstatuses|(?:private)?dnsoperation(?:statuses|results))\/([^/]+)$/.exec(
      key,
    );
  const [, word, operation] = match ?? [];
  if (word === undefined || operation === undefined) return undefined;
  return { operation, results: word.endsWith("results") };
}

/** The type that an address names, with the type of groups and subscriptions, which stands in no path. */
export function wholeType(address: Address): string {
  if (address.type !== "") return address.type;
  const segments = address.key.split("/");
  const isGroup = segments[3] === "resourcegroups";
  const type = isGroup ? groupType : `Microsoft.Resources/${segments[1] ?? ""}`;
  const beyond = segments.slice(isGroup ? 5 : 3);
  return beyond.length === 0 ? type : [type, ...beyond.filter((_, i) => i % 2 === 0)].join("/");
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
