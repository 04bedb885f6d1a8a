import { lastSegment } from "@postern/core/resource-id.ts";
import { oneOf, text } from "../../arm/fields.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { Listing, ResourceType, Writing } from "../../arm/resource-type.ts";
import { isWithin } from "../../arm/roles.ts";
import { isGuid } from "../../state/guid.ts";
import type { Resource } from "../../state/store.ts";
import { times } from "../role-definitions/index.ts";

/** Who has which role where. An assignment is put on the id of what it is for. */
export const roleAssignments: ResourceType = {
  type: "Microsoft.Authorization/roleAssignments",
  dialect: "authorization",
  within: "scope",
  put: "sync",
  delete: "sync",
  showsDeleted: true,
  accept(writing) {
    const { name, properties, world, existing, address } = writing;
    if (!isGuid(name))
      throw new Refusal(
        400,
        "InvalidRoleAssignmentId",
        `The role assignment ID '${name}' is not valid. The role assignment ID must be a GUID.`,
      );
    const roleDefinitionId = text(properties, "roleDefinitionId", "");
    const principalId = text(properties, "principalId", "");
    const guid = lastSegment(roleDefinitionId);
    if (!isGuid(principalId))
      throw new Refusal(400, "InvalidPrincipalId", "A valid principal ID must be provided.");
    if (!world.roles.definition(guid))
      throw new Refusal(
        400,
        "RoleDefinitionDoesNotExist",
        `The specified role definition with ID '${guid}' does not exist.`,
      );
    const principalType = kindOf(writing, principalId);
    checkConflict(writing, { scope: address.scopeKey, principalId, role: guid });
    return {
      properties: {
        roleDefinitionId,
        principalId,
        principalType,
        scope: existing?.properties.scope ?? scopeOf(writing.id),
        condition: null,
        conditionVersion: null,
        ...times(writing),
        delegatedManagedIdentityResourceId: null,
        description: text(properties, "description", undefined) ?? null,
      },
    };
  },
  afterWrite(resource, _before, world) {
    world.roles.put(resource);
  },
  afterDelete(resource, world) {
    world.roles.drop(resource);
  },
  list: listed,
  missing({ names }) {
    return new Refusal(
      404,
      "RoleAssignmentNotFound",
      `The role assignment '${names.at(-1)}' is not found.`,
    );
  },
  differences: [
    "Conditions and groups are ignored.",
    "An assignment takes effect immediately; Azure takes up to ten minutes.",
  ],
};

/** A principal that nobody knows is refused, unless its kind is given: that is how Azure is told to wait for it. */
function kindOf({ properties, world, asker }: Writing, principalId: string): string {
  const given = oneOf(
    properties,
    "principalType",
    ["User", "Group", "ServicePrincipal", "ForeignGroup", "Device"],
    undefined,
  );
  const known = world.directory.find(principalId);
  if (!known && given === undefined)
    throw new Refusal(
      400,
      "PrincipalNotFound",
      `Principal ${principalId.replaceAll("-", "")} does not exist in the directory ${asker.tenant}. Check that you have the correct principal ID. If you are creating this principal and then immediately assigning a role, this error might be related to a replication delay. In this case, set the role assignment principalType property to a value, such as ServicePrincipal, User, or Group.  See https://aka.ms/docs-principaltype`,
    );
  if (known && given !== undefined && given !== "ServicePrincipal")
    throw new Refusal(
      400,
      "UnmatchedPrincipalType",
      `The PrincipalId '${principalId.replaceAll("-", "")}' has type 'ServicePrincipal' , which is different from specified PrincipalType '${given}'.`,
    );
  return given ?? "ServicePrincipal";
}

function checkConflict(
  { existing, world }: Writing,
  wanted: { scope: string; principalId: string; role: string },
): void {
  const same = (other: { principalId: string; role: string; scope: string }) =>
    other.principalId === wanted.principalId.toLowerCase() &&
    other.role === wanted.role.toLowerCase() &&
    other.scope === wanted.scope;
  const all = world.roles.assignments();
  const held = existing && all.get(existing.key);
  if (held && !same(held))
    throw new Refusal(
      409,
      "RoleAssignmentUpdateNotPermitted",
      "Tenant ID, application ID, principal ID, and scope are not allowed to be updated.",
    );
  if (existing) return;
  for (const [key, other] of all)
    if (same(other))
      throw new Refusal(
        409,
        "RoleAssignmentExists",
        `The role assignment already exists. The ID of the conflicting role assignment is ${lastSegment(key).replaceAll("-", "")}.`,
      );
}

/** Without a filter a list holds what is at the scope, above it and below it. */
function listed({ world, asker, address, query }: Listing): Resource[] {
  const filter = query.get("$filter") ?? "";
  const rest = filter
    .replace(/atScope\(\)/gi, "")
    .replace(/(principalId eq |assignedTo\()'[^']*'\)?/gi, "")
    .replace(/\band\b/gi, "")
    .trim();
  if (rest !== "")
    throw new Refusal(
      400,
      "UnsupportedFilter",
      `The filter '${filter.slice(0, 80)}' is not supported.`,
    );
  const above = /atScope\(\)/i.test(filter);
  const of = /(?:principalId eq |assignedTo\()'([^']*)'/i.exec(filter)?.[1]?.toLowerCase();
  const found: Resource[] = [];
  for (const [key, { scope, principalId }] of world.roles.assignments()) {
    const here = isWithin(address.scopeKey, scope) || (!above && isWithin(scope, address.scopeKey));
    if (!here || (of !== undefined && principalId !== of)) continue;
    // At the root of all scopes each tenant sees its own.
    if (scope === "" && world.directory.find(principalId)?.tenant !== asker.tenant) continue;
    const resource = world.store.get(key);
    if (resource) found.push(resource);
  }
  return found;
}

function scopeOf(id: string): string {
  const end = id.toLowerCase().lastIndexOf("/providers/microsoft.authorization/");
  return end <= 0 ? "/" : id.slice(0, end);
}
