import type { AzureError } from "./errors.ts";
import { knownCode } from "./known-codes.ts";

/**
 * Refusals that say that something is not as it was observed. What they are about is forgotten, so that the next reconcile reads
 * it: the resource that was written, what it lies in, what lies in it, and every id in its body or in the sentence of the error.
 * `PreconditionFailed` is not here: it is about the resource alone, which every write forgets anyway.
 */
const contradictions = new Set([
  // A resource that was there is absent.
  "InvalidResourceReference",
  "NotFound",
  "ParentResourceNotFound",
  "ResourceGroupNotFound",
  "ResourceNotFound",
  "SubnetNotFound",
  "ThirdPartyPrivateLinkServiceProvidedDuringPrivateEndpointCreationDoesNotExistOrIsNotVisible",
  // One that was ready is being changed, or is not what it was.
  "NetcfgInvalidSubnet",
  "NetcfgSubnetRangesOverlap",
  "PrivateEndpointCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled",
  "PrivateLinkServiceCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled",
  "PrivateLinkServiceIsNotSupportedForLoadBalancer",
  "ReferencedResourceNotProvisioned",
  "SubnetIsFull",
  // One that nobody used is in use.
  "CannotDeleteResource",
  "InUseSubnetCannotBeDeleted",
  "PrivateLinkServiceWithPrivateEndpointConnectionsCannotBeDeleted",
]);

/** Whether a refusal of a write contradicts what was observed. A code that nobody has met may do so, and to read again is cheap. */
export function contradicts({ code, status }: Pick<AzureError, "code" | "status">): boolean {
  if (isContradiction(code)) return true;
  return knownCode(code) === undefined && [0, 400, 404, 409].includes(status);
}

/** Whether a code is known to say that something is not as it was observed. */
export function isContradiction(code: string): boolean {
  return contradictions.has(code);
}

/** The ids of resources in a body, at whatever depth. */
export function idsIn(body: unknown): string[] {
  if (typeof body === "string") return isId(body) ? [body] : [];
  if (typeof body !== "object" || body === null) return [];
  return Object.values(body).flatMap(idsIn);
}

function isId(text: string): boolean {
  return /^\/subscriptions\/[^/]+\/resourceGroups\//i.test(text);
}
