import { lastSegment } from "@postern/core/resource-id.ts";
import type { Resource } from "../state/store.ts";
import type { Address } from "./address.ts";
import { plainEtag } from "./etags.ts";
import type { Operation } from "./operations.ts";
import { Refusal } from "./refusal.ts";
import type { ResourceType } from "./resource-type.ts";

export function etagMismatch(type: ResourceType, given: string, held: string, id: string): Refusal {
  if (type.dialect === "compute")
    return new Refusal(
      412,
      "PreconditionFailed",
      `Etag provided in if-match header "${plainEtag(given)}" does not match etag ${held} of resource.`,
      { by: "compute" },
    );
  const message = `Etag provided in if-match header W/"${plainEtag(given)}" does not match etag ${held} of resource ${id} in NRP data store.`;
  return new Refusal(412, "PreconditionFailed", "Precondition failed.", {
    details: [{ code: "PreconditionFailedEtagMismatch", message }],
  });
}

/** Recorded for a zone and a record set that changed, and for a link that exists; the others by analogy. */
export function dnsConditionFailed(why: "exists" | "differs", id: string): Refusal {
  const [, zone = "", word, name = ""] =
    /\/(?:private)?dnszones\/([^/]+)(?:\/([^/]+)\/([^/]+))?/i.exec(id) ?? [];
  const what =
    word === undefined
      ? `Zone ${zone}`
      : word.toLowerCase() === "virtualnetworklinks"
        ? `Virtual Network link ${name} for the Private DNS zone ${zone}`
        : `Record set ${name}`;
  const message =
    why === "exists"
      ? `The ${what} exists already and hence cannot be created again.`
      : `The ${what} has been modified (etag mismatch).`;
  return new Refusal(412, "PreconditionFailed", message, { by: "dns" });
}

export function anotherOperation(running: Operation, base: string): Refusal {
  const uri = `${base}/subscriptions/${running.subscription}/providers/Microsoft.Network/locations/${running.location}/operations/${running.id}`;
  return new Refusal(
    409,
    "AnotherOperationInProgress",
    `Another operation on this or dependent resource is in progress. To retrieve status of the operation use uri: ${uri}.`,
  );
}

/** The words are those of hashicorp/terraform#7986 and hashicorp/terraform-provider-azurerm#21293. */
export function notProvisioned(target: Resource, by: string): Refusal {
  const verb = target.state === "Deleting" ? "DELETE" : "PUT";
  return new Refusal(429, "RetryableError", "A retryable error occurred.", {
    details: [
      {
        code: "ReferencedResourceNotProvisioned",
        message: `Cannot proceed with operation because resource ${target.id} used by resource ${by} is not in Succeeded state. Resource is in ${target.state} state and the last operation that updated/is updating the resource is ${operationName({ verb, type: target.type })}.`,
      },
    ],
  });
}

export function superseded(earlier: Operation, later: Operation): NonNullable<Operation["error"]> {
  const name = (operation: Operation) => `${operationName(operation)} (${operation.id})`;
  return {
    code: "Canceled",
    message: "Operation was canceled.",
    details: [
      {
        code: "CanceledAndSupersededDueToAnotherOperation",
        message: `Operation ${name(earlier)} was canceled and superseded by operation ${name(later)}.`,
      },
    ],
  };
}

/** Such as `PutSubnetOperation`. */
function operationName({ verb, type }: Pick<Operation, "verb" | "type">): string {
  const word = lastSegment(type).replace(/s$/, "");
  return `${verb === "DELETE" ? "Delete" : "Put"}${word.charAt(0).toUpperCase()}${word.slice(1)}Operation`;
}

export function groupNotFound(name: string): Refusal {
  return new Refusal(404, "ResourceGroupNotFound", `Resource group '${name}' could not be found.`, {
    by: "gateway",
  });
}

/** The front door knows top-level resources and answers for them; children are the provider's. */
export function notFound(address: Address, type: ResourceType): Refusal {
  if (type.dialect === "network" && type.within === "parent")
    return new Refusal(404, "NotFound", `Resource ${address.path} not found.`);
  const [provider = "", ...words] = type.type.split("/");
  const path = [provider, ...words.flatMap((word, i) => [word, address.names[i] ?? ""])].join("/");
  return new Refusal(
    404,
    "ResourceNotFound",
    `The Resource '${path}' under resource group '${address.resourceGroup}' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix`,
    { by: "gateway" },
  );
}

/** What the front door says of a child whose parent it does not know. */
export function parentNotFound(
  parent: ResourceType,
  id: string,
  { type }: Address,
  verb: "read" | "write",
): Refusal {
  const word = lastSegment(type);
  return new Refusal(
    404,
    "ParentResourceNotFound",
    `Failed to perform '${verb}' on resource(s) of type '${parent.type.slice(parent.type.indexOf("/") + 1)}/${word}', because the parent resource '${id}' could not be found.`,
    { by: "gateway" },
  );
}

export function unsupported(method: string, address: Address): Refusal {
  const what = `${method} ${address.type || address.path}`;
  return new Refusal(
    501,
    "NotSupportedBySimulator",
    `The simulator does not do '${what}'. What it does is listed in docs/reference/simulator.md.`,
    { by: "gateway", target: address.type },
  );
}

/** The front door knows the scope, but not this method of it. */
export function methodNotAllowed(method: string, address: Address): Refusal {
  return new Refusal(
    405,
    "MethodNotAllowed",
    `The HTTP method '${method}' is not supported at scope '${address.path}'.`,
    { by: "gateway" },
  );
}

/** Why a group could not be deleted; it is rolled back then. */
export function deletionBlocked(
  group: Resource,
  held: readonly Resource[],
): NonNullable<Operation["error"]> {
  const within = group.key.length + "/providers/".length;
  const names = held.map(({ id }) => id.slice(within)).join(",");
  return {
    code: "ResourceGroupDeletionBlocked",
    message: `Deletion of resource group '${group.name}' failed as resources with identifiers '${names}' could not be deleted. The provisioning state of the resource group will be rolled back.`,
    details: [],
  };
}
