import { once } from "node:events";
import { readFileSync } from "node:fs";
import { crdOf } from "@postern/core/crd.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findOrBuild } from "../setup/binaries.ts";
import { type Cluster, clusterAt } from "../setup/cluster.ts";
import { type ControlPlane, startControlPlane } from "../setup/control-plane.ts";
import { describeWhere } from "../setup/needs.ts";
import { hostedClusters, spawnLocal, startLocal, untilAvailable } from "./running.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** HyperShift's own definition, as far as it matters here: it is not ours, and it takes anything. */
const original = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "nodepools.hypershift.openshift.io", labels: { of: "hypershift" } },
  spec: {
    group: "hypershift.openshift.io",
    scope: "Namespaced",
    names: {
      kind: "NodePool",
      plural: "nodepools",
      singular: "nodepool",
      listKind: "NodePoolList",
    },
    versions: [
      {
        name: "v1beta1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        },
      },
    ],
  },
};

/** Crossplane's, of a time before the version that is known here. */
const older = {
  ...original,
  metadata: { name: "providerconfigs.azure.upbound.io" },
  spec: {
    ...original.spec,
    group: "azure.upbound.io",
    scope: "Cluster",
    names: {
      kind: "ProviderConfig",
      plural: "providerconfigs",
      singular: "providerconfig",
      listKind: "ProviderConfigList",
    },
    versions: original.spec.versions.map((each) => ({ ...each, name: "v1alpha1" })),
  },
};

/** One of ours that a cluster without Postern does not have. */
const plural = "azureprivatelinkservices.hypershift.openshift.io";

interface Services {
  items: { metadata: object; status: object }[];
}

const found = await findOrBuild((line) => process.stderr.write(`${line}\n`));
describeWhere(
  "missing" in found ? found.missing : undefined,
  "local mode on a real cluster",
  () => {
    let plane: ControlPlane;
    let cluster: Cluster;
    beforeAll(async () => {
      if ("missing" in found) throw new Error(found.missing);
      plane = await startControlPlane(found.binaries);
      cluster = clusterAt(plane.address);
    }, 120_000);
    afterAll(() => plane?.stop());

    test("is refused where a cluster of somebody else's stands, and nothing is made there", async () => {
      await cluster.request("POST", definitions, crdOf(hostedCluster));
      const home = await cluster.namespace();
      const path = `/apis/hypershift.openshift.io/v1beta1/namespaces/${home}/hostedclusters`;
      const theirs = {
        apiVersion: "hypershift.openshift.io/v1beta1",
        kind: "HostedCluster",
        metadata: { name: "theirs" },
        spec: { platform: { type: "None" } },
      };
      const made = async () => (await cluster.request("POST", path, theirs)).status;
      await expect.poll(made).toBe(201);

      const args = ["--port-base", "0", "--kubeconfig", cluster.kubeconfig];
      const { child, output } = spawnLocal(args);
      await once(child, "close");
      expect(child.exitCode).toBe(1);
      expect(output()).toMatch(
        new RegExp(`has HostedCluster ${home}/theirs, which local mode did not create\\. .* label`),
      );
      expect((await cluster.request("GET", "/api/v1/namespaces/clusters")).status).toBe(404);
      expect((await cluster.request("GET", `${definitions}/${plural}`)).status).toBe(404);
      await cluster.request("DELETE", `${path}/theirs`);
    }, 120_000);

    test("builds the demo there, and leaves the definitions that it has as they are", async () => {
      for (const each of [original, older])
        expect((await cluster.request("POST", definitions, each)).status).toBe(201);
      const home = await cluster.namespace();
      const services = `/api/v1/namespaces/${home}/services`;
      for (const [name, finalizers] of [
        ["waits", []],
        // As the cloud provider of that cluster leaves it.
        ["served", ["service.kubernetes.io/load-balancer-cleanup"]],
      ] as const) {
        const spec = { type: "LoadBalancer", ports: [{ port: 443 }] };
        await cluster.request("POST", services, { metadata: { name, finalizers }, spec });
      }
      const status = { loadBalancer: { ingress: [{ ip: "192.0.2.7" }] } };
      const patch = { contentType: "application/merge-patch+json" };
      await cluster.request("PATCH", `${services}/served/status`, { status }, patch);
      const theirs = async () => (await cluster.request<Services>("GET", services)).body.items;
      const before = await theirs();
      expect(before).toHaveLength(2);

      const local = await startLocal("--speed", "100", "--kubeconfig", cluster.kubeconfig);
      await untilAvailable(local);
      expect(local.output()).toContain("providerconfigs of azure.upbound.io/v1beta1");
      expect(local.ready.kubernetes.url).toBe(cluster.url);
      const { body } = await cluster.request<typeof original>(
        "GET",
        `${definitions}/${original.metadata.name}`,
      );
      expect(body.metadata.labels).toEqual({ of: "hypershift" });
      const blue = await cluster.request<{
        status: { conditions: { type: string; status: string }[] };
      }>("GET", `${hostedClusters}/blue`);
      expect(blue.body.status.conditions).toContainEqual(
        expect.objectContaining({ type: "AzurePrivateLinkServiceAvailable", status: "True" }),
      );
      // The kubeconfig that it names leads to the same cluster, and to the Azure beside it.
      const text = readFileSync(local.ready.kubeconfig, "utf8");
      expect(text).toContain(cluster.url);
      expect(text).toContain("postern.io/local");
      expect(await theirs()).toEqual(before);

      // What it made there is known to be its own by the next one.
      await local.end();
      await startLocal("--scenario", "empty", "--kubeconfig", cluster.kubeconfig);
    }, 240_000);
  },
);
