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
  /** Drop the credentials of control planes that are deleted from this cache, and serve only verified ones. */
  follow(cache: Pick<WatchCache<HostedControlPlane>, "onChange">, registered: Registered): void;
}

/** The owner of a credential. A control plane of the same name may be another owner. */
interface CredentialOwner {
  uid: string | undefined;
  tenantId: string;
  clientId: string;
}

/** Each control plane acts by the workload identity that its spec names, proved by a service account of its own. */
export function identities(given: {
  kube: KubeClient;
  entra: EntraOptions;
  /** Called when a credential is not used any more. */
  dropped?: (tokens: TokenSource) => void;
}): Identities {
  const { kube, entra, dropped } = given;
  const credentials = new Map<
    string,
    CredentialOwner & { tokens: TokenSource; latest: HostedControlPlane }
  >();

  let registered: Registered = { controlPlanes: { byIndex: () => [] } };

  const drop = (key: string) => letGo(credentials, key, dropped);

  return {
    credentialOf(controlPlane) {
      const key = keyOf(controlPlane);
      checkVerified(controlPlane, registered);
      const owner = ownerOf(controlPlane);
      checkCloud(controlPlane, entra.cloud);
      const known = credentials.get(key);
      if (known !== undefined && isSame(known, owner)) {
        // Its status may name another kubeconfig by now.
        known.latest = controlPlane;
        return known.tokens;
      }
      drop(key);
      const namespace = controlPlane.metadata.namespace ?? "";
      const proof = () => proofOf(kube, entry.latest, namespace);
      const source = federatedIdentity({ ...owner, proof }, entra);
      // Anybody can write another's client id: what that one has read is shared only after Entra has accepted the proof.
      const tokens = {
        ...source,
        prove: async (signal?: AbortSignal) => void (await source.token(signal)),
      };
      const entry = { ...owner, tokens, latest: controlPlane };
      credentials.set(key, entry);
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

function ownerOf(controlPlane: HostedControlPlane): CredentialOwner {
  const { tenantID, azureAuthenticationConfig: config } = controlPlane.spec.platform.azure ?? {};
  const clientID = config?.workloadIdentities?.controlPlaneOperator?.clientID;
  if (!tenantID) throw missing(controlPlane, "spec.platform.azure.tenantID is empty");
  if (!clientID) throw missing(controlPlane);
  // Entra ignores case, and two spellings must not become two request budgets.
  return {
    uid: controlPlane.metadata.uid,
    tenantId: tenantID.toLowerCase(),
    clientId: clientID.toLowerCase(),
  };
}

/** The namespace's service account proves one identity, so it belongs to one control plane. */
function checkVerified(controlPlane: HostedControlPlane, registered: Registered): void {
  const why = whyUnverified(controlPlane, registered);
  if (why === undefined) return;
  const what = `act in Azure for control plane ${keyOf(controlPlane)}`;
  throw new AzureError({ code: "ControlPlaneNotVerified", what, detail: why });
}

/** A token of one cloud is worth nothing in another. The simulator and Azure Stack stand for any. */
function checkCloud(controlPlane: HostedControlPlane, { name, custom }: Cloud): void {
  const { cloud = name } = controlPlane.spec.platform.azure ?? {};
  if (custom || cloud.toLowerCase() === name.toLowerCase()) return;
  const what = `act in ${cloud} for control plane ${keyOf(controlPlane)}`;
  throw new AzureError({ code: "CloudDiffers", what, detail: `this operator acts in ${name}` });
}

function isSame(a: CredentialOwner, b: CredentialOwner): boolean {
  return a.uid === b.uid && a.tenantId === b.tenantId && a.clientId === b.clientId;
}

function missing(controlPlane: HostedControlPlane, detail?: string): AzureError {
  const what = `act in Azure for control plane ${keyOf(controlPlane)}`;
  return new AzureError({ code: "IdentityMissing", what, detail: detail });
}
