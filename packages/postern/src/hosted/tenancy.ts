import { crdName, standInLabel } from "@postern/core/crd.ts";
import { byAge, type KubeObject, keyOf, type OwnerReference } from "@postern/core/kind.ts";
import { customResourceDefinition, namespace } from "@postern/core/kinds/core.ts";
import { type HostedCluster, hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import {
  type HostedControlPlane,
  hostedControlPlane,
} from "@postern/core/kinds/hosted-control-plane.ts";
import { byNamespace } from "../kube/by-namespace.ts";
import type { WatchCache } from "../kube/cache.ts";
import type { Caches } from "../kube/caches.ts";
import type { WatchedKind } from "../kube/runtime.ts";
import { whenChanged } from "../kube/when-changed.ts";
import { clusterAnnotation, controlPlaneNamespace } from "./names.ts";

/**
 * Which HostedCluster a control plane, and everything in its namespace, belongs to. Annotations can be written by
 * anybody with access to a namespace. They count only together with the name of the namespace itself, which follows from
 * the HostedCluster and which no tenant can choose for somebody else.
 */

/** A namespace and a name. */
export interface ClusterKey {
  namespace: string;
  name: string;
}

/** Read `<namespace>/<name>`; undefined where it has another form. */
export function parseClusterKey(text: string | undefined): ClusterKey | undefined {
  const [namespace, name, ...rest] = (text ?? "").split("/");
  return namespace && name && rest.length === 0 ? { namespace, name } : undefined;
}

/** The HostedCluster that the cluster annotation of an object names; undefined where it is absent or not a key. */
export function clusterKeyIn({ metadata }: KubeObject): ClusterKey | undefined {
  return parseClusterKey(metadata.annotations?.[clusterAnnotation]);
}

/** Whether the control plane of a HostedCluster belongs in this namespace. */
export function isHomeOf(namespace: string | undefined, cluster: ClusterKey): boolean {
  return namespace === controlPlaneNamespace(cluster.namespace, cluster.name);
}

/**
 * Whether an object names a HostedCluster whose control plane belongs in another namespace: then it was not written for that
 * cluster, and nothing that it says of it counts.
 */
export function isMisplaced(object: KubeObject): boolean {
  const cluster = clusterKeyIn(object);
  return cluster !== undefined && !isHomeOf(object.metadata.namespace, cluster);
}

/** The HostedCluster that an object in a control-plane namespace belongs to, as namespace/name. */
export function hostedClusterOf(object: KubeObject): string | undefined {
  const cluster = isMisplaced(object) ? undefined : clusterKeyIn(object);
  return cluster && keyOf({ metadata: cluster });
}

/** The namespace of the HostedCluster that an object in a control-plane namespace belongs to. */
export function tenantOf(object: KubeObject): string | undefined {
  return isMisplaced(object) ? undefined : clusterKeyIn(object)?.namespace;
}

/** Namespaces of Kubernetes, of OpenShift and of everybody: never a control plane's. */
export function isReservedNamespace(name: string): boolean {
  return name === "default" || /^(kube|openshift)-/.test(name);
}

/** What control planes are verified by. */
export interface Registered {
  /** With the index `namespace`. */
  controlPlanes: Pick<WatchCache<HostedControlPlane>, "byIndex">;
  /** What lies outside the namespaces of control planes; absent in a process that serves a single one. */
  outside?: {
    clusters: Pick<WatchCache<HostedCluster>, "get">;
    /** Metadata only. */
    namespaces: Pick<WatchCache<KubeObject>, "get">;
    /** Whether Postern creates the control planes, and not HyperShift. */
    createsControlPlanes: () => boolean;
  };
}

/** The cluster that an object names in its annotation, unverified: the key of an index, or none. */
export function annotatedCluster({ metadata }: KubeObject): string[] {
  return [metadata.annotations?.[clusterAnnotation] ?? []].flat();
}

/** The CRDs that Postern installed because HyperShift is not installed. */
export const standIns = { labelSelector: `${standInLabel}=true`, metadataOnly: true } as const;

/** What control planes are verified by, from the caches of a process. */
export function registeredIn(caches: Caches): Registered {
  const controlPlanes = caches.of(hostedControlPlane);
  byNamespace(controlPlanes);
  if (caches.namespace !== undefined) return { controlPlanes };
  const crds = caches.of(customResourceDefinition, standIns);
  return {
    controlPlanes,
    outside: {
      clusters: caches.of(hostedCluster),
      namespaces: caches.of(namespace, { metadataOnly: true }),
      createsControlPlanes: () => crds.get(crdName(hostedCluster)) !== undefined,
    },
  };
}

/** Requeues these keys when it may have changed which control plane of a namespace is verified: only the oldest is. */
export function whenControlPlaneChanges(keys: (controlPlane: KubeObject) => string[]): WatchedKind {
  return {
    kind: hostedControlPlane,
    keys: whenChanged(keys, ({ metadata: { annotations, uid } }) => [
      annotations?.[clusterAnnotation],
      uid,
    ]),
  };
}

/** The control plane that controls an object, by its owner references; it may not exist any more, or be another by now. */
export function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  const controller = metadata.ownerReferences?.find((each) => each.controller === true);
  const is =
    controller?.kind === "HostedControlPlane" &&
    controller.apiVersion.startsWith("hypershift.openshift.io/");
  return is ? controller : undefined;
}

