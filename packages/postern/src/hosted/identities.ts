import { keyOf } from "@postern/core/kind.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import type { Cloud } from "../azure/clouds.ts";
import { type EntraOptions, federatedIdentity } from "../azure/entra.ts";
import { AzureError } from "../azure/errors.ts";
import { letGo, type TokenSource } from "../azure/tokens.ts";
import type { WatchCache } from "../kube/cache.ts";
import type { KubeClient } from "../kube/client.ts";
import { proofOf } from "./identity-proof.ts";
import { type Registered, whyUnverified } from "./tenancy.ts";

/** The credentials of all control planes that one process serves. */
export interface Identities {
  /** The credential of a control plane, and of no other. Without one it is an `IdentityMissing`. */
  credentialOf(controlPlane: HostedControlPlane): TokenSource;
  /** Let go of the credentials of control planes that this cache loses, and serve only those that are verified. */
  follow(cache: Pick<WatchCache<HostedControlPlane>, "onChange">, registered: Registered): void;
}

/** Whose a credential is. Anything else is another's, even under the same name. */
interface Whose {
  uid: string | undefined;
  tenantId: string;
  clientId: string;
}

/** Each control plane acts by the workload identity that its spec names, proved by a service account of its own. */
export function identities(given: {
  kube: KubeClient;
  entra: EntraOptions;
  /** Told when a credential is not used any more. */
  dropped?: (tokens: TokenSource) => void;
}): Identities {
  const { kube, entra, dropped } = given;
  const held = new Map<string, Whose & { tokens: TokenSource; latest: HostedControlPlane }>();

  let registered: Registered = { controlPlanes: { byIndex: () => [] } };

  const drop = (key: string) => letGo(held, key, dropped);

  return {
    credentialOf(controlPlane) {
      const key = keyOf(controlPlane);
      checkVerified(controlPlane, registered);
      const whose = whoseOf(controlPlane);
      checkCloud(controlPlane, entra.cloud);
      const known = held.get(key);
      if (known !== undefined && isSame(known, whose)) {
        // Its status may name another kubeconfig by now.
        known.latest = controlPlane;
        return known.tokens;
      }
      drop(key);
      const namespace = controlPlane.metadata.namespace ?? "";
      const proof = () => proofOf(kube, entry.latest, namespace);
      const source = federatedIdentity({ ...whose, proof }, entra);
      // Anybody can write down the client id of another: what that one saw is not told for a name alone.
      const tokens = {
        ...source,
        prove: async (signal?: AbortSignal) => void (await source.token(signal)),
      };
      const entry = { ...whose, tokens, latest: controlPlane };
      held.set(key, entry);
      return tokens;
    },
    follow(cache, verifyBy) {
      registered = verifyBy;
      cache.onChange(({ key, after }) => {
        if (after === undefined) drop(key);
      });
    },
  };
}

/** The one credential of a process that serves one control plane, as HyperShift's control plane operator has it. */
export function onlyIn(namespace: string, tokens: TokenSource): Identities {
  return {
    credentialOf(controlPlane) {
      if (controlPlane.metadata.namespace === namespace) return tokens;
      throw missing(controlPlane, `this process serves the namespace ${namespace} only`);
    },
    follow: () => undefined,
  };
}

function whoseOf(controlPlane: HostedControlPlane): Whose {
  const { tenantID, azureAuthenticationConfig: config } = controlPlane.spec.platform.azure ?? {};
  const clientID = config?.workloadIdentities?.controlPlaneOperator?.clientID;
  if (!tenantID) throw missing(controlPlane, "spec.platform.azure.tenantID is empty");
  if (!clientID) throw missing(controlPlane);
  // Entra does not tell upper case from lower, and two spellings must not become two budgets.
  return {
    uid: controlPlane.metadata.uid,
    tenantId: tenantID.toLowerCase(),
    clientId: clientID.toLowerCase(),
  };
}

/** The namespace's service account proves one identity, so it belongs to one control plane. */
function checkVerified(controlPlane: HostedControlPlane, registered: Registered): void {
  const said = whyUnverified(controlPlane, registered);
  if (said === undefined) return;
  const what = `act in Azure for control plane ${keyOf(controlPlane)}`;
  throw new AzureError({ code: "ControlPlaneNotVerified", what, said });
}

/** A token of one cloud is worth nothing in another. The simulator and Azure Stack stand for any. */
function checkCloud(controlPlane: HostedControlPlane, { name, custom }: Cloud): void {
  const { cloud = name } = controlPlane.spec.platform.azure ?? {};
  if (custom || cloud.toLowerCase() === name.toLowerCase()) return;
  const what = `act in ${cloud} for control plane ${keyOf(controlPlane)}`;
  throw new AzureError({ code: "CloudDiffers", what, said: `this operator acts in ${name}` });
}

function isSame(a: Whose, b: Whose): boolean {
  return a.uid === b.uid && a.tenantId === b.tenantId && a.clientId === b.clientId;
}

function missing(controlPlane: HostedControlPlane, said?: string): AzureError {
  const what = `act in Azure for control plane ${keyOf(controlPlane)}`;
  return new AzureError({ code: "IdentityMissing", what, said });
}
