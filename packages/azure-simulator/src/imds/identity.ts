import type { Application } from "../entra/application.ts";
import type { Directory } from "../entra/directory.ts";
import { EntraRefusal } from "../entra/refusal.ts";
import { checkResource } from "../entra/token.ts";
import type { Resource, Store } from "../state/store.ts";
import { type ImdsAnswer, identityRefused } from "./answer.ts";
import { part, scaleSetOf, text } from "./document.ts";

/** Tokens of managed identities last a day. */
const lifetimeMs = 86_400_000;

/** Answer a request for a token of one of the machine's identities. */
export function identityToken(
  world: { store: Store; directory: Directory; now(): number },
  machine: Resource,
  query: URLSearchParams,
): ImdsAnswer {
  const { store, directory } = world;
  const resource = query.get("resource");
  if (!resource)
    throw identityRefused(400, "invalid_request", "Required audience parameter not specified");
  const application = selectIdentity(identitiesOf(store, directory, machine), query);
  try {
    checkResource(directory, resource, application.tenant);
  } catch (error) {
    if (!(error instanceof EntraRefusal)) throw error;
    // What Entra says to the service is passed on.
    throw identityRefused(400, error.error, `AADSTS${error.number}: ${error.message}`);
  }
  const now = Math.floor(world.now() / 1000);
  const lifetime = lifetimeMs / 1000;
  return {
    status: 200,
    body: {
      access_token: directory.tokenFor(application, {
        audience: resource,
        proof: "2",
        forMs: lifetimeMs,
      }),
      client_id: application.appId,
      expires_in: String(lifetime - 1),
      expires_on: String(now + lifetime),
      ext_expires_in: String(lifetime - 1),
      not_before: String(now),
      resource,
      token_type: "Bearer",
    },
  };
}

interface Identities {
  own: Application | undefined;
  assigned: readonly Application[];
}

/** The instances of a scale set have the identities of the set. */
function identitiesOf(store: Store, directory: Directory, machine: Resource): Identities {
  const holder = "identity" in machine.top ? machine : (scaleSetOf(store, machine) ?? machine);
  const identity = part(holder.top, "identity");
  const assigned = Object.keys(part(identity, "userAssignedIdentities"))
    .map((id) => directory.find(text(store.get(id)?.properties ?? {}, "principalId")))
    .filter((each) => each !== undefined);
  return { own: directory.find(text(identity, "principalId")), assigned };
}

/** The identity that the query names; else the system-assigned one; else the only one. */
function selectIdentity({ own, assigned }: Identities, query: URLSearchParams): Application {
  const wanted = {
    appId: query.get("client_id"),
    objectId: query.get("object_id") ?? query.get("principal_id"),
    resourceId: query.get("msi_res_id") ?? query.get("mi_res_id"),
  };
  const said = Object.entries(wanted).filter(([, value]) => value !== null);
  if (said.length > 1)
    throw identityRefused(
      400,
      "invalid_request",
      "Only one of client_id, object_id and msi_res_id may be specified",
    );
  const all = own ? [own, ...assigned] : assigned;
  const [name, value] = said[0] ?? [];
  const found =
    name === undefined
      ? (own ?? assigned[0])
      : all.find(
          (each) =>
            String(each[name as keyof typeof wanted] ?? "").toLowerCase() === value?.toLowerCase(),
        );
  if (name === undefined && !own && assigned.length > 1)
    throw identityRefused(
      400,
      "invalid_request",
      "Multiple user assigned identities exist, please specify the clientId / resourceId of the identity in the token request",
    );
  if (!found) throw identityRefused(400, "invalid_request", "Identity not found");
  return found;
}
