import { regionName } from "@postern/core/region.ts";
import { lastSegment } from "@postern/core/resource-id.ts";
import type { Json, JsonObject, Resource } from "../state/store.ts";
import { isLocation, locationNames } from "../types/subscriptions/locations.ts";
import { Refusal } from "./refusal.ts";
import { type Accepted, groupType, type ResourceType, type World } from "./resource-type.ts";

export function checkApiVersion(query: URLSearchParams): string {
  const given = query.get("api-version");
  if (!given)
    throw new Refusal(
      400,
      "MissingApiVersionParameter",
      "The api-version query parameter (?api-version=) is required for all requests.",
      { by: "gateway" },
    );
  if (/^\d{4}-\d{2}-\d{2}(-[a-z]+)?$/i.test(given)) return given;
  throw new Refusal(
    400,
    "InvalidApiVersionParameter",
    `The api-version '${given.slice(0, 40)}' is invalid. The supported versions are of the form yyyy-mm-dd.`,
    { by: "gateway" },
  );
}

export function checkPlace(
  body: JsonObject,
  existing: Resource | undefined,
  type: ResourceType,
): void {
  const location = body.location;
  if (location !== undefined && typeof location !== "string")
    throw new Refusal(
      400,
      "InvalidRequestContent",
      "The request content was invalid and could not be deserialized: 'location' must be a string.",
      { by: "gateway" },
    );
  const held = existing?.top.location;
  if (
    typeof location === "string" &&
    typeof held === "string" &&
    regionName(location) !== regionName(held)
  )
    throw new Refusal(
      409,
      "InvalidResourceLocation",
      `The resource '${existing?.name}' already exists in location '${held}' in resource group. A resource with the same name cannot be created in location '${location}'. Please select a new resource name.`,
      { by: "gateway" },
    );
  if (typeof location === "string" && existing === undefined) checkLocation(location, type);
  const tags = body.tags;
  if (tags !== undefined && tags !== null && (typeof tags !== "object" || Array.isArray(tags)))
    throw new Refusal(
      400,
      "InvalidRequestContent",
      "The request content was invalid and could not be deserialized: 'tags' must be an object.",
      { by: "gateway" },
    );
  const isPlaced = type.within === "resourceGroup" && type.dialect !== "deployments";
  if (isPlaced && existing === undefined && location === undefined)
    throw new Refusal(
      400,
      "LocationRequired",
      "The location property is required for this definition.",
      { by: "gateway" },
    );
}

/** Zones are everywhere, and say themselves where they are not. */
function checkLocation(location: string, { type, dialect, within }: ResourceType): void {
  if (dialect === "privateDns" || dialect === "publicDns" || dialect === "deployments") return;
  if (isLocation(location) || (within !== "resourceGroup" && type !== groupType)) return;
  const listed = `List of available regions${type === groupType ? "" : " for the resource type"} is '${locationNames()}'.`;
  if (type === groupType)
    throw new Refusal(
      400,
      "LocationNotAvailableForResourceGroup",
      `The provided location '${location.slice(0, 60)}' is not available for resource group. ${listed}`,
      { by: "gateway" },
    );
  throw new Refusal(
    400,
    "LocationNotAvailableForResourceType",
    `The provided location '${location.slice(0, 60)}' is not available for resource type '${type}'. ${listed}`,
    { by: "gateway" },
  );
}

export function objectBody(body: Json | undefined): JsonObject {
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body;
  throw new Refusal(
    400,
    "InvalidRequestContent",
    "The request content was invalid and could not be deserialized: a JSON object is required.",
    { by: "gateway" },
  );
}

export function objectIn(body: JsonObject, name: string): JsonObject {
  const value = body[name];
  if (value === undefined || value === null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value;
  throw new Refusal(400, "InvalidRequestFormat", "Cannot parse the request.", {
    details: [{ code: "InvalidJson", message: `'${name}' must be an object.` }],
  });
}

export function differs(existing: Resource, accepted: Accepted, world: World): boolean {
  if (existing.state !== "Succeeded") return true;
  if (
    JSON.stringify([existing.top, existing.properties]) !==
    JSON.stringify([accepted.top ?? {}, accepted.properties])
  )
    return true;
  return Object.entries(accepted.children ?? {}).some(([type, wanted]) => {
    const collection = `${existing.key}/${lastSegment(type)}`.toLowerCase();
    if (world.store.count(collection) !== wanted.length) return true;
    return wanted.some(({ name, top = {}, properties }) => {
      const child = world.store.get(`${collection}/${name}`);
      return (
        !child ||
        JSON.stringify([child.top, child.properties]) !== JSON.stringify([top, properties])
      );
    });
  });
}

const topFields = new Set(
  "id name type location tags plan sku kind managedBy properties zones identity extendedLocation etag systemData apiVersion"
    .toLowerCase()
    .split(" "),
);

/** The front door knows the fields around `properties`, and refuses others. Compute has fields of its own there. */
export function checkTopFields(body: JsonObject, { dialect, within }: ResourceType): void {
  if (dialect !== "network" || within !== "resourceGroup") return;
  const unknown = Object.keys(body).find((name) => !topFields.has(name.toLowerCase()));
  if (unknown === undefined) return;
  throw new Refusal(
    400,
    "InvalidRequestContent",
    `The request content was invalid and could not be deserialized: 'Could not find member '${unknown.slice(0, 60)}' on object of type 'ResourceDefinition'. Path '${unknown.slice(0, 60)}'.'.`,
    { by: "gateway" },
  );
}
