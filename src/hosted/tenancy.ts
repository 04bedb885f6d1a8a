import { byAge, type KubeObject, keyOf } from "../model/kind.ts";
import type { HostedControlPlane } from "../model/kinds/hosted-control-plane.ts";
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

/** Namespaces of Kubernetes, of OpenShift and of everybody: never a control plane's. */
export function isReservedNamespace(name: string): boolean {
  return name === "default" || /^(kube|openshift)-/.test(name);
}

/**
 * Why a control plane is not obeyed; undefined where it is. `beside` are the control planes of its namespace. A namespace
 * has one service account to prove an identity with, so it has one control plane: the oldest that belongs there.
 */
export function whyUnverified(
  controlPlane: HostedControlPlane,
  beside: readonly HostedControlPlane[],
): string | undefined {
  const { namespace = "", name } = controlPlane.metadata;
  if (isReservedNamespace(namespace)) return `namespace ${namespace} is reserved`;
  const cluster = clusterKeyIn(controlPlane);
  if (cluster === undefined)
    return `its annotation ${clusterAnnotation} is not the namespace and name of a HostedCluster, with a slash between them`;
  if (!isAtHome(controlPlane))
    return `the control plane of HostedCluster ${cluster.namespace}/${cluster.name} is ${cluster.name} in namespace ${controlPlaneNamespace(cluster.namespace, cluster.name)}`;
  const first = beside.filter(isAtHome).sort(byAge)[0];
  if (first !== undefined && first.metadata.name !== name)
    return `the namespace belongs to HostedControlPlane ${first.metadata.name}`;
  return undefined;
}

/** The same as a message for people. */
export function unverifiedMessage(
  controlPlane: HostedControlPlane,
  beside: readonly HostedControlPlane[],
): string | undefined {
  const why = whyUnverified(controlPlane, beside);
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
