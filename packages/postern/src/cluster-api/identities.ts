import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import {
  type AzureClusterIdentity,
  azureClusterIdentity,
} from "@postern/core/kinds/azure-cluster-identity.ts";
import { namespace as namespaceKind } from "@postern/core/kinds/core.ts";
import { type ResourceId, subscriptionOf } from "@postern/core/resource-id.ts";
import {
  allowsIdentity,
  allowsResourceGroup,
  allowsSubscription,
  defaultPolicy,
  type TenantPolicy,
} from "@postern/core/tenant-policy.ts";
import type { Arm, ArmClient } from "../azure/arm.ts";
import { type Cloud, cloudNamed } from "../azure/clouds.ts";
import type { EntraOptions } from "../azure/entra.ts";
import type { AzureError } from "../azure/errors.ts";
import type { TokenSource } from "../azure/tokens.ts";
import type { WatchCache } from "../kube/cache.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Reconcile } from "../kube/reconcile.ts";
import type { Parts, WatchedKind } from "../kube/runtime.ts";
import { whenChanged } from "../kube/when-changed.ts";
import { clusterIdentities, type IdentityName, missing } from "./cluster-identities.ts";
import { GroupClaims } from "./group-claims.ts";
import { annotations, defaultCertificateDirectory } from "./names.ts";
import { policyNamesOf } from "./policy-names.ts";
import { Refusals } from "./refusals.ts";
import { groupTaken, notAllowed } from "./tenancy.ts";

/** Azure as the features of Cluster API reach it: each cluster by its own identity, in its own cloud. */
export interface ClusterArmClients {
  /** Which namespace may use what. */
  readonly policy: TenantPolicy;
  /**
   * By the identity that an AzureCluster names, if that admits it. Without one it is a `ClusterIdentityMissing`; for a
   * cluster that Postern does not act for it is what `refusalOf` says.
   */
  of(cluster: AzureCluster, reconcile: Reconcile): ArmClient;
  /** Why Postern does not act for an AzureCluster; undefined where it does. */
  refusalOf(cluster: AzureCluster): AzureError | undefined;
  /**
   * For a cluster that is no AzureCluster: by the identity that its annotations name, else by that of the flag, else by
   * the management cluster's. Each must admit the namespace of the cluster. `group` is where the cluster is to be. For a
   * cluster that Postern does not act for it is what `referenceRefusalOf` says.
   */
  forReference(infrastructure: KubeObject, reconcile: Reconcile, group?: ResourceId): ArmClient;
  /** Why Postern does not act for a cluster that is no AzureCluster; undefined where it does. */
  referenceRefusalOf(infrastructure: KubeObject, group?: ResourceId): AzureError | undefined;
  /** By the management cluster's identity. */
  management(reconcile: Reconcile): ArmClient;
  /** By the credential of the environment, which is that of the base zone. */
  baseZone(reconcile: Reconcile): ArmClient;
  /**
   * Let a feature use this, and give what requeues it when an identity changes: to be called when it is created, and the answer to
   * be a part of its `also`. `keysOf` says which of the feature's keys an AzureCluster concerns; its own where not given.
   */
  watch(parts: Parts, keysOf?: (cluster: AzureCluster) => string[]): WatchedKind[];
}

/** What the ARM clients need. */
export interface ClusterArmClientOptions {
  /** The ARM client of the operator's own cloud, with the credential of the environment. */
  arm: Arm;
  /** The ARM client of another cloud: created when the first cluster of it comes. */
  armClientFor: (cloud: Cloud) => Arm;
  managementCluster: { namespace: string; name: string };
  /** The identity for clusters of other kinds, by flag. */
  identityRef?: IdentityName | undefined;
  /** Where tokens are requested, beside the cloud. */
  entra?: Omit<EntraOptions, "cloud">;
  /** `AZURE_FEDERATED_TOKEN_FILE` and `AZURE_POD_IDENTITY_AUTHORITY_HOST`. */
  tokenFile?: string | undefined;
  imdsHost?: string | undefined;
  /** Which namespace may use which subscriptions, resource groups and identities. */
  policy?: TenantPolicy;
  /** `--base-domain`: the policy may say who may have which name in it. */
  baseDomain?: string | undefined;
  /** `--allow-cross-namespace-secrets`: whether identities may use Secrets and certificates of other namespaces. */
  acrossNamespaces?: boolean | undefined;
  /** `--certificate-directory`: where the files of `spec.certPath` are. */
  certificateDirectory?: string | undefined;
  /** For a dry run: Azure is read by this credential, where a cluster may use the identity that it names. */
  observeAs?: TokenSource | undefined;
}

