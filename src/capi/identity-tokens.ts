import {
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
import { keyOf } from "../model/kind.ts";
import type { AzureClusterIdentity } from "../model/kinds/azure-cluster-identity.ts";
import { readCertificate, readClientSecret } from "./identity-secret.ts";

/** What this process has by which an identity is proved. */
export interface Means {
  kube: KubeClient;
  entra: EntraOptions;
  /** The token that the platform gives this pod; `AZURE_FEDERATED_TOKEN_FILE`. */
  tokenFile?: string | undefined;
  /** `AZURE_POD_IDENTITY_AUTHORITY_HOST`. */
  imdsHost?: string | undefined;
}

/** The audience that Entra recommends: https://learn.microsoft.com/entra/workload-id/workload-identity-federation */
const audience = "api://AzureADTokenExchange";

/**
 * The tokens of an AzureClusterIdentity, by its type. There is none without a credential: what cannot be used is an error
 * here, and what is missing from a Secret is one when a token is asked for.
 *
 *   type                             credential
 *   ------------------------------   ------------------------------------------------------------------
 *   UserAssignedMSI                  managed identity of the machine, by clientID
 *   ServicePrincipal                 client secret in the Secret
 *   ManualServicePrincipal           the same
 *   ServicePrincipalCertificate      certificate at certPath, or in the Secret
 *   WorkloadIdentity                 the pod's token file, or a token of the operator's own service account
 *   UserAssignedIdentityCredential   none: its file holds a certificate in PKCS#12, which Node.js cannot open
 */
export function tokensOf(identity: AzureClusterIdentity, means: Means): TokenSource {
  const { type, certPath } = identity.spec;
  const { kube, entra } = means;
  switch (type) {
    case "UserAssignedMSI": {
      const { cloud, clock } = entra;
      const clientId = said(identity, "clientID");
      const host = means.imdsHost || undefined;
      return managedIdentity({ cloud, clientId, host, ...(clock && { clock }) });
    }
    case "ServicePrincipal":
    case "ManualServicePrincipal": {
      const read = () => readClientSecret(kube, identity);
      return clientSecret({ ...principalOf(identity), secret: read }, entra);
    }
    case "ServicePrincipalCertificate": {
      const read = () => readCertificate(kube, identity);
      const from = certPath ? { certificateFile: certPath } : { certificate: read };
      return clientCertificate({ ...principalOf(identity), ...from }, entra);
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
        said: `its type is ${type}`,
      });
  }
}

function principalOf(identity: AzureClusterIdentity): Principal {
  return { tenantId: said(identity, "tenantID"), clientId: said(identity, "clientID") };
}

/** In lower case: Entra does not tell it from upper, and two spellings must not become two budgets. */
function said(identity: AzureClusterIdentity, field: "tenantID" | "clientID"): string {
  const value = identity.spec[field]?.trim().toLowerCase();
  if (value) return value;
  throw new AzureError({
    code: "ClusterIdentityIncomplete",
    what: `use AzureClusterIdentity ${keyOf(identity)}`,
    said: `its spec.${field} is empty`,
  });
}

/** Outside a pod that the platform looks after: a token of the service account that this process is. */
async function ownProof(kube: KubeClient): Promise<Proof> {
  const account = await ownServiceAccount(kube);
  if (account === undefined)
    throw new AzureError({ code: "FederatedTokenMissing", what: "prove a workload identity" });
  const assertion = await serviceAccountToken(kube, { ...account, audience });
  return { assertion, whose: `service account ${account.namespace}/${account.name}` };
}