/**
 * Why a control plane is not obeyed; undefined where it is. A namespace has one service account to prove an identity with,
 * so it has one control plane: the oldest that belongs there.
 *
 * Anybody who may create a namespace can call it like that of another's control plane. Therefore the HostedCluster must exist,
 * and where Postern creates the control planes, the Namespace must say that it was created for this cluster. One that is being
 * deleted is obeyed without them: they may not exist any more, and only its own resources are deleted, by its own identity.
 */
export function whyUnverified(
  controlPlane: HostedControlPlane,
  { controlPlanes, outside }: Registered,
): string | undefined {
  const { namespace = "", name, deletionTimestamp } = controlPlane.metadata;
  if (isReservedNamespace(namespace)) return `namespace ${namespace} is reserved`;
  const cluster = clusterKeyIn(controlPlane);
  if (cluster === undefined)
    return `its annotation ${clusterAnnotation} is not the namespace and name of a HostedCluster, with a slash between them`;
  if (!isAtHome(controlPlane))
    return `the control plane of HostedCluster ${cluster.namespace}/${cluster.name} is ${cluster.name} in namespace ${controlPlaneNamespace(cluster.namespace, cluster.name)}`;
  const first = controlPlanes.byIndex("namespace", namespace).filter(isAtHome).sort(byAge)[0];
  if (first !== undefined && first.metadata.name !== name)
    return `the namespace belongs to HostedControlPlane ${first.metadata.name}`;
  if (outside === undefined || deletionTimestamp !== undefined) return undefined;
  const key = `${cluster.namespace}/${cluster.name}`;
  if (outside.clusters.get(key) === undefined) return `HostedCluster ${key} does not exist`;
  const registered = outside.namespaces.get(namespace)?.metadata.annotations?.[clusterAnnotation];
  if (registered === key || (registered === undefined && !outside.createsControlPlanes()))
    return undefined;
  return `namespace ${namespace} was not created for HostedCluster ${key}`;
}

/** The same as a message. */
export function unverifiedMessage(
  controlPlane: HostedControlPlane,
  registered: Registered,
): string | undefined {
  const why = whyUnverified(controlPlane, registered);
  return (
    why &&
    `HostedControlPlane ${keyOf(controlPlane)} is ignored · ${why} · let the HostedCluster create its control plane`
  );
}

function isAtHome(controlPlane: HostedControlPlane): boolean {
  const cluster = clusterKeyIn(controlPlane);
  const { namespace, name } = controlPlane.metadata;
  return cluster !== undefined && name === cluster.name && isHomeOf(namespace, cluster);
}