/** The views as one process has them. */
export function clusterArmClients(options: ClusterArmClientOptions): ClusterArmClients {
  const { arm, armClientFor, managementCluster, identityRef, entra, tokenFile, imdsHost } = options;
  const { policy = defaultPolicy, acrossNamespaces = false } = options;
  const { certificateDirectory = defaultCertificateDirectory } = options;
  const managementKey = keyOf({ metadata: managementCluster });
  const armClients = new Map<string, Arm>([[arm.cloud.name.toLowerCase(), arm]]);
  let kube: KubeClient | undefined;
  let clusters: WatchCache<AzureCluster> | undefined;
  const claims = new GroupClaims();
  let identityObjects: WatchCache<AzureClusterIdentity> | undefined;
  const identities = clusterIdentities({
    means: (cloud) => ({
      kube: kube as KubeClient,
      entra: { ...entra, cloud },
      tokenFile,
      imdsHost,
      acrossNamespaces,
      certificateDirectory,
    }),
    dropped: (tokens) => {
      for (const armClient of armClients.values()) armClient.forget(tokens);
    },
  });

  const credentialOf: typeof identities.credentialOf = (...request) => {
    const found = identities.credentialOf(...request);
    return options.observeAs ?? found;
  };

  /** The simulator and Azure Stack stand for any cloud, as does no name for the operator's own. */
  const armIn = (environment: string | undefined): Arm => {
    if (arm.cloud.custom || !environment) return arm;
    const cloud = cloudNamed(environment);
    const key = cloud.name.toLowerCase();
    const armClient = armClients.get(key) ?? armClientFor(cloud);
    armClients.set(key, armClient);
    return armClient;
  };

  /** By which a policy may name an identity. */
  const namesOf = (named: IdentityName | undefined): string[] => {
    const key = keyOfReference(named);
    if (key === undefined) return [];
    const identity = identityObjects?.get(key);
    return identity === undefined ? [key] : policyNamesOf(identity);
  };

  const refusals = new Refusals();
  const refused: ClusterArmClients["refusalOf"] = (cluster) =>
    refusals.of({
      cluster,
      policy,
      baseDomain: options.baseDomain,
      identity: namesOf(identityOf(cluster)),
      claimsOn: (group) => claims.of(group),
      stampOf: (group) => claims.stampOf(group),
      management: clusters?.get(managementKey),
    });

  /** By the identity of an AzureCluster, for a cluster of this namespace. */
  const clientBy = (
    cluster: AzureCluster,
    what: string,
    namespace: string,
    reconcile: Reconcile,
  ): ArmClient => {
    const named = identityOf(cluster);
    if (named === undefined) throw missing(what, "its spec.identityRef names none");
    const armClient = armIn(cluster.spec.azureEnvironment);
    return armClient.for(reconcile, credentialOf(named, { what, namespace }, armClient.cloud));
  };

  const of: ClusterArmClients["of"] = (cluster, reconcile) => {
    const refusal = refused(cluster);
    if (refusal !== undefined) throw refusal;
    const what = `act in Azure for AzureCluster ${keyOf(cluster)}`;
    return clientBy(cluster, what, cluster.metadata.namespace ?? "", reconcile);
  };

  const managementObject = (what: string): AzureCluster => {
    const cluster = clusters?.get(managementKey);
    if (cluster !== undefined) return cluster;
    throw missing(what, `there is no AzureCluster ${managementKey}`);
  };

  const management: ClusterArmClients["management"] = (reconcile) =>
    of(managementObject("act in Azure for the management cluster"), reconcile);

  const referenceRefusalOf: ClusterArmClients["referenceRefusalOf"] = (infrastructure, group) => {
    const namespace = infrastructure.metadata.namespace ?? "";
    const whom = calledOf(infrastructure);
    const rules = policy.rulesOf(namespace);
    const refuse = (thing: string) => notAllowed(whom, namespace, thing);
    const named = annotatedOf(infrastructure);
    if (named !== undefined && !namesOf(named).some((each) => allowsIdentity(rules, each)))
      return refuse(`identity ${keyOfReference(named)}`);
    if (group === undefined) return undefined;
    const subscription = subscriptionOf(group) ?? "";
    if (!allowsSubscription(rules, subscription))
      return refuse(`subscription ${JSON.stringify(subscription)}`);
    if (!allowsResourceGroup(rules, group)) return refuse(`resource group ${group}`);
    return groupTaken(whom, {
      object: infrastructure,
      group,
      policy,
      claimsOn: (key) => claims.of(key),
      management: clusters?.get(managementKey),
    });
  };

  const forReference: ClusterArmClients["forReference"] = (infrastructure, reconcile, group) => {
    const refusal = referenceRefusalOf(infrastructure, group);
    if (refusal !== undefined) throw refusal;
    const what = `act in Azure for ${calledOf(infrastructure)}`;
    const namespace = infrastructure.metadata.namespace ?? "";
    const named = annotatedOf(infrastructure) ?? identityRef;
    if (named === undefined) return clientBy(managementObject(what), what, namespace, reconcile);
    return arm.for(reconcile, credentialOf(named, { what, namespace }, arm.cloud));
  };

  const watch: ClusterArmClients["watch"] = (parts, keysOf = (cluster) => [keyOf(cluster)]) => {
    const { caches } = parts;
    kube = parts.kube;
    const azureClusters = caches.of(azureCluster);
    const named = caches.of(azureClusterIdentity);
    // Every feature watches, and they share one cache.
    if (clusters !== azureClusters) azureClusters.onChange((change) => claims.follow(change));
    clusters = azureClusters;
    identityObjects = named;
    identities.follow({
      identities: named,
      namespaces: caches.of(namespaceKind, metadataOnly),
    });
    const users = (identity: AzureClusterIdentity): string[] => {
      const key = keyOf(identity);
      const uses = (cluster: AzureCluster) => keyOfReference(identityOf(cluster)) === key;
      const all = azureClusters.list();
      // What the management cluster and the flag name may be used for every cluster.
      const shared =
        keyOfReference(identityRef) === key ||
        all.some((each) => keyOf(each) === managementKey && uses(each));
      return all.filter((each) => shared || uses(each)).flatMap(keysOf);
    };
    // An identity may admit namespaces by their labels.
    const ofNamespace = whenChanged(
      ({ metadata }) => {
        const all = azureClusters.list();
        const inIt = all.filter((each) => each.metadata.namespace === metadata.name);
        const shared = inIt.some((each) => keyOf(each) === managementKey);
        return (shared ? all : inIt).flatMap(keysOf);
      },
      ({ metadata }) => metadata.labels,
    );
    return [
      { kind: azureClusterIdentity, keys: (changed) => users(changed as AzureClusterIdentity) },
      { kind: namespaceKind, ...metadataOnly, keys: ofNamespace },
    ];
  };

  const baseZone: ClusterArmClients["baseZone"] = (reconcile) => arm.for(reconcile);
  return {
    policy,
    of,
    refusalOf: refused,
    forReference,
    referenceRefusalOf,
    management,
    baseZone,
    watch,
  };
}

const metadataOnly = { metadataOnly: true } as const;

function calledOf(infrastructure: KubeObject): string {
  return `${infrastructure.kind ?? "cluster"} ${keyOf(infrastructure)}`;
}

/** The identity that the annotations of an infrastructure object name. */
function annotatedOf({ metadata }: KubeObject): IdentityName | undefined {
  const name = metadata.annotations?.[annotations.identity];
  const within = metadata.annotations?.[annotations.identityNamespace];
  return name ? { name, namespace: within || (metadata.namespace ?? "") } : undefined;
}

/** The identity that an AzureCluster names, with its namespace. */
export function identityOf(cluster: AzureCluster): IdentityName | undefined {
  const { name, namespace } = cluster.spec.identityRef ?? {};
  return name ? { name, namespace: namespace || (cluster.metadata.namespace ?? "") } : undefined;
}

function keyOfReference(reference: IdentityName | undefined): string | undefined {
  return reference && keyOf({ metadata: reference });
}
