import { createHash } from "node:crypto";
import type { ResourceType, World } from "./resource-type.ts";
import type { JsonObject, Resource } from "./store.ts";

/** A resource as its readers see it. */
export function show(
  resource: Resource,
  type: ResourceType,
  world: World,
  query: URLSearchParams,
  etag: string | undefined,
): JsonObject {
  const { id, name, top } = resource;
  const body = withEtag(type.dialect) && etag !== undefined ? { etag } : {};
  const properties = {
    ...(saysItsState(type.dialect) && { provisioningState: resource.state }),
    ...resource.properties,
    ...type.show?.(resource, world, query),
  };
  return { name, id, ...body, type: type.type, ...top, properties };
}

/** Identities and roles are there or not; they have no state in between. */
function saysItsState(dialect: ResourceType["dialect"]): boolean {
  return dialect !== "authorization" && dialect !== "identity";
}

export function withEtag(dialect: ResourceType["dialect"]): boolean {
  return dialect !== "resources" && dialect !== "authorization" && dialect !== "identity";
}

export function etagOf(resource: Resource, type: ResourceType): string {
  switch (type.dialect) {
    case "network":
      return `W/"${resource.etag}"`;
    case "compute":
      return `"${resource.version}"`;
    case "privateDns":
      // Recorded: a link has quotes in its etag, a zone has none; nor has a record set in Microsoft's examples.
      return type.type.endsWith("/virtualNetworkLinks") ? `"${resource.etag}"` : resource.etag;
    default:
      return resource.etag;
  }
}

export function bump(resource: Resource): void {
  resource.version++;
  // From the one before, which began with a guid: a resource that is made anew under the same name never has an
  // etag that its predecessor had.
  const hash = createHash("sha256").update(`${resource.etag} ${resource.version}`).digest("hex");
  resource.etag = `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

export function plainEtag(etag: string): string {
  return etag.replace(/^W\//, "").replace(/^"|"$/g, "");
}
