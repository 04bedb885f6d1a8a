import type { Arm, ArmView } from "../azure/arm.ts";
import { type Cloud, cloudNamed } from "../azure/clouds.ts";
import type { EntraOptions } from "../azure/entra.ts";
import type { WatchCache } from "../kube/cache.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Pass } from "../kube/pass.ts";
import type { Also, Parts } from "../kube/runtime.ts";
import { whenItMatters } from "../kube/when-it-matters.ts";
import { type KubeObject, keyOf } from "../model/kind.ts";
import { type AzureCluster, azureCluster } from "../model/kinds/azure-cluster.ts";
import {
  type AzureClusterIdentity,
  azureClusterIdentity,
} from "../model/kinds/azure-cluster-identity.ts";
import { namespace as namespaceKind } from "../model/kinds/core.ts";
import { secret as secretKind } from "../model/kinds/secret.ts";
import { clusterIdentities, type IdentityName, missing } from "./cluster-identities.ts";
import { secretPlace } from "./identity-secret.ts";
import { annotations } from "./names.ts";

/** Azure as the features of Cluster API reach it: each cluster by its own identity, in its own cloud. */
export interface CapiViews {
  /** By the identity that an AzureCluster names, if that admits it. Without one it is a `ClusterIdentityMissing`. */
  of(cluster: AzureCluster, pass: Pass): ArmView;
  /**
   * For a cluster that is no AzureCluster: by the identity that its annotations name, else by the one that the operator was
   * told to use, else by the management cluster's.
   */
  forReference(infrastructure: KubeObject, pass: Pass): ArmView;
  /** By the management cluster's identity. */
  management(pass: Pass): ArmView;
  /** By the credential of the environment, which is that of the base zone. */
  baseZone(pass: Pass): ArmView;
  /**
   * Let a feature use this, and give what wakes it when an identity changes: to be called when it is made, and the answer to
   * be a part of its `also`. `keysOf` says which of the feature's keys an AzureCluster concerns; its own where not given.
   */
  watch(parts: Parts, keysOf?: (cluster: AzureCluster) => string[]): Also[];
}

/** What the views are made of. */
export interface CapiViewOptions {
  /** The road to the operator's own cloud, with the credential of the environment. */
  arm: Arm;
  /** The road to another cloud: made when the first cluster of it comes. */
  roadTo: (cloud: Cloud) => Arm;
  managementCluster: { namespace: string; name: string };
  /** The identity for clusters of other kinds, by flag. */
  identityRef?: IdentityName | undefined;
  /** Where tokens are asked for, beside the cloud. */
  entra?: Omit<EntraOptions, "cloud">;
  /** `AZURE_FEDERATED_TOKEN_FILE` and `AZURE_POD_IDENTITY_AUTHORITY_HOST`. */
  tokenFile?: string | undefined;
  imdsHost?: string | undefined;
}

