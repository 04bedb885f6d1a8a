import { expect } from "vitest";
import type { HostedWorld, Thing } from "../hosted/world.ts";
import { makeCluster, makeReady } from "./dns-world.ts";

export const group = "infrastructure.cluster.x-k8s.io";
export const vspherePath = `/apis/${group}/v1beta1/namespaces/org/vsphereclusters`;

/** A kind of infrastructure that Postern has never heard of. */
const vsphereDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `vsphereclusters.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: {
      kind: "VSphereCluster",
      plural: "vsphereclusters",
      singular: "vspherecluster",
      listKind: "VSphereClusterList",
    },
    versions: [
      {
        name: "v1beta1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        },
      },
    ],
  },
};
/** The infrastructure object of a cluster, as it is now. */
export const vsphere = async (world: HostedWorld, name: string): Promise<Thing> =>
  (await world.cluster.request<Thing>("GET", `${vspherePath}/${name}`)).body;

/** A cluster on vSphere, provisioned. */
export async function onVsphere(world: HostedWorld, name: string, host?: string) {
  await world.cluster.request(
    "POST",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    vsphereDefinition,
  );
  await expect
    .poll(async () => (await world.cluster.request("GET", vspherePath)).status, {
      timeout: 20_000,
    })
    .toBe(200);
  const annotations = { "azure-resourcegroup-tag.team": "a" };
  await world.cluster.request("POST", vspherePath, {
    apiVersion: `${group}/v1beta1`,
    kind: "VSphereCluster",
    metadata: { namespace: "org", name, annotations },
  });
  const cluster = await makeCluster(world, name, {
    spec: {
      infrastructureRef: { apiGroup: group, kind: "VSphereCluster", name },
      ...(host && { controlPlaneEndpoint: { host, port: 6443 } }),
    },
  });
  await makeReady(world, { cluster });
  await world.settled();
  return cluster;
}
