import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findOrBuild } from "../setup/binaries.ts";
import { type Cluster, clusterAt } from "../setup/cluster.ts";
import { type ControlPlane, startControlPlane } from "../setup/control-plane.ts";
import { describeWhere } from "../setup/needs.ts";
import { hostedClusters, startLocal, untilAvailable } from "./running.ts";

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

    test("builds the demo there, and leaves the definitions that it has as they are", async () => {
      expect((await cluster.request("POST", definitions, original)).status).toBe(201);
      const local = await startLocal("--speed", "100", "--kubeconfig", cluster.kubeconfig);
      await untilAvailable(local);
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
    }, 240_000);
  },
);
