import { text, texts } from "../../arm/fields.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { ResourceType, World } from "../../arm/resource-type.ts";
import { parentOf, type Resource } from "../../state/store.ts";

/** https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations */
const most = 20;

/** Tokens of others, such as those of a cluster's service accounts, that stand for a managed identity. */
export const federatedIdentityCredentials: ResourceType = {
  type: "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials",
  dialect: "identity",
  within: "parent",
  put: "sync",
  delete: "sync",
  accept({ name, properties, parent, existing, world }) {
    const issuer = text(properties, "issuer", "");
    const subject = text(properties, "subject", "");
    const audiences = texts(properties, "audiences");
    if (!/^[a-z0-9][-\w]{2,119}$/i.test(name))
      throw refused(
        `The name '${name.slice(0, 140)}' of a federated identity credential is not valid.`,
      );
    if (!/^https:\/\/[^/\s]+/.test(issuer) || issuer.length > 600)
      throw refused(
        "The issuer of a federated identity credential must be an https URL of at most 600 characters.",
      );
    if (subject === "" || subject.length > 600)
      throw refused(
        "The subject of a federated identity credential must have 1 to 600 characters.",
      );
    if (audiences.length !== 1)
      throw refused("A federated identity credential must have exactly one audience.");
    const others = [
      ...world.store.collection(`${parent?.key}/federatedidentitycredentials`),
    ].filter((each) => each.key !== existing?.key);
    if (others.length >= most)
      throw refused(
        `Too many Federated Identity Credentials have been created on the identity: at most ${most}.`,
      );
    const same = ({ properties: held }: Resource) =>
      held.issuer === issuer && held.subject === subject;
    if (others.some(same))
      throw new Refusal(
        409,
        "Conflict",
        "Issuer and subject combination already exists for this Managed Identity.",
      );
    return { properties: { issuer, subject, audiences } };
  },
  afterWrite(resource, _before, world) {
    federate(resource, world);
  },
  afterDelete(resource, { store, directory }) {
    const identity = store.get(parentOf(resource.key));
    if (identity) directory.unfederate(String(identity.properties.principalId), resource.name);
  },
  differences: [
    "Takes effect immediately; in Entra this takes seconds to minutes.",
    "Concurrent writes to one identity are accepted; Azure rejects some.",
  ],
};

/** Let the holder of a matching token sign in as the identity. */
export function federate(resource: Resource, { store, directory }: World): void {
  const identity = store.get(parentOf(resource.key));
  if (!identity) return;
  const { issuer, subject, audiences } = resource.properties;
  directory.federate(String(identity.properties.principalId), {
    name: resource.name,
    issuer: String(issuer),
    subject: String(subject),
    audiences: audiences as string[],
  });
}

function refused(message: string): Refusal {
  return new Refusal(400, "BadRequest", message);
}
