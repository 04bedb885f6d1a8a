import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import type { HostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";
import { requestAnnotation } from "../../../kube/requests.ts";
import { clusterAnnotation, controlPlaneAccount, controlPlaneNamespace } from "../../names.ts";
import { exactPatch } from "./difference.ts";
import { isMade, madeBy, ownedBy } from "./labels.ts";

/** What may be set for a cluster beside its spec, by annotation. The control plane gets exactly the same. */
const mirrored = "postern.io/";
/** Of these, copies would say something wrong. */
const notCopied = ["kubectl.kubernetes.io/last-applied-configuration", requestAnnotation];

/** The namespace of a cluster's control plane. */
export function desiredNamespace(cluster: HostedCluster): KubeObject {
  const { namespace = "", name } = cluster.metadata;
  return {
    metadata: {
      name: controlPlaneNamespace(namespace, name),
      labels: { ...madeBy, "hypershift.openshift.io/hosted-control-plane": "true" },
      annotations: { [clusterAnnotation]: keyOf(cluster) },
    },
  };
}

/** The control plane of a cluster, as HyperShift copies it. */
export function desiredControlPlane(cluster: HostedCluster): HostedControlPlane {
  const { namespace = "", name, annotations = {} } = cluster.metadata;
  const copied = Object.entries(annotations).filter(([key]) => !notCopied.includes(key));
  return {
    metadata: {
      name,
      namespace: controlPlaneNamespace(namespace, name),
      labels: { ...madeBy },
      annotations: { ...Object.fromEntries(copied), [clusterAnnotation]: keyOf(cluster) },
    },
    spec: cluster.spec,
  };
}

/** The ServiceAccount whose tokens Entra takes for the control plane's identity. HyperShift has one of the same name. */
export function desiredAccount(controlPlane: HostedControlPlane): KubeObject {
  return {
    metadata: {
      name: controlPlaneAccount,
      namespace: controlPlane.metadata.namespace ?? "",
      labels: { ...madeBy },
      ownerReferences: [ownedBy(controlPlane)],
    },
  };
}

/** The merge patch to a control plane as desired; undefined where it is. */
export function controlPlaneChange(
  found: HostedControlPlane,
  desired: HostedControlPlane,
): object | undefined {
  const annotations: Record<string, string | null> = {};
  const [has, should] = [found.metadata.annotations ?? {}, desired.metadata.annotations ?? {}];
  for (const key of Object.keys(has))
    if (key.startsWith(mirrored) && !notCopied.includes(key) && should[key] === undefined)
      annotations[key] = null;
  for (const [key, value] of Object.entries(should))
    if (has[key] !== value) annotations[key] = value;
  const metadata = {
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(!isMade(found) && { labels: { ...madeBy } }),
  };
  const spec = exactPatch(found.spec, desired.spec);
  if (spec === undefined && Object.keys(metadata).length === 0) return undefined;
  return {
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(spec !== undefined && { spec }),
  };
}
