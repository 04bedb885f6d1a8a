import { type Clock, realClock } from "@postern/core/clock.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { type Secret, secret, secretValue } from "@postern/core/kinds/secret.ts";
import type { Proof } from "../azure/entra.ts";
import { AzureError } from "../azure/errors.ts";
import type { KubeClient } from "../kube/client.ts";
import { KubeError } from "../kube/errors.ts";
import { makeServiceAccount, serviceAccountToken } from "../kube/service-account-token.ts";
import { tenantCluster, tenantClusterMs } from "../kube/tenant-cluster.ts";
import { controlPlaneAccount as account } from "./names.ts";

/** As HyperShift's token minter asks for it, so that federated credentials for HyperShift still work. */
const hostedAccount = { namespace: "kube-system", name: account, audience: "openshift" };

/** The audience that Entra recommends: https://learn.microsoft.com/entra/workload-id/workload-identity-federation */
const managementAudience = "api://AzureADTokenExchange";

/**
 * HyperShift's kubeconfigs of a hosted cluster, first the one whose address works inside the management cluster. The
 * other one may have a hostname that resolves in the network of the hosted cluster only.
 */
const shippedSecrets = ["service-network-admin-kubeconfig", "admin-kubeconfig"];

/**
 * A token that proves to Entra who a control plane is: of the hosted cluster, or where that gives none, of the management
 * cluster. Nothing is cached: a Secret that was changed counts from the next token on. All kubeconfigs together have the time of one,
 * because a reconcile waits for them; each has an equal share of what is left, so that a silent one leaves some to the next.
 */
export async function proofOf(
  kube: KubeClient,
  controlPlane: HostedControlPlane,
  namespace: string,
  clock: Clock = realClock,
): Promise<Proof> {
  const refusals: string[] = [];
  const places = kubeconfigsOf(controlPlane);
  const deadline = clock.now() + tenantClusterMs;
  for (const [at, place] of places.entries()) {
    const totalMs = Math.max(1, Math.floor((deadline - clock.now()) / (places.length - at)));
    try {
      const assertion = await fromHostedCluster(kube, namespace, place, totalMs);
      if (assertion !== undefined)
        return {
          assertion,
          subject: `service account ${hostedAccount.namespace}/${account} of the guest`,
        };
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      refusals.push(error.code);
    }
  }
  const hostedRefusal =
    refusals.length === 0 ? "there is no kubeconfig of it" : refusals.join(", ");
  return fromManagement(kube, namespace, hostedRefusal);
}

interface SecretPlace {
  name: string;
  key: string;
}

function kubeconfigsOf({ status }: HostedControlPlane): SecretPlace[] {
  const named = (status as { kubeConfig?: { name?: string; key?: string } } | undefined)
    ?.kubeConfig;
  const places = shippedSecrets.map((name) => ({ name, key: "kubeconfig" }));
  if (named?.name !== undefined && !shippedSecrets.includes(named.name))
    places.unshift({ name: named.name, key: named.key ?? "kubeconfig" });
  return places;
}

/** A token of the hosted cluster's own service account, which is created if absent; undefined without a kubeconfig. */
async function fromHostedCluster(
  kube: KubeClient,
  namespace: string,
  { name, key }: SecretPlace,
  totalMs: number,
): Promise<string | undefined> {
  const found = await kube.get<Secret>({ kind: secret, namespace, name });
  const value = secretValue(found, key);
  if (value === undefined) return undefined;
  const source = `in Secret ${namespace}/${name}`;
  return tenantCluster(kube.connection, { value, source, totalMs }, (cluster) =>
    serviceAccountToken(cluster, hostedAccount).catch(async (error: unknown) => {
      if (!(error instanceof KubeError && error.status === 404)) throw error;
      await makeServiceAccount(cluster, hostedAccount);
      return serviceAccountToken(cluster, hostedAccount);
    }),
  );
}

async function fromManagement(
  kube: KubeClient,
  namespace: string,
  hostedRefusal: string,
): Promise<Proof> {
  const asked = { namespace, name: account, audience: managementAudience };
  const subject = `service account ${namespace}/${account} of the management cluster (the guest gave none: ${hostedRefusal})`;
  try {
    return { assertion: await serviceAccountToken(kube, asked), subject };
  } catch (error) {
    if (!(error instanceof KubeError && error.status === 404)) throw error;
    throw new AzureError({
      code: "ProofMissing",
      what: `get a token of ${subject}`,
      cause: error,
    });
  }
}
