import { isObject } from "../../arm/fields.ts";
import type { World } from "../../arm/resource-type.ts";
import type { Resource } from "../../state/store.ts";
import { followEndpoint } from "../private-dns-zone-groups/records.ts";
import { touch } from "./connection.ts";

/** An endpoint shows the state of its connection at the service, so it changes with the connection. */
export function updateEndpoint({ properties }: Resource, world: World): void {
  const { privateEndpoint } = properties;
  const id = isObject(privateEndpoint) ? privateEndpoint.id : undefined;
  const endpoint = typeof id === "string" ? world.store.get(id) : undefined;
  if (!endpoint) return;
  touch(endpoint, world.store);
  followEndpoint(endpoint, world);
}