/** The views as one process has them. */
export function capiViews(options: CapiViewOptions): CapiViews {
  const { arm, roadTo, managementCluster, identityRef, entra, tokenFile, imdsHost } = options;
  const managementKey = keyOf({ metadata: managementCluster });
  const roads = new Map<string, Arm>([[arm.cloud.name.toLowerCase(), arm]]);
  let kube: KubeClient | undefined;
  let clusters: WatchCache<AzureCluster> | undefined;
  const identities = clusterIdentities({
    means: (cloud) => ({
      kube: kube as KubeClient,
      entra: { ...entra, cloud },
      tokenFile,
      imdsHost,
    }),
    dropped: (identity) => {
      for (const road of roads.values()) road.forget(identity);
    },
  });

  /** The simulator and Azure Stack stand for any cloud, as does no name for the operator's own. */
  const roadIn = (environment: string | undefined): Arm => {
    if (arm.cloud.custom || !environment) return arm;
    const cloud = cloudNamed(environment);
    const key = cloud.name.toLowerCase();
    const road = roads.get(key) ?? roadTo(cloud);
    roads.set(key, road);
    return road;
  };

  const of: CapiViews["of"] = (cluster, pass) => {
    const what = `act in Azure for AzureCluster ${keyOf(cluster)}`;
    const named = referenceOf(cluster);
    if (named === undefined) throw missing(what, "its spec.identityRef names none");
    const road = roadIn(cluster.spec.azureEnvironment);
    const asker = { what, namespace: cluster.metadata.namespace ?? "" };
    return road.for(pass, identities.credentialOf(named, asker, road.cloud));
  };

  const management: CapiViews["management"] = (pass) => {
    const cluster = clusters?.get(managementKey);
    if (cluster !== undefined) return of(cluster, pass);
    const what = "act in Azure for the management cluster";
    throw missing(what, `there is no AzureCluster ${managementKey}`);
  };

  const forReference: CapiViews["forReference"] = (infrastructure, pass) => {
    const { metadata, kind = "cluster" } = infrastructure;
    const what = `act in Azure for ${kind} ${keyOf(infrastructure)}`;
    const name = metadata.annotations?.[annotations.identity];
    if (name) {
      const within = metadata.annotations?.[annotations.identityNamespace];
      const namespace = metadata.namespace ?? "";
      const named = { name, namespace: within || namespace };
      return arm.for(pass, identities.credentialOf(named, { what, namespace }, arm.cloud));
    }
    if (identityRef === undefined) return management(pass);
    const asker = { what, namespace: undefined };
    return arm.for(pass, identities.credentialOf(identityRef, asker, arm.cloud));
  };

  const watch: CapiViews["watch"] = (parts, keysOf = (cluster) => [keyOf(cluster)]) => {
    const { caches } = parts;
    kube = parts.kube;
    const known = caches.of(azureCluster);
    const named = caches.of(azureClusterIdentity);
    clusters = known;
    identities.follow({
      identities: named,
      secrets: caches.of(secretKind, metadataOnly),
      namespaces: caches.of(namespaceKind, metadataOnly),
    });
    const users = (identity: AzureClusterIdentity): string[] => {
      const key = keyOf(identity);
      const uses = (cluster: AzureCluster) => keyOfReference(referenceOf(cluster)) === key;
      const all = known.list();
      // What the management cluster and the flag name may be used for every cluster.
      const shared =
        keyOfReference(identityRef) === key ||
        all.some((each) => keyOf(each) === managementKey && uses(each));
      return all.filter((each) => shared || uses(each)).flatMap(keysOf);
    };
    const ofSecret = (changed: KubeObject): string[] =>
      named
        .list()
        .filter((identity) => {
          const place = secretPlace(identity);
          return place !== undefined && keyOf({ metadata: place }) === keyOf(changed);
        })
        .flatMap(users);
    // An identity may admit namespaces by their labels.
    const ofNamespace = whenItMatters(
      ({ metadata }) => {
        const all = known.list();
        const inIt = all.filter((each) => each.metadata.namespace === metadata.name);
        const shared = inIt.some((each) => keyOf(each) === managementKey);
        return (shared ? all : inIt).flatMap(keysOf);
      },
      ({ metadata }) => metadata.labels,
    );
    return [
      { kind: azureClusterIdentity, keys: (changed) => users(changed as AzureClusterIdentity) },
      { kind: secretKind, ...metadataOnly, keys: ofSecret },
      { kind: namespaceKind, ...metadataOnly, keys: ofNamespace },
    ];
  };

  return { of, forReference, management, baseZone: (pass) => arm.for(pass), watch };
}

const metadataOnly = { metadataOnly: true } as const;

/** The identity that an AzureCluster names, with its namespace. */
export function referenceOf(cluster: AzureCluster): IdentityName | undefined {
  const { name, namespace } = cluster.spec.identityRef ?? {};
  return name ? { name, namespace: namespace || (cluster.metadata.namespace ?? "") } : undefined;
}

function keyOfReference(reference: IdentityName | undefined): string | undefined {
  return reference && keyOf({ metadata: reference });
}
