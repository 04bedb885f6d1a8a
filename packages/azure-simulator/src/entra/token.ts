import type { Directory } from "./directory.ts";
import { checkAssertion, checkSecret, type ProofAsked } from "./proof.ts";
import { EntraRefusal, invalidClient, invalidRequest } from "./refusal.ts";

/** What an answer with a token says. */
export interface TokenAnswer {
  token_type: "Bearer";
  expires_in: number;
  ext_expires_in: number;
  access_token: string;
}

/** Resources of Azure that a token can be for, beside Resource Manager. */
const resources = new Set([
  "https://graph.microsoft.com",
  "https://vault.azure.net",
  "https://storage.azure.com",
  "api://AzureADTokenExchange",
]);

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** Entra's tokens for applications last an hour less a second. */
const lifetimeSeconds = 3599;

/** Answer a request for a token, or refuse it as Entra does. */
export function grant(
  directory: Directory,
  asked: { tenant: string; form: URLSearchParams; now: number; audiences: readonly string[] },
): TokenAnswer {
  const { tenant, form, now, audiences } = asked;
  checkTenant(directory, tenant);
  const kind = needed(form, "grant_type");
  if (kind !== "client_credentials")
    throw new EntraRefusal(
      400,
      "unsupported_grant_type",
      70003,
      `The app requested an unsupported grant type '${kind.slice(0, 60)}'.`,
    );
  const appId = needed(form, "client_id");
  const application = directory.application(appId);
  if (!application || application.tenant !== tenant.toLowerCase())
    throw new EntraRefusal(
      400,
      "unauthorized_client",
      700016,
      `Application with identifier '${appId.slice(0, 60)}' was not found in the directory '${directory.nameOf(tenant) ?? tenant}'. This can happen if the application has not been installed by the administrator of the tenant or consented to by any user in the tenant. You may have sent your authentication request to the wrong tenant.`,
    );
  const audience = audienceOf(directory, form, tenant);
  const proof = prove({ directory, application, now, audiences }, form);
  return {
    token_type: "Bearer",
    expires_in: lifetimeSeconds,
    ext_expires_in: lifetimeSeconds,
    access_token: directory.tokenFor(application, {
      audience,
      proof,
      forMs: lifetimeSeconds * 1000,
    }),
  };
}

/** Refuse a tenant that does not exist. */
export function checkTenant(directory: Directory, tenant: string): void {
  if (directory.hasTenant(tenant)) return;
  if (!/^[0-9a-f-]{36}$/i.test(tenant) && !/^[\w-]+(\.[\w-]+)+$/.test(tenant))
    throw invalidRequest(
      900023,
      `Specified tenant identifier '${tenant.slice(0, 80)}' is neither a valid DNS name, nor a valid external domain.`,
    );
  throw invalidRequest(
    90002,
    `Tenant '${tenant}' not found. Check to make sure you have the correct tenant ID and are signing into the correct cloud. Check with your subscription administrator, this may happen if there are no active subscriptions for the tenant.`,
  );
}

/** What a token is for: the scope without its last word. A slash that was doubled stays, as it does in Entra. */
function audienceOf(directory: Directory, form: URLSearchParams, tenant: string): string {
  const scope = needed(form, "scope").trim();
  const suffix = "/.default";
  // The library under the SDKs may ask for more that means nothing to an application.
  const wanted = scope
    .split(/\s+/)
    .filter((each) => !/^(openid|profile|offline_access|email)$/.test(each));
  const [only = ""] = wanted;
  if (wanted.length !== 1 || !only.endsWith(suffix))
    throw new EntraRefusal(
      400,
      "invalid_scope",
      1002012,
      `The provided value for scope ${scope.slice(0, 200)} is not valid. Client credential flows must have a scope value with /.default suffixed to the resource identifier (application ID URI).`,
    );
  const audience = only.slice(0, -suffix.length);
  checkResource(directory, audience, tenant);
  return audience;
}

/** Refuse a token for what nobody knows. */
export function checkResource(directory: Directory, audience: string, tenant: string): void {
  if (directory.isManagement(audience) || resources.has(audience.replace(/\/$/, ""))) return;
  throw new EntraRefusal(
    400,
    "invalid_resource",
    500011,
    `The resource principal named ${audience.slice(0, 200)} was not found in the tenant named ${directory.nameOf(tenant) ?? tenant}. This can happen if the application has not been installed by the administrator of the tenant or consented to by any user in the tenant. You might have sent your authentication request to the wrong tenant.`,
  );
}

function prove(asked: ProofAsked, form: URLSearchParams): "1" | "2" {
  const secret = form.get("client_secret");
  const assertion = form.get("client_assertion");
  if (assertion) {
    if (form.get("client_assertion_type") !== assertionType)
      throw invalidRequest(
        900144,
        "The request body must contain the following parameter: 'client_assertion_type'.",
      );
    checkAssertion(asked, assertion);
    return "2";
  }
  if (!secret)
    throw invalidClient(
      7000216,
      "'client_assertion', 'client_secret' or 'request' is required for the 'client_credentials' grant type.",
    );
  checkSecret(asked, secret);
  return "1";
}

function needed(form: URLSearchParams, name: string): string {
  const value = form.get(name);
  if (value) return value;
  throw invalidRequest(900144, `The request body must contain the following parameter: '${name}'.`);
}
