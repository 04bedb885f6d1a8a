import { regionName } from "@postern/core/region.ts";
import { isObject } from "../../arm/fields.ts";
import type { Resource, Store } from "../../state/store.ts";

/** The type of services, for those who must not import the type itself. */
export const serviceType = "Microsoft.Network/privateLinkServices";

const ending = ".azure.privatelinkservice";

/** Whether a text is an alias and not an id. */
export function isAlias(text: string): boolean {
  return text.toLowerCase().endsWith(ending);
}

/** The alias of a new service: never the same again, not even for the same name. */
export function makeAlias(name: string, guid: string, location: string): string {
  return `${name.toLowerCase()}.${guid}.${regionName(location)}${ending}`;
}

const indexes = new WeakMap<Store, Map<string, string>>();

/** All services, in the order in which they were made. */
export function* servicesIn(store: Store): Generator<Resource> {
  for (const key of indexOf(store).values()) {
    const service = store.get(key);
    if (service) yield service;
  }
}

/** The service that has an alias. */
export function serviceOf(alias: string, store: Store): Resource | undefined {
  const key = indexOf(store).get(alias.toLowerCase());
  return key === undefined ? undefined : store.get(key);
}

function indexOf(store: Store): ReadonlyMap<string, string> {
  const known = indexes.get(store);
  if (known) return known;
  const keys = new Map<string, string>();
  const aliases = new Map<string, string>();
  indexes.set(store, keys);
  const removed = (key: string) => {
    const alias = aliases.get(key);
    if (alias !== undefined) keys.delete(alias);
    aliases.delete(key);
  };
  store.follow({
    saved({ type, key, properties }) {
      if (type !== serviceType || typeof properties.alias !== "string") return;
      const alias = properties.alias.toLowerCase();
      // Written again, it keeps its place.
      if (aliases.get(key) === alias) return;
      removed(key);
      keys.set(alias, key);
      aliases.set(key, alias);
    },
    removed,
  });
  return keys;
}

/** Whether a subscription may see a service: its own, or one that the service lists. */
export function isVisible(service: Resource, subscription: string): boolean {
  return (
    subscriptionOf(service.key) === subscription.toLowerCase() ||
    lists(service, "visibility", subscription)
  );
}

/** Whether connections from a subscription need nobody's approval. Only those who see a service can be approved. */
export function isAutoApproved(service: Resource, subscription: string): boolean {
  return isVisible(service, subscription) && lists(service, "autoApproval", subscription);
}

/** The subscription that an id is in, in lower case. */
export function subscriptionOf(id: string): string {
  return id.split("/")[2]?.toLowerCase() ?? "";
}

function lists(
  { properties }: Resource,
  field: "visibility" | "autoApproval",
  subscription: string,
): boolean {
  const listed = properties[field];
  if (!isObject(listed) || !Array.isArray(listed.subscriptions)) return false;
  return listed.subscriptions.some(
    (each) => each === "*" || String(each).toLowerCase() === subscription.toLowerCase(),
  );
}
