import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import type { AzureAsoManagedControlPlane } from "@postern/core/kinds/azure-aso-managed.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { AzureClusterIdentity } from "@postern/core/kinds/azure-cluster-identity.ts";
import type { AzureManagedControlPlane } from "@postern/core/kinds/azure-managed-control-plane.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { type ProviderConfig, providerConfig } from "@postern/core/kinds/provider-config.ts";
import { type Secret, secret } from "@postern/core/kinds/secret.ts";
import type { TenantPolicy } from "@postern/core/tenant-policy.ts";
import type { WatchCache } from "../../kube/cache.ts";
import type { KubeClient } from "../../kube/client.ts";
import { KubeError } from "../../kube/errors.ts";
import type { OwnObjects } from "../../kube/own-objects.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import { allows } from "../allowed-namespaces.ts";
import { annotations, predecessor, providerConfigFinalizer } from "../names.ts";
import { isPaused } from "../paused.ts";
import { ageOf } from "../tenancy.ts";
import { allowedOf, isSupported, type Source } from "./desired/desired.ts";
import type { Observed } from "./observed.ts";

/** By this name the API server knows what we wrote. */
export const fieldManager = "postern-provider-config";

/** Where everything that is observed comes from. */
export interface Sources {
  kube: KubeClient;
  /** With the index `provider-config-name`. */
  clusters: WatchCache<CapiCluster>;
  azureClusters: WatchCache<AzureCluster>;
  managedControlPlanes: WatchCache<AzureManagedControlPlane>;
  asoControlPlanes: WatchCache<AzureAsoManagedControlPlane>;
  identities: WatchCache<AzureClusterIdentity>;
  /** Metadata are enough. */
  namespaces: WatchCache;
  configs: OwnObjects<ProviderConfig>;
  policy: TenantPolicy;
}

const writers = [fieldManager, predecessor];

/** Who wrote a ProviderConfig: the API server knows, and no tenant can write one. */
async function isOwned(name: string, kube: KubeClient, signal: AbortSignal): Promise<boolean> {
  const found = await kube.get<ProviderConfig>({ kind: providerConfig, name }, signal);
  const fields = found?.metadata.managedFields;
  const entries = (Array.isArray(fields) ? fields : []) as ManagedFields[];
  const managers = entries
    .filter(({ fieldsV1 }) => fieldsV1?.["f:spec"] !== undefined)
    .map(({ manager = "" }) => manager);
  return managers.length > 0 && managers.every((each) => writers.includes(each));
}

interface ManagedFields {
  manager?: string;
  fieldsV1?: { "f:spec"?: object };
}

const credentialFrom = "serviceoperator.azure.com/credential-from";

/** Read everything once. */
export async function observe(
  cluster: CapiCluster,
  sources: Sources,
  reconcile: Reconcile,
): Promise<Observed> {
  const { metadata } = cluster;
  const { namespace = "" } = metadata;
  const { configs, clusters } = sources;
  const served = configs.cache.health().filled;
  const found = served ? await configs.get({ name: metadata.name }, reconcile.signal) : undefined;
  const madeFor = found?.metadata.annotations?.[annotations.madeFor];
  return {
    cluster,
    deleting: metadata.deletionTimestamp !== undefined,
    paused: isPaused(cluster),
    hasFinalizer: hasFinalizer(cluster),
    served,
    found,
    ownerIsThere: madeFor !== undefined && clusters.get(madeFor) !== undefined,
    rival: rivalOf(cluster, clusters),
    isByUs:
      found !== undefined &&
      madeFor === undefined &&
      hasFinalizer(cluster) &&
      (await isOwned(metadata.name, sources.kube, reconcile.signal)),
    desired: allowedOf(
      { name: metadata.name, namespace },
      await sourceOf(cluster, sources, reconcile.signal),
      sources.policy.rulesOf(namespace),
    ),
  };
}

function hasFinalizer({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.includes(providerConfigFinalizer) === true;
}

/** The oldest other Cluster of the same name that has claimed a ProviderConfig and stays. */
function rivalOf(cluster: CapiCluster, clusters: WatchCache<CapiCluster>): Observed["rival"] {
  const [first] = clusters
    .byIndex("provider-config-name", cluster.metadata.name)
    .filter((each) => keyOf(each) !== keyOf(cluster) && hasFinalizer(each))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1));
  return first && { key: keyOf(first), isOlder: ageOf(first) < ageOf(cluster) };
}

async function sourceOf(
  cluster: CapiCluster,
  sources: Sources,
  signal: AbortSignal,
): Promise<Source> {
  if (!isSupported(cluster)) return { from: "nothing" };
  const namespace = cluster.metadata.namespace ?? "";
  const { infrastructureRef, controlPlaneRef } = cluster.spec;
  switch (infrastructureRef?.kind) {
    case "AzureCluster":
      return ofSpec(
        sources.azureClusters.get(`${namespace}/${infrastructureRef.name}`),
        "AzureCluster",
        sources,
      );
    case "AzureManagedCluster":
      return ofSpec(
        sources.managedControlPlanes.get(`${namespace}/${controlPlaneRef?.name}`),
        "AzureManagedControlPlane",
        sources,
      );
    default:
      return ofResources(
        sources.asoControlPlanes.get(`${namespace}/${controlPlaneRef?.name}`),
        sources.kube,
        signal,
      );
  }
}

/** By the identity that an object of CAPZ names, in the namespace that it names, or else beside the Cluster. */
function ofSpec(
  object: AzureCluster | AzureManagedControlPlane | undefined,
  kind: string,
  { identities, namespaces }: Sources,
): Source {
  if (object === undefined) return { from: "absent" };
  const { subscriptionID, identityRef: reference } = object.spec;
  const own = object.metadata.namespace ?? "";
  // The operator before us looked beside the Cluster only, whatever the reference said.
  const candidates = [reference?.namespace || own, own];
  const identity = candidates
    .map((namespace) => identities.get(`${namespace}/${reference?.name}`))
    .find((each) => each !== undefined);
  const { labels } = namespaces.get(own)?.metadata ?? {};
  return {
    from: "identity",
    object: `${kind} ${keyOf(object)}`,
    subscriptionID,
    reference,
    identity,
    admitted: allows(identity?.spec.allowedNamespaces, { name: own, labels }),
  };
}

/** By the Secret that a resource of Azure Service Operator inside the control plane names. */
async function ofResources(
  controlPlane: AzureAsoManagedControlPlane | undefined,
  kube: KubeClient,
  signal: AbortSignal,
): Promise<Source> {
  if (controlPlane === undefined) return { from: "absent" };
  const called = `AzureASOManagedControlPlane ${keyOf(controlPlane)}`;
  const { namespace } = controlPlane.metadata;
  const [name] = (controlPlane.spec.resources ?? []).flatMap(
    (each) => each.metadata?.annotations?.[credentialFrom] || [],
  );
  if (name === undefined)
    return { from: "secret", object: called, secret: undefined, values: undefined };
  const named = { from: "secret", object: called, secret: `${namespace}/${name}` } as const;
  try {
    const found = await kube.get<Secret>({ kind: secret, namespace, name }, signal);
    const values = found && Object.fromEntries(Object.entries(found.data ?? {}).map(decoded));
    return { ...named, values };
  } catch (error) {
    if (error instanceof KubeError && error.status === 403)
      return { ...named, values: "forbidden" };
    throw error;
  }
}

function decoded([key, value]: [string, string]): [string, string] {
  return [key, Buffer.from(value, "base64").toString("utf8")];
}
