import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { runOnReal } from "../local/guide-commands.ts";
import { findOrBuildKubectl } from "../setup/binaries.ts";
import { testOnReal } from "../setup/differences.ts";
import { describeWhere } from "../setup/needs.ts";
import { describeHosted } from "./hosted/world.ts";
import { parseManifests, readManifest } from "./manifests.ts";

const run = promisify(execFile);
const found = await findOrBuildKubectl((line) => process.stderr.write(`${line}\n`));
const kubectl = "kubectl" in found ? found.kubectl : "";

/** What an installation has in Kubernetes beside the kinds, as the guide to remove it names it. */
const core = "/api/v1/namespaces/postern";
const rbac = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const grants = "/apis/rbac.authorization.k8s.io/v1/namespaces/clusters-one/rolebindings";
const read = (path: string) => parseManifests(readManifest(path))[0] ?? {};
const grant = {
  roleRef: {
    apiGroup: "rbac.authorization.k8s.io",
    kind: "ClusterRole",
    name: "postern-control-plane",
  },
};
const labels = { app: "postern" };
const container = { name: "postern", image: "example.com/postern" };
const installed: [collection: string, name: string, body: object][] = [
  [`${core}/serviceaccounts`, "postern-operator", {}],
  [
    "/apis/apps/v1/namespaces/postern/deployments",
    "postern-operator",
    {
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    },
  ],
  ["/apis/coordination.k8s.io/v1/namespaces/postern/leases", "postern-operator", {}],
  [rbac, "postern-operator", read("rbac/operator.yaml")],
  [rbac, "postern-control-plane", read("rbac/control-plane.yaml")],
  [grants, "postern-control-plane", grant],
  [policies, "postern-link-objects", read("admission/link-objects.yaml")],
];

describeWhere("missing" in found ? found.missing : undefined, "the guide to remove it", () => {
  describeHosted("on an API server", (start) => {
    testOnReal(
      "no-workloads",
      "takes everything of an operator away",
      async () => {
        const { cluster } = await start({ features: () => [] });
        for (const name of ["postern", "clusters-one"])
          await cluster.request("POST", "/api/v1/namespaces", { metadata: { name } });
        for (const [collection, name, body] of installed) {
          const made = await cluster.request("POST", collection, { metadata: { name }, ...body });
          expect(made, name).toMatchObject({ status: 201 });
        }
        const env = {
          ...process.env,
          KUBECONFIG: cluster.kubeconfig,
          PATH: `${dirname(kubectl)}:${process.env.PATH}`,
        };
        for (const command of runOnReal) await run("bash", ["-ec", command], { env });
        for (const [collection, name] of installed)
          expect(await cluster.request("GET", `${collection}/${name}`), name).toMatchObject({
            status: 404,
          });
      },
      90_000,
    );
  });
});
