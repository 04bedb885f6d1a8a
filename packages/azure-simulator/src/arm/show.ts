import type { JsonObject, Resource } from "../state/store.ts";
import type { ResourceType, World } from "./resource-type.ts";

/** A resource as its readers see it. */
export function show(
  resource: Resource,
  type: ResourceType,
  world: World,
  query: URLSearchParams,
  etag: string | undefined,
): JsonObject {
  const { id, name, top } = resource;
  const properties = {
    ...(saysItsState(type.dialect) && { provisioningState: resource.state }),
    ...resource.properties,
    ...type.show?.(resource, world, query),
  };
  return { name, id, ...(etag !== undefined && { etag }), type: type.type, ...top, properties };
}

/** Identities and roles are there or not; they have no state in between. */
function saysItsState(dialect: ResourceType["dialect"]): boolean {
  return dialect !== "authorization" && dialect !== "identity";
}

/** Whether an answer is asked for in an api-version or a later one. Without a version it is the newest. */
export function since(query: URLSearchParams, apiVersion: string): boolean {
  const asked = query.get("api-version");
  return asked === null || asked >= apiVersion;
}
