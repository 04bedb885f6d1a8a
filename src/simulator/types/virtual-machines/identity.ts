import { defined, object, text } from "../../fields.ts";
import { guidFrom } from "../../guid.ts";
import type { Principal, World } from "../../resource-type.ts";
import type { JsonObject, Resource } from "../../store.ts";

/** What is kept of the identity of a machine; one of type None is not shown. */
export function acceptIdentity(
  body: JsonObject,
  existing: Resource | undefined,
  asker: Principal,
  world: World,
): JsonObject | undefined {
  const given = object(body, "identity");
  const type = given && text(given, "type", "None");
  if (!given || type === undefined || type.toLowerCase() === "none") return undefined;
  const held = existing?.top.identity as JsonObject | undefined;
  const assigned = object(given, "userAssignedIdentities");
  const system = /systemassigned/i.test(type);
  return defined({
    type,
    principalId: system ? (held?.principalId ?? world.guid()) : undefined,
    tenantId: system ? asker.tenant : undefined,
    userAssignedIdentities:
      assigned &&
      Object.fromEntries(Object.keys(assigned).map((id) => [id, shownIdentity(id, world)])),
  });
}

function shownIdentity(id: string, world: World): JsonObject {
  const { principalId, clientId } = world.store.get(id)?.properties ?? {};
  return {
    principalId: principalId ?? guidFrom(`principal ${id.toLowerCase()}`),
    clientId: clientId ?? guidFrom(`client ${id.toLowerCase()}`),
  };
}
