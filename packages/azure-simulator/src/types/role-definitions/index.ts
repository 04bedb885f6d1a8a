import { objects, text, texts } from "../../arm/fields.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { ResourceType, Writing } from "../../arm/resource-type.ts";
import type { RoleDefinition } from "../../arm/role-definitions.ts";
import { isWithin } from "../../arm/roles.ts";
import { isGuid } from "../../state/guid.ts";
import type { JsonObject } from "../../state/store.ts";

const type = "Microsoft.Authorization/roleDefinitions";

/** Roles: those that every tenant has, and custom ones. */
export const roleDefinitions: ResourceType = {
  type,
  dialect: "authorization",
  within: "scope",
  put: "sync",
  putsAnew: true,
  delete: "sync",
  showsDeleted: true,
  joins({ properties }) {
    // Who makes a role must be able to do so wherever it can be assigned.
    return texts(properties, "assignableScopes").map((id) => ({ id, action: `${type}/write` }));
  },
  accept(writing) {
    const { name, properties, world } = writing;
    if (!isGuid(name))
      throw refusal("InvalidRoleDefinitionId", `The role definition ID '${name}' is not a GUID.`);
    const roleName = text(properties, "roleName", undefined);
    const scopes = texts(properties, "assignableScopes");
    const permissions = objects(properties, "permissions").map(permission);
    if (roleName === undefined || scopes.length === 0 || permissions.length === 0)
      throw refusal(
        "RoleDefinitionIncomplete",
        "A custom role must have a roleName, assignableScopes and permissions.",
      );
    for (const each of world.roles.definitions()) {
      if (each.builtIn && each.name === name.toLowerCase())
        throw new Refusal(
          403,
          "RoleDefinitionUpdateNotPermitted",
          `The role definition '${each.roleName}' is built in and cannot be changed.`,
        );
      if (
        each.roleName.toLowerCase() === roleName.toLowerCase() &&
        each.name !== name.toLowerCase()
      )
        throw new Refusal(
          409,
          "RoleDefinitionWithSameNameExists",
          `A custom role with the same name already exists in this directory. Use a different name. The ID of the conflicting role definition is '${each.name}'.`,
        );
    }
    return {
      properties: {
        roleName,
        type: "CustomRole",
        description: text(properties, "description", ""),
        assignableScopes: scopes,
        permissions,
        ...times(writing),
      },
    };
  },
  afterWrite(resource, _before, world) {
    world.roles.put(resource);
  },
  mayDelete({ name }, world) {
    for (const each of world.roles.assignments().values())
      if (each.role === name.toLowerCase())
        throw refusal(
          "RoleDefinitionHasAssignments",
          "There are existing role assignments referencing role (code: RoleDefinitionHasAssignments)",
        );
  },
  afterDelete(resource, world) {
    world.roles.drop(resource);
  },
  read({ world, address }) {
    // A role can be read by its guid at any scope at which it can be assigned.
    const found = world.roles.definition(address.names.at(-1) ?? "");
    if (!found || world.store.get(address.key)) return undefined;
    return assignable(found, address.scopeKey) ? shown(found, address.subscription) : undefined;
  },
  list({ world, address, query }) {
    const wanted = query.get("$filter") ?? "";
    const named = /roleName eq '([^']*)'/i.exec(wanted)?.[1]?.toLowerCase();
    const kind = /\btype eq '([^']*)'/i.exec(wanted)?.[1]?.toLowerCase();
    return [...world.roles.definitions()]
      .filter((each) => assignable(each, address.scopeKey))
      .filter((each) => named === undefined || each.roleName.toLowerCase() === named)
      .filter(
        (each) => kind === undefined || kind === (each.builtIn ? "builtinrole" : "customrole"),
      )
      .map((each) => ({ shown: shown(each, address.subscription) }));
  },
  missing({ names }) {
    return new Refusal(
      404,
      "RoleDefinitionDoesNotExist",
      `The specified role definition with ID '${names.at(-1)}' does not exist.`,
    );
  },
  differences: [
    "Ten built-in roles of some hundreds; dataActions are stored but never checked.",
    "Roles take effect immediately; Azure takes minutes.",
  ],
};

/** The fields that say who wrote something and when. */
export function times({ asker, existing, world }: Writing): JsonObject {
  const now = new Date(world.now()).toISOString();
  return {
    createdOn: existing?.properties.createdOn ?? now,
    updatedOn: now,
    createdBy: existing?.properties.createdBy ?? asker.objectId,
    updatedBy: asker.objectId,
  };
}

function permission(given: JsonObject): JsonObject {
  return {
    actions: texts(given, "actions"),
    notActions: texts(given, "notActions"),
    dataActions: texts(given, "dataActions"),
    notDataActions: texts(given, "notDataActions"),
  };
}

function assignable({ assignableScopes }: RoleDefinition, scopeKey: string): boolean {
  return assignableScopes.some((scope) => {
    const plain = scope.toLowerCase().replace(/\/$/, "");
    return isWithin(scopeKey, plain) || isWithin(plain, scopeKey);
  });
}

function shown(role: RoleDefinition, subscription: string | undefined): JsonObject {
  const place = subscription === undefined ? "" : `/subscriptions/${subscription}`;
  return {
    properties: {
      roleName: role.roleName,
      type: role.builtIn ? "BuiltInRole" : "CustomRole",
      description: role.description,
      assignableScopes: [...role.assignableScopes],
      permissions: role.permissions.map(({ actions, notActions }) => ({
        actions: [...actions],
        notActions: [...notActions],
        dataActions: [],
        notDataActions: [],
      })),
    },
    id: `${place}/providers/${type}/${role.name}`,
    type,
    name: role.name,
  };
}

function refusal(code: string, message: string): Refusal {
  return new Refusal(400, code, message);
}
