import type { Clock } from "@postern/core/clock.ts";
import type { Cloud } from "./clouds.ts";
import { readCredentialFile } from "./credential-file.ts";
import {
  clientCertificate,
  clientSecret,
  type EntraOptions,
  type Principal,
  workloadIdentity,
} from "./entra.ts";
import { AzureError } from "./errors.ts";
import { managedIdentity } from "./managed-identity.ts";
import type { TokenSource } from "./tokens.ts";

/** Variables of the environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Who we are in Azure, and in which subscription if the credential says it. */
export interface Credential {
  tokens: TokenSource;
  subscriptionId?: string;
}

/**
 * The credential that the environment gives, as the shipped operators choose it:
 *
 *   AZURE_PLS_CLIENT_ID          a switch: the identity that the platform gives the pod (secret,
 *                                certificate, token file or managed identity, in this order)
 *   AZURE_CREDENTIALS_FILE       a file with subscriptionId, tenantId, clientId, clientSecret
 *   AZURE_FEDERATED_TOKEN_FILE   a token file, with AZURE_TENANT_ID and AZURE_CLIENT_ID
 *   AZURE_CLIENT_SECRET          a secret, or AZURE_CLIENT_CERTIFICATE_PATH, with the same two
 */
export async function credentialFromEnvironment(
  env: Environment,
  options: EntraOptions,
): Promise<Credential> {
  const here = withAuthority(env, options);
  const subscription = env.AZURE_SUBSCRIPTION_ID
    ? { subscriptionId: env.AZURE_SUBSCRIPTION_ID }
    : {};

  if (env.AZURE_PLS_CLIENT_ID) {
    const tokens = configured(env, here) ?? ofMachine(env, here, env.AZURE_PLS_CLIENT_ID);
    return { tokens, ...subscription };
  }
  if (env.AZURE_CREDENTIALS_FILE)
    return { ...(await credentialFromFile(env.AZURE_CREDENTIALS_FILE, here)), ...subscription };
  const tokens = configured(env, here);
  if (tokens !== undefined) return { tokens, ...subscription };
  throw missing();
}

/** The credential of a file. A secret that is changed in the file counts from the next token on. */
export async function credentialFromFile(path: string, options: EntraOptions): Promise<Credential> {
  const { tenantId, clientId, subscriptionId } = await readCredentialFile(path);
  const secret = async () => (await readCredentialFile(path)).clientSecret;
  return { tokens: clientSecret({ tenantId, clientId, secret }, options), subscriptionId };
}

/**
 * The identity that the environment configures: with a secret, a certificate or a token file, in this order. Undefined where
 * none is configured; where a part of one is missing, that is an error.
 */
export function configuredIdentity(
  env: Environment,
  options: EntraOptions,
): TokenSource | undefined {
  return configured(env, withAuthority(env, options));
}

/** What the platform injects beside the identity knows better where that identity lives. */
function withAuthority(env: Environment, options: EntraOptions): EntraOptions {
  const authorityHost = env.AZURE_AUTHORITY_HOST?.replace(/\/+$/, "");
  return authorityHost ? { ...options, cloud: { ...options.cloud, authorityHost } } : options;
}

function configured(env: Environment, options: EntraOptions): TokenSource | undefined {
  const { AZURE_CLIENT_SECRET: secret, AZURE_FEDERATED_TOKEN_FILE: tokenFile } = env;
  const certificateFile = env.AZURE_CLIENT_CERTIFICATE_PATH;
  if (secret) return clientSecret({ ...principal(env), secret }, options);
  if (certificateFile) {
    const password = env.AZURE_CLIENT_CERTIFICATE_PASSWORD;
    return clientCertificate({ ...principal(env), certificateFile, password }, options);
  }
  return tokenFile ? workloadIdentity({ ...principal(env), tokenFile }, options) : undefined;
}

function ofMachine(
  env: Environment,
  { cloud, clock }: { cloud: Cloud; clock?: Clock },
  clientId: string,
): TokenSource {
  const host = env.AZURE_POD_IDENTITY_AUTHORITY_HOST || undefined;
  const id = env.AZURE_CLIENT_ID || clientId;
  return managedIdentity({ cloud, clientId: id, host, ...(clock === undefined ? {} : { clock }) });
}

function principal(env: Environment): Principal {
  const { AZURE_TENANT_ID: tenantId, AZURE_CLIENT_ID: clientId } = env;
  if (!tenantId) throw missing("AZURE_TENANT_ID is not set");
  if (!clientId) throw missing("AZURE_CLIENT_ID is not set");
  return { tenantId, clientId };
}

function missing(detail?: string): AzureError {
  return new AzureError({ code: "CredentialMissing", what: "find a credential for Azure", detail });
}
