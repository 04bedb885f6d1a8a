import { tags } from "../../arm/fields.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { ResourceType, World } from "../../arm/resource-type.ts";
import type { Resource } from "../../state/store.ts";

/** Managed identities that stand on their own. Each can sign in until it is deleted. */
export const userAssignedIdentities: ResourceType = {
  type: "Microsoft.ManagedIdentity/userAssignedIdentities",
  dialect: "identity",
  within: "resourceGroup",
  put: "sync",
  delete: "sync",
  patchTags: true,
  accept({ body, name, existing, world, address }) {
    if (!/^[a-z0-9][-\w]{2,127}$/i.test(name))
      throw new Refusal(
        400,
        "InvalidResourceName",
        `The name '${name.slice(0, 140)}' is not valid: it must have 3 to 128 letters, digits, hyphens and underscores, and begin with a letter or a digit.`,
      );
    return {
      top: { location: body.location ?? existing?.top.location, tags: tags(body).tags ?? {} },
      properties: {
        tenantId: world.directory.tenantOf(address.subscription ?? ""),
        principalId: existing?.properties.principalId ?? world.guid(),
        clientId: existing?.properties.clientId ?? world.guid(),
      },
    };
  },
  afterWrite(resource, _before, world) {
    signIn(resource, world);
  },
  afterDelete(resource, world) {
    world.directory.removeApplication(String(resource.properties.principalId));
  },
  differences: ["The identity can sign in immediately; in Entra this takes seconds to minutes."],
};

/** Let an identity sign in. */
export function signIn({ id, name, properties }: Resource, { directory }: World): void {
  const objectId = String(properties.principalId);
  if (directory.find(objectId)) return;
  directory.addApplication({
    tenant: String(properties.tenantId),
    objectId,
    appId: String(properties.clientId),
    displayName: name,
    resourceId: id,
  });
}
