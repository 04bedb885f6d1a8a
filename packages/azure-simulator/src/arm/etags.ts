import { guidFrom } from "../state/guid.ts";
import type { Resource } from "../state/store.ts";
import type { ResourceType } from "./resource-type.ts";

/** The etag of a resource as its provider writes it; some providers have none. */
export function etagOf(resource: Resource, type: ResourceType): string | undefined {
  switch (type.dialect) {
    case "resources":
    case "deployments":
    case "storage":
    case "authorization":
    case "identity":
      return undefined;
    case "network":
      return `W/"${resource.etag}"`;
    case "compute":
      return `"${resource.version}"`;
    case "privateDns":
      // Recorded: a link has quotes in its etag, a zone has none; nor has a record set in Microsoft's examples.
      return type.type.endsWith("/virtualNetworkLinks") ? `"${resource.etag}"` : resource.etag;
    case "publicDns":
      return resource.etag;
  }
}

/** Count a write to a resource, and give it another etag. */
export function bump(resource: Resource): void {
  resource.version++;
  // From the one before, which began with a guid: a resource that is made anew under the same name never has an
  // etag that its predecessor had.
  resource.etag = guidFrom(`${resource.etag} ${resource.version}`);
}

/** An etag without what is around it, to be compared. */
export function plainEtag(etag: string): string {
  return etag.replace(/^W\//, "").replace(/^"|"$/g, "");
}
