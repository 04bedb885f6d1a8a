import type { AzureClusterIdentity } from "@postern/core/kinds/azure-cluster-identity.ts";
import type { Cloud } from "../azure/clouds.ts";
import { AzureError } from "../azure/errors.ts";
import { letGo, type TokenSource } from "../azure/tokens.ts";
import type { WatchCache } from "../kube/cache.ts";
import { allows } from "./allowed-namespaces.ts";
import { type Means, tokensOf } from "./identity-tokens.ts";

/** Names an AzureClusterIdentity. */
export interface IdentityName {
  namespace: string;
  name: string;
}

/** What is read of Kubernetes to know who may act by what. */
export interface IdentityCaches {
  identities: Pick<WatchCache<AzureClusterIdentity>, "get" | "onChange">;
  /** Metadata are enough. */
  namespaces: Pick<WatchCache, "get">;
}

/** Who requests a credential. */
export interface Requester {
  /** For messages: `act in Azure for AzureCluster a/b`. */
  what: string;
  /** The namespace of the cluster. */
  namespace: string;
}

/** The credentials of all AzureClusterIdentities that one process acts by. */
export interface ClusterIdentities {
  /** The credential of the identity that is named, for one who may use it. Anything else is an `AzureError`. */
  credentialOf(named: IdentityName, requester: Requester, cloud: Cloud): TokenSource;
  /** Read from these caches from now on. */
  follow(caches: IdentityCaches): void;
}

/**
 * One source of tokens for each identity and cloud. It is dropped when the identity changes, so nothing that was taken
 * back goes on being used.
 */
export function clusterIdentities(given: {
  means: (cloud: Cloud) => Means;
  /** Told when a credential is not used any more. */
  dropped?: (tokens: TokenSource) => void;
}): ClusterIdentities {
  const { means, dropped } = given;
  const sources = new Map<string, { of: string; stamp: string; tokens: TokenSource }>();
  let caches: IdentityCaches | undefined;

  const drop = (key: string) => letGo(sources, key, dropped);

  return {
    credentialOf(named, requester, cloud) {
      if (caches === undefined) throw new Error("identities are asked for before they are watched");
      const name = `${named.namespace}/${named.name}`;
      const identity = caches.identities.get(name);
      if (identity === undefined)
        throw missing(requester.what, `there is no AzureClusterIdentity ${name}`);
      checkNamespace(identity, requester, caches.namespaces);
      const key = `${name} ${cloud.name}`;
      const stamp = stampOf(identity);
      const known = sources.get(key);
      if (known?.stamp === stamp) return known.tokens;
      drop(key);
      const source = tokensOf(identity, means(cloud));
      // Anybody can write down the client id of another: what was read with that one is not given for an id alone.
      const prove = async (signal?: AbortSignal) => void (await source.token(signal));
      const tokens = { ...source, prove };
      sources.set(key, { of: name, stamp, tokens });
      return tokens;
    },
    follow(given) {
      if (caches?.identities === given.identities) return;
      // Earlier sources read with the earlier client.
      for (const key of [...sources.keys()]) drop(key);
      caches = given;
      given.identities.onChange(({ key, after }) => {
        if (after !== undefined) return;
        for (const [each, { of }] of sources) if (of === key) drop(each);
      });
    },
  };
}

export function missing(what: string, detail: string): AzureError {
  return new AzureError({ code: "ClusterIdentityMissing", what, detail });
}

function checkNamespace(
  identity: AzureClusterIdentity,
  { what, namespace }: Requester,
  namespaces: IdentityCaches["namespaces"],
): void {
  const labels = namespaces.get(namespace)?.metadata.labels;
  if (allows(identity.spec.allowedNamespaces, { name: namespace, labels })) return;
  const { metadata } = identity;
  throw new AzureError({
    code: "NamespaceNotAllowed",
    what,
    detail: `AzureClusterIdentity ${metadata.namespace}/${metadata.name} does not admit namespace ${namespace}`,
  });
}

/** All fields that a source of tokens depends on. */
function stampOf({ metadata, spec }: AzureClusterIdentity): string {
  const { type, tenantID, clientID, clientSecret, certPath } = spec;
  return JSON.stringify([metadata.uid, type, tenantID, clientID, clientSecret, certPath]);
}
