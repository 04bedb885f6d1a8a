import { expect } from "vitest";
import type { HostedWorld, Thing } from "../hosted/world.ts";
import { makeCluster, makeReady } from "./dns-world.ts";

export const group = "infrastructure.cluster.x-k8s.io";
export const vspherePath = `/apis/${group}/v1beta1/namespaces/org/vsphereclusters`;
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** A version of a kind, by its name. Only the first one is stored. */
export interface ServedVersion {
  name: string;
  served?: boolean;
}

/** The definition of a kind of infrastructure that Postern has never heard of. */
function definitionOf(kind: string, versions: readonly ServedVersion[], labels: object) {
  const singular = kind.toLowerCase();
  const schema = {
    openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${singular}s.${group}`, labels },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural: `${singular}s`, singular, listKind: `${kind}List` },
      versions: versions.map(({ name, served = true }, index) => ({
        name,
        served,
        storage: index === 0,
        subresources: { status: {} },
        schema,
      })),
    },
  };
}

/** Install a kind of infrastructure in these versions, or change in which of them it is served. */
export async function install(
  world: HostedWorld,
  kind: string,
  versions: readonly ServedVersion[],
  labels: Record<string, string> = {},
): Promise<void> {
  const definition = definitionOf(kind, versions, labels);
  const { name } = definition.metadata;
  const { request } = world.cluster;
  const { status } = await request("POST", definitions, definition);
  if (status === 409) {
    const { body } = await request<Thing>("GET", `${definitions}/${name}`);
    const { resourceVersion } = body.metadata;
    const metadata = { ...definition.metadata, resourceVersion };
    await request("PUT", `${definitions}/${name}`, { ...definition, metadata });
  }
  for (const { name: version, served = true } of versions)
    await expect
      .poll(async () => (await request("GET", `${pathOf(kind, version)}`)).status, {
        timeout: 20_000,
      })
      .toBe(served ? 200 : 404);
}

/** The objects of a kind of infrastructure in the namespace of the clusters. */
export function pathOf(kind: string, version = "v1beta1"): string {
  return `/apis/${group}/${version}/namespaces/org/${kind.toLowerCase()}s`;
}

/** The infrastructure object of a cluster, as it is now. */
export const vsphere = async (world: HostedWorld, name: string): Promise<Thing> =>
  (await world.cluster.request<Thing>("GET", `${vspherePath}/${name}`)).body;

/** A cluster on vSphere, provisioned. */
export async function onVsphere(world: HostedWorld, name: string, host?: string) {
  await install(world, "VSphereCluster", [{ name: "v1beta1" }]);
  return onOther(world, "VSphereCluster", name, host);
}

/** A cluster of another provider, whose kind is installed, provisioned. */
export async function onOther(world: HostedWorld, kind: string, name: string, host?: string) {
  const annotations = { "azure-resourcegroup-tag.team": "a" };
  await world.cluster.request("POST", pathOf(kind), {
    apiVersion: `${group}/v1beta1`,
    kind,
    metadata: { namespace: "org", name, annotations },
  });
  const cluster = await makeCluster(world, name, {
    spec: {
      infrastructureRef: { apiGroup: group, kind, name },
      ...(host && { controlPlaneEndpoint: { host, port: 6443 } }),
    },
  });
  await makeReady(world, { cluster });
  await world.settled();
  return cluster;
}
