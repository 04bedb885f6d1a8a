import { Refusal } from "../../arm/refusal.ts";
import type { Listed, Principal, World } from "../../arm/resource-type.ts";
import type { JsonObject, Resource } from "../../state/store.ts";

/** The resources of a group that the asker may read, without their properties, as a `$filter` selects them. */
export function resourcesIn(
  group: string,
  asker: Principal,
  query: URLSearchParams,
  world: World,
): Listed[] {
  const selects = filterOf(query.get("$filter"));
  const found: Listed[] = [];
  for (const resource of world.store.within(group))
    if (isTopLevel(resource) && selects(resource) && readable(resource, asker, world))
      found.push({ shown: shown(resource) });
  return found;
}

function isTopLevel({ type, key }: Resource): boolean {
  return type.split("/").length === 2 && key.split("/").length === 9 && !hidden.has(type);
}

/** Deployments and assignments of roles are not in these lists. */
const hidden = new Set([
  "Microsoft.Resources/deployments",
  "Microsoft.Authorization/roleAssignments",
  "Microsoft.Authorization/roleDefinitions",
]);

function readable({ type, key }: Resource, asker: Principal, world: World): boolean {
  return world.allowed(asker, `${type}/read`, key);
}

function shown({ id, name, type, top }: Resource): JsonObject {
  return { id, name, type, ...top };
}

const fields: Readonly<Record<string, (resource: Resource) => unknown[]>> = {
  resourcegroup: ({ id }) => [id.split("/")[4]],
  name: ({ name }) => [name],
  resourcetype: ({ type }) => [type],
  location: ({ top }) => [top.location],
  tagname: ({ top }) => Object.keys((top.tags ?? {}) as JsonObject),
  tagvalue: ({ top }) => Object.values((top.tags ?? {}) as JsonObject),
};

/** Reads a filter: comparisons by `eq` that all must hold. */
function filterOf(text: string | null): (resource: Resource) => boolean {
  if (text === null || text.trim() === "") return () => true;
  const tests = text.split(/\s+and\s+/i).map((part) => {
    const [, name = "", wanted = ""] = /^\s*(\w+)\s+eq\s+'((?:[^']|'')*)'\s*$/i.exec(part) ?? [];
    const field = fields[name.toLowerCase()];
    if (field === undefined)
      throw new Refusal(
        400,
        "InvalidFilterInQueryString",
        `Invalid $filter '${text.slice(0, 200)}' specified in the query string.`,
        { by: "gateway" },
      );
    const value = wanted.replaceAll("''", "'").toLowerCase();
    return (resource: Resource) =>
      field(resource).some((each) => String(each ?? "").toLowerCase() === value);
  });
  return (resource) => tests.every((test) => test(resource));
}
