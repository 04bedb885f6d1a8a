import { type Address, providerType } from "./address.ts";
import { Refusal } from "./refusal.ts";
import { unsupported } from "./refusals.ts";
import { typeNamed } from "./registry.ts";
import { groupType, type ResourceType } from "./resource-type.ts";

/** Refuse a path with more in it than leads to where its type can be: a network on a network, a group inside of another. */
export function checkLevel(method: string, address: Address, type: ResourceType): void {
  const { scopeKey, scopeDepth, resourceGroup } = address;
  if (address.type === "") {
    // Reads find nothing there; a write must not take the group for what was meant.
    const reads = method === "GET" || method === "HEAD";
    if (!reads && resourceGroup !== undefined && address.key.split("/").length > 5)
      throw unsupported(method, address);
    return;
  }
  const { within } = rootOf(type);
  if (standsByItself(address, type)) throw notAtScope(address);
  if (within !== "scope" && scopeDepth === (resourceGroup === undefined ? 3 : 5)) return;
  if (within === "scope" && (scopeKey === "" || /^\/(subscriptions|providers)\//.test(scopeKey)))
    return;
  throw notAtScope(address);
}

/** Tenants, subscriptions, groups and resource providers have paths of their own, and none as resources of a provider. */
function standsByItself(address: Address, type: ResourceType): boolean {
  if (type.within === "tenant" || type.type === groupType) return true;
  if (type !== typeNamed(providerType)) return false;
  return (
    address.resourceGroup !== undefined || (address.collection && typeNamed(address.type) === type)
  );
}

function notAtScope({ type, scopeKey }: Address): Refusal {
  return new Refusal(
    404,
    "InvalidResourceType",
    `The resource type '${type}' could not be found at the scope '${scopeKey}'.`,
    { by: "gateway" },
  );
}

function rootOf(type: ResourceType): ResourceType {
  let root = type;
  while (root.within === "parent") {
    const above = typeNamed(root.type.slice(0, root.type.lastIndexOf("/")));
    if (!above) return root;
    root = above;
  }
  return root;
}
