import { type Clock, realClock } from "@postern/core/clock.ts";
import { keyOf } from "@postern/core/kind.ts";
import type { AzureClusterIdentity } from "@postern/core/kinds/azure-cluster-identity.ts";
import {
  type CertificateText,
  clientCertificate,
  clientSecret,
  type EntraOptions,
  federatedIdentity,
  type Principal,
  type Proof,
  workloadIdentity,
} from "../azure/entra.ts";
import { AzureError } from "../azure/errors.ts";
import { managedIdentity } from "../azure/managed-identity.ts";
import type { TokenSource } from "../azure/tokens.ts";
import type { KubeClient } from "../kube/client.ts";
import { ownServiceAccount, serviceAccountToken } from "../kube/service-account-token.ts";
import { type CertificatePlace, readCertificateFile } from "./certificate-file.ts";
import {
  certificateIn,
  clientSecretIn,
  type IdentitySecret,
  readIdentitySecret,
} from "./identity-secret.ts";

/** What this process has by which an identity is proved. */
export interface Means extends CertificatePlace {
  kube: KubeClient;
  entra: EntraOptions;
  /** The token that the platform gives this pod; `AZURE_FEDERATED_TOKEN_FILE`. */
  tokenFile?: string | undefined;
  /** `AZURE_POD_IDENTITY_AUTHORITY_HOST`. */
  imdsHost?: string | undefined;
}

/** A Secret is read again when it was read so long ago, so that what was taken back is not used for much longer. */
const secretAgeMs = 5 * 60_000;
/** A Secret that could not be used, or whose token Azure refused, is not read again for every cluster. */
const refusedAgeMs = 5_000;

/** The audience that Entra recommends: https://learn.microsoft.com/entra/workload-id/workload-identity-federation */
const audience = "api://AzureADTokenExchange";

/**
 * The tokens of an AzureClusterIdentity, by its type. There is none without a credential: what cannot be used is an error
 * here, and what is missing from a Secret is one when a token is requested.
 *
 *   type                             credential
 *   ------------------------------   ------------------------------------------------------------------
 *   UserAssignedMSI                  managed identity of the machine, by clientID
 *   ServicePrincipal                 client secret in the Secret
 *   ManualServicePrincipal           the same
 *   ServicePrincipalCertificate      certificate at certPath (certificate-file.ts), or in the Secret
 *   WorkloadIdentity                 the pod's token file, or a token of the operator's own service account
 *   UserAssignedIdentityCredential   none: its file holds a certificate in PKCS#12, which Node.js cannot open
 */
export function tokensOf(identity: AzureClusterIdentity, means: Means): TokenSource {
  const { type, certPath } = identity.spec;
  const { kube, entra, acrossNamespaces } = means;
  const read = () => readIdentitySecret(kube, identity, acrossNamespaces);
  switch (type) {
    case "UserAssignedMSI": {
      const { cloud, clock } = entra;
      const clientId = requiredField(identity, "clientID");
      const host = means.imdsHost || undefined;
      return managedIdentity({ cloud, clientId, host, ...(clock && { clock }) });
    }
    case "ServicePrincipal":
    case "ManualServicePrincipal": {
      const principal = principalOf(identity);
      return ofSecret(principal, read, entra.clock, (current) =>
        clientSecret({ ...principal, secret: clientSecretIn(current) }, entra),
      );
    }
    case "ServicePrincipalCertificate": {
      const principal = principalOf(identity);
      const from = (certificate: () => Promise<CertificateText>) =>
        clientCertificate({ ...principal, certificate }, entra);
      if (certPath) return from(() => readCertificateFile(identity, means));
      return ofSecret(principal, read, entra.clock, (current) => {
        const certificate = certificateIn(current);
        return from(() => Promise.resolve(certificate));
      });
    }
    case "WorkloadIdentity": {
      const { tokenFile } = means;
      const principal = principalOf(identity);
      return tokenFile
        ? workloadIdentity({ ...principal, tokenFile }, entra)
        : federatedIdentity({ ...principal, proof: () => ownProof(kube) }, entra);
    }
    default:
      throw new AzureError({
        code: "ClusterIdentityUnsupported",
        what: `use AzureClusterIdentity ${keyOf(identity)}`,
        detail: `its type is ${type}`,
      });
  }
}

/** Tokens by a Secret that is read, and not watched: a change of it counts when it is read again. */
function ofSecret(
  { tenantId, clientId }: Principal,
  read: () => Promise<IdentitySecret>,
  clock: Clock | undefined,
  tokensBy: (current: IdentitySecret) => TokenSource,
): TokenSource {
  let made: { version: string; tokens: TokenSource } | undefined;
  const lately = readLately(async () => {
    const current = await read();
    if (made?.version !== current.version)
      made = { version: current.version, tokens: tokensBy(current) };
    return made.tokens;
  }, clock);
  return {
    identity: `${tenantId}/${clientId}`,
    async token(signal, refused) {
      const tokens = await lately(refused === undefined ? secretAgeMs : refusedAgeMs);
      return tokens.token(signal, refused);
    },
  };
}

/** One reading for all who ask, for as long as it is not too old. */
function readLately<T>(
  read: () => Promise<T>,
  clock: Clock = realClock,
): (maxAgeMs: number) => Promise<T> {
  let last: { result: Promise<T>; atMs: number; failed: boolean } | undefined;
  return (maxAgeMs) => {
    const longestMs = last?.failed ? refusedAgeMs : maxAgeMs;
    if (last !== undefined && clock.now() - last.atMs < longestMs) return last.result;
    const result = read();
    const reading = { result, atMs: clock.now(), failed: false };
    result.catch(() => {
      reading.failed = true;
    });
    last = reading;
    return result;
  };
}

function principalOf(identity: AzureClusterIdentity): Principal {
  return {
    tenantId: requiredField(identity, "tenantID"),
    clientId: requiredField(identity, "clientID"),
  };
}

/** In lower case: Entra does not tell it from upper, and two spellings must not become two budgets. */
function requiredField(identity: AzureClusterIdentity, field: "tenantID" | "clientID"): string {
  const value = identity.spec[field]?.trim().toLowerCase();
  if (value) return value;
  throw new AzureError({
    code: "ClusterIdentityIncomplete",
    what: `use AzureClusterIdentity ${keyOf(identity)}`,
    detail: `its spec.${field} is empty`,
  });
}

/** Outside a pod that the platform looks after: a token of the service account that this process is. */
async function ownProof(kube: KubeClient): Promise<Proof> {
  const account = await ownServiceAccount(kube);
  if (account === undefined)
    throw new AzureError({ code: "FederatedTokenMissing", what: "prove a workload identity" });
  const assertion = await serviceAccountToken(kube, { ...account, audience });
  return { assertion, subject: `service account ${account.namespace}/${account.name}` };
}
