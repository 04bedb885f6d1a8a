import { configuredIdentity, type Environment } from "../azure/credential.ts";
import type { EntraOptions } from "../azure/entra.ts";
import { managedIdentity } from "../azure/managed-identity.ts";
import type { CredentialFor } from "./context.ts";

/** What the default credential is made of. */
export interface DefaultCredentialOptions extends Pick<EntraOptions, "ca" | "httpClient"> {
  /** Usually `process.env`. */
  env: Environment;
  /** Which user-assigned identity of the machine; `AZURE_CLIENT_ID` if not given. */
  clientId?: string | undefined;
}

/**
 * The first identity that is configured: one of the environment, with a secret or a certificate; a workload identity, with a
 * token file; else the managed identity of the machine. One that is configured and fails does not lead to the next: nobody
 * should act by another identity than was meant.
 */
export function defaultCredential(options: DefaultCredentialOptions): CredentialFor {
  const { env, clientId, ...entra } = options;
  return ({ cloud, imdsHost, clock, failed }) =>
    configuredIdentity(env, { ...entra, cloud, clock }) ??
    managedIdentity({
      cloud,
      clientId: clientId ?? (env.AZURE_CLIENT_ID || undefined),
      host: imdsHost,
      clock,
      failed,
    });
}
