import type { Json, JsonObject, Resource } from "../state/store.ts";
import { isObject, objects, reference } from "./fields.ts";
import { Refusal } from "./refusal.ts";
import type { Join, World } from "./resource-type.ts";

/** A reference, reduced to `{ id }` as Azure does whatever else was sent with it. */
export function link(from: JsonObject, name: string): JsonObject | undefined {
  const id = reference(from, name);
  return id === undefined ? undefined : { id };
}

/** A list of references; undefined where the list is missing or empty, as Azure shows neither. */
export function links(from: JsonObject, name: string): JsonObject[] | undefined {
  const found = objects(from, name).map((each) => ({ id: reference({ [name]: each }, name) }));
  return found.length === 0 ? undefined : found;
}

/** The ids of a stored list of references. */
export function idsIn(value: Json | undefined): string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each) => (isObject(each) && typeof each.id === "string" ? [each.id] : []));
}

/** The id of a stored reference. */
export function idIn(value: Json | undefined): string | undefined {
  return isObject(value) && typeof value.id === "string" ? value.id : undefined;
}

/** What an id in a body refers to. It must be there and be of the type. */
export function referred(world: World, id: string, type: string, by: string): Resource {
  const resource = world.store.get(id);
  if (resource?.type === type) return resource;
  throw badReference(id, by);
}

/**
 * What is not there, and what is in another region, is refused in the same words (Azure/ResourceModules#1803), also
 * where one part of a resource names another (Azure/bicep-types-az#1403).
 */
export function badReference(id: string, by: string): Refusal {
  return new Refusal(
    400,
    "InvalidResourceReference",
    `Resource ${id} referenced by resource ${by} was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.`,
  );
}

/** The ids that a body names in some fields, at any depth, with the action that each field asks for. */
export function joinsIn(body: Json | undefined, actions: Readonly<Record<string, string>>): Join[] {
  const found: Join[] = [];
  const look = (value: Json | undefined, action: string | undefined): void => {
    if (Array.isArray(value)) for (const each of value) look(each, action);
    else if (isObject(value)) {
      if (action !== undefined && typeof value.id === "string")
        found.push({ id: value.id, action });
      else for (const name in value) look(value[name], actions[name]);
    }
  };
  look(body, undefined);
  return found;
}

/** Refuse a name that the network provider refuses, in the words of rh-mobb/documentation#204. */
export function checkNetworkName(name: string, least = 1, most = 80): void {
  // Letters, digits, underscores, periods and hyphens; begins with a letter or a digit, ends with either or with an
  // underscore (https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules).
  const valid = name.length >= least && name.length <= most && /^[a-z0-9]([-\w.]*\w)?$/i.test(name);
  if (valid) return;
  throw new Refusal(
    400,
    "InvalidResourceName",
    `Resource name ${name.slice(0, 100)} is invalid. The name can be up to ${most} characters long. It must begin with a word character, and it must end with a word character or with '_'. The name may contain word characters or '.', '-', '_'.`,
  );
}
