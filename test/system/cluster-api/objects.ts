import { apiVersionOf, type Kind } from "@postern/core/kind.ts";
import { azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { azureClusterIdentity } from "@postern/core/kinds/azure-cluster-identity.ts";
import { capiCluster } from "@postern/core/kinds/capi-cluster.ts";
import { kubeadmControlPlane } from "@postern/core/kinds/kubeadm-control-plane.ts";
import type { HostedWorld, Thing } from "../hosted/world.ts";

export const management = { namespace: "org-mc", name: "mc" };

/** Objects of Cluster API, with only what differs said by the test. */
const of = (kind: Kind, namespace: string, name: string, rest: object) => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata: { namespace, name },
  ...rest,
});

export function azureClusterObject(namespace: string, name: string, spec: object = {}) {
  return of(azureCluster, namespace, name, {
    spec: {
      location: "westeurope",
      resourceGroup: name,
      subscriptionID: "11111111-1111-4111-8111-111111111111",
      identityRef: { kind: "AzureClusterIdentity", name: "one" },
      networkSpec: { apiServerLB: { type: "Internal" } },
      ...spec,
    },
  });
}

export function clusterObject(namespace: string, name: string, spec: object = {}) {
  const ref = (group: string, kind: string) => ({
    apiGroup: `${group}.cluster.x-k8s.io`,
    kind,
    name,
  });
  return of(capiCluster, namespace, name, {
    spec: {
      infrastructureRef: ref("infrastructure", "AzureCluster"),
      controlPlaneRef: ref("controlplane", "KubeadmControlPlane"),
      ...spec,
    },
  });
}

export function identityObject(namespace: string, name: string, spec: object = {}) {
  return of(azureClusterIdentity, namespace, name, {
    spec: {
      type: "WorkloadIdentity",
      clientID: "client",
      tenantID: "tenant",
      allowedNamespaces: {},
      ...spec,
    },
  });
}

/** A control plane that a Cluster owns, as Cluster API leaves it. */
export function controlPlaneObject({ metadata }: Thing, over: object = {}) {
  const owner = { apiVersion: apiVersionOf(capiCluster), kind: "Cluster", controller: true };
  const made = of(kubeadmControlPlane, metadata.namespace, metadata.name, { spec: {} });
  const ownerReferences = [{ ...owner, name: metadata.name, uid: metadata.uid }];
  return { ...made, metadata: { ...made.metadata, ownerReferences, ...over } };
}

export async function namespaces(world: HostedWorld, ...names: string[]): Promise<void> {
  for (const name of names)
    await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name } });
}

/** Set a label of a namespace; null takes it away. */
export function labelNamespace(world: HostedWorld, name: string, labels: object): Promise<Thing> {
  const metadata = { name, namespace: "" } as Thing["metadata"];
  return world.patch({ kind: "Namespace", metadata } as Thing, { metadata: { labels } });
}

/** Set conditions of an AzureCluster, as CAPZ and the features do. */
export function conditionsOf(statuses: Record<string, string>) {
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  const conditions = Object.entries(statuses).map(([type, status]) => ({
    type,
    status,
    lastTransitionTime,
  }));
  return { status: { conditions } };
}
