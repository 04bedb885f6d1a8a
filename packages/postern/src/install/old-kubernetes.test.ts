import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import { runPostern } from "../../../../test/install/run-postern.ts";

const id = "00000000-0000-4000-8000-000000000001";
const flags = [
  ...["--image", "registry.example.com/postern:v1", "--azure-pls-resource-group", "management"],
  ...["--azure-pls-managed-identity-client-id", id, "--azure-pls-subscription-id", id],
];

/** An API server that is not here: of that minor version, and without admission policies where it is told so. */
async function startApi(minor: string, admissionPolicies: boolean): Promise<string> {
  const kinds: Record<string, string[]> = {
    "/api/v1": ["Namespace", "ServiceAccount", "Service", "ConfigMap"],
    "/apis/apiextensions.k8s.io/v1": ["CustomResourceDefinition"],
    "/apis/rbac.authorization.k8s.io/v1": [
      ...["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"],
    ],
    "/apis/apps/v1": ["Deployment"],
    "/apis/policy/v1": ["PodDisruptionBudget"],
    "/apis/networking.k8s.io/v1": ["NetworkPolicy"],
    ...(admissionPolicies && {
      "/apis/admissionregistration.k8s.io/v1": [
        ...["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"],
      ],
    }),
  };
  const server = createServer((request, response) => {
    const answer = (body: object, status = 200) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    const [path = ""] = (request.url ?? "").split("?");
    if (path === "/version") return answer({ major: "1", minor, gitVersion: `v1.${minor}.0` });
    if (path.endsWith("selfsubjectreviews")) return answer({ metadata: {}, status: {} }, 201);
    const served = kinds[path];
    if (served) return answer({ resources: served.map((kind) => ({ kind })) });
    request.setEncoding("utf8");
    let body = "";
    request.on("data", (part) => {
      body += part;
    });
    // What is applied is accepted; nothing is there before.
    request.on("end", () => {
      if (request.method === "PATCH") answer(JSON.parse(body));
      else answer({ kind: "Status", reason: "NotFound", message: "not found" }, 404);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const folder = mkdtempSync(join(tmpdir(), "postern-old-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { port } = server.address() as AddressInfo;
  const kubeconfig = join(folder, "config");
  const config = {
    "current-context": "old",
    contexts: [{ name: "old", context: { cluster: "old", user: "old" } }],
    clusters: [{ name: "old", cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: "old", user: { token: "t" } }],
  };
  writeFileSync(kubeconfig, stringify(config));
  return kubeconfig;
}

test("an install on a Kubernetes that is too old says so once, with the remedy, and changes nothing", async () => {
  const kubeconfig = await startApi("29", false);
  const { code, err } = await runPostern("install", "--kubeconfig", kubeconfig, ...flags);
  expect(code).toBe(1);
  expect(err).toMatch(
    /nothing was changed\. Kubernetes version: 127\.0\.0\.1:\d+: The cluster runs Kubernetes v1\.29\.0\. Upgrade the cluster: Postern needs Kubernetes 1\.30 or later\.$/m,
  );
});

test("a kind of Kubernetes itself that is not served has a remedy of its own", async () => {
  const kubeconfig = await startApi("30", false);
  const { err } = await runPostern("install", "--kubeconfig", kubeconfig, ...flags);
  expect(err).toContain("nothing was changed. 2 objects were rejected");
  for (const kind of ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"])
    expect(err).toContain(
      `the cluster does not serve the kind ${kind} of admissionregistration.k8s.io/v1: use Kubernetes 1.30 or later with this API enabled`,
    );
  const all = await startApi("30", true);
  const dry = await runPostern("install", "--kubeconfig", all, "--dry-run", ...flags);
  expect(dry.err).toBe("");
  expect(dry.out).toContain("+ Deployment postern/postern-operator");
});
