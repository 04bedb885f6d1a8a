/** What a resource's state says: it is as it was last written, a write or deletion is running, or the last write failed. */
export type Provisioning = "succeeded" | "changing" | "failed";

/** Classify a `provisioningState`, or the `status` of an operation. A resource without one does not change asynchronously. */
export function provisioning(state: string | undefined): Provisioning {
  switch (state?.toLowerCase()) {
    case undefined:
    case "":
    case "succeeded":
      return "succeeded";
    case "failed":
    case "canceled":
    case "cancelled":
      return "failed";
    default:
      return "changing";
  }
}

/** The `provisioningState` in the body of a resource. */
export function provisioningStateIn(resource: unknown): string | undefined {
  return textAt(resource, "provisioningState");
}

/** Classify a resource by its body. */
export function provisioningOf(resource: unknown): Provisioning {
  return provisioning(provisioningStateIn(resource));
}

/**
 * Classify a virtual network link. The network resolves names of the zone only after the link is `Completed`, and Azure reports
 * that beside the provisioning state (https://learn.microsoft.com/rest/api/dns/privatednszones/virtual-network-links).
 */
export function linkProvisioningOf(link: unknown): Provisioning {
  const state = provisioningOf(link);
  if (state !== "succeeded") return state;
  return textAt(link, "virtualNetworkLinkState")?.toLowerCase() === "inprogress"
    ? "changing"
    : "succeeded";
}

function textAt(resource: unknown, name: string): string | undefined {
  const value = valueAt(valueAt(resource, "properties"), name);
  return typeof value === "string" ? value : undefined;
}

function valueAt(body: unknown, name: string): unknown {
  return typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined;
}
