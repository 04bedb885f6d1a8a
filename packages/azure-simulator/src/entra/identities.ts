import { isObject, object, oneOf, text } from "../arm/fields.ts";
import { Refusal } from "../arm/refusal.ts";
import type { Join, World, Writing } from "../arm/resource-type.ts";
import type { JsonObject, Resource } from "../state/store.ts";
import { federate } from "../types/federated-identity-credentials/index.ts";
import { signIn } from "../types/user-assigned-identities/index.ts";

/** Identities of machines: what a machine or a scale set keeps under `identity`, and who can sign in for it. */

const kinds = ["None", "SystemAssigned", "UserAssigned", "SystemAssigned, UserAssigned"] as const;

/** The `identity` to store from a body: the system-assigned one with an object id, and the user-assigned ones with theirs. */
export function acceptIdentity({
  body,
  existing,
  world,
  address,
}: Pick<Writing, "body" | "existing" | "world" | "address">): JsonObject | undefined {
  const held = object(existing?.top ?? {}, "identity");
  const given = object(body, "identity");
  // A body that does not speak of identities leaves them as they are; `None` takes them away.
  if (!given) return held;
  const kind = kindIn(given);
  if (kind === "None") return undefined;
  const own = kind.startsWith("SystemAssigned");
  const assigned = kind.endsWith("UserAssigned") ? assignedIn(given, world) : undefined;
  return {
    type: kind,
    ...(own && {
      principalId: text(held ?? {}, "principalId", undefined) ?? world.guid(),
      tenantId: world.directory.tenantOf(address.subscription ?? ""),
    }),
    ...(assigned && { userAssignedIdentities: assigned }),
  };
}

/** The identities that a body assigns: whoever writes it needs a right on each. */
export function identityJoins(body: JsonObject): Join[] {
  const given = isObject(body.identity) ? body.identity : {};
  const ids = isObject(given.userAssignedIdentities) ? given.userAssignedIdentities : {};
  const action = "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action";
  return Object.keys(ids).map((id) => ({ id, action }));
}

/** Register the system-assigned identity of a written machine, or remove the one that it no longer has. */
export function syncIdentity(resource: Resource, before: Resource | undefined, world: World): void {
  const objectId = ownOf(resource);
  const earlier = before && ownOf(before);
  if (earlier !== undefined && earlier !== objectId) world.directory.removeApplication(earlier);
  if (objectId === undefined || world.directory.find(objectId)) return;
  const tenant = world.directory.tenantOf(resource.key.split("/")[2] ?? "") ?? "";
  world.directory.addSystemIdentity({ tenant, objectId, resourceId: resource.id });
}

/** Remove the system-assigned identity of a deleted machine. */
export function removeIdentity(resource: Resource, world: World): void {
  const objectId = ownOf(resource);
  if (objectId !== undefined) world.directory.removeApplication(objectId);
}

/** Let all identities of a saved world sign in again. */
export function restoreIdentities(world: World): void {
  const credentials: Resource[] = [];
  for (const resource of world.store.all()) {
    if (resource.type === "Microsoft.ManagedIdentity/userAssignedIdentities")
      signIn(resource, world);
    else if (resource.type.endsWith("/federatedIdentityCredentials")) credentials.push(resource);
    else syncIdentity(resource, undefined, world);
  }
  for (const each of credentials) federate(each, world);
}

function ownOf({ top }: Resource): string | undefined {
  return isObject(top.identity) ? text(top.identity, "principalId", undefined) : undefined;
}

function kindIn(given: JsonObject): (typeof kinds)[number] {
  const words = text(given, "type", "None").replace(/\s*,\s*/, ", ");
  return oneOf({ type: words }, "type", kinds, "None");
}

function assignedIn(given: JsonObject, { store }: World): JsonObject {
  const ids = isObject(given.userAssignedIdentities) ? given.userAssignedIdentities : {};
  const assigned: JsonObject = {};
  for (const id of Object.keys(ids)) {
    const identity = store.get(id);
    if (identity?.type !== "Microsoft.ManagedIdentity/userAssignedIdentities")
      throw new Refusal(
        400,
        "FailedIdentityOperation",
        `Identity operation for the resource failed with error 'Failed to perform resource identity operation. Status: 'BadRequest'. Response: '{"error":{"code":"BadRequest","message":"Resource '${id}' was not found."}}'.'.`,
      );
    const { principalId, clientId } = identity.properties;
    assigned[identity.id] = { principalId, clientId };
  }
  return assigned;
}
