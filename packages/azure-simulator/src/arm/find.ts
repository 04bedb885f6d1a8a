import { collectionOf, parentOf, type Resource, type Store } from "../state/store.ts";
import type { Address } from "./address.ts";
import { groupNotFound, notFound, parentNotFound } from "./refusals.ts";
import { typeNamed } from "./registry.ts";
import { groupType, type ResourceType } from "./resource-type.ts";

/** The resource at an address; one that is not there is refused in the words of its type. */
export function find(store: Store, address: Address, type: ResourceType): Resource {
  const resource = store.get(address.key);
  if (resource) return resource;
  if (type.within === "parent") findParent(store, address, type);
  if (type.type === groupType) throw groupNotFound(address.resourceGroup ?? "");
  throw type.missing?.(address) ?? notFound(address, type);
}

/** What the child or the collection at an address is in. */
export function findParent(
  store: Store,
  address: Address,
  type: ResourceType,
  verb: "read" | "write" = "read",
): Resource {
  const key = address.collection ? collectionOf(address.key) : parentOf(address.key);
  const parent = store.get(key);
  if (parent) return parent;
  const above = typeNamed(collectionOf(type.type));
  const path = address.path.split("/").slice(0, key.split("/").length).join("/");
  // The front door lets nobody write into what is not there; DNS says so of reads too.
  if (verb === "write" || type.dialect === "privateDns" || type.dialect === "publicDns")
    throw parentNotFound(above ?? type, path, address, verb);
  throw notFound(
    { ...address, path, names: address.names.slice(0, address.collection ? undefined : -1) },
    above ?? type,
  );
}

/** The address of what an action, a view or a further list is of: the path without its last word. */
export function ownerOf(address: Address): Address {
  const path = collectionOf(address.path);
  return { ...address, key: path.toLowerCase(), path, collection: false };
}
