import { expect, test } from "vitest";
import { fakeArm } from "../../../../test/azure/fake-arm.ts";
import { json, serve } from "../../../../test/loopback.ts";
import { KubeClient } from "../kube/client.ts";
import { principalOf } from "./principal.ts";
import type { Session } from "./session.ts";

const [operators, tenants] = [
  "11111111-1111-4111-8111-111111111111",
  "22222222-2222-4222-8222-222222222222",
];
const nothing = { hostedClusters: [], controlPlanes: [], links: [], azureClusters: [] };

const account = (namespace: string, clientId: string) => ({
  metadata: {
    ...{ namespace, name: "postern-operator", labels: { "app.kubernetes.io/name": "postern" } },
    annotations: { "azure.workload.identity/client-id": clientId },
  },
});

/** What `--as operator` says with these ServiceAccounts, of which the cluster-wide bindings name that in `postern`. */
async function asOperator(accounts: ReturnType<typeof account>[], env: NodeJS.ProcessEnv = {}) {
  const { url } = await serve(({ url }, response) => {
    const [path = ""] = url.split("?");
    const found = accounts.find(
      ({ metadata: { namespace, name } }) =>
        path === `/api/v1/namespaces/${namespace}/serviceaccounts/${name}`,
    );
    const subjects = [{ kind: "ServiceAccount", namespace: "postern", name: "postern-operator" }];
    if (path.endsWith("/clusterrolebindings/postern-token-review"))
      return json(response, 200, { metadata: { name: "postern-token-review" }, subjects });
    if (path.endsWith("/serviceaccounts"))
      return json(response, 200, { items: accounts, metadata: {} });
    return found ? json(response, 200, found) : json(response, 404, {});
  });
  const { arm } = await fakeArm((_, response) => json(response, 200, { value: [] }));
  const proof = async () => ({});
  const kube = new KubeClient({ server: new URL(url), namespace: "", source: "the test", proof });
  const signal = AbortSignal.timeout(20_000);
  const session = { kube, signal, env, reading: arm, local: undefined } as unknown as Session;
  const found = await principalOf(session, "operator", nothing);
  return "why" in found ? `${found.why} ${found.remedy}` : found.id;
}

test("attack: a tenant creates a ServiceAccount like the operator's in an earlier namespace, and is not taken for the operator", async () => {
  const accounts = [account("a", tenants ?? ""), account("postern", operators ?? "")];
  expect(await asOperator(accounts)).toContain(operators);
});

test("attack: a client id is a command, and no command is suggested that runs it", async () => {
  const command = "x$(touch /tmp/ran)";
  expect(await asOperator([account("postern", command)])).toBe(
    "No ServiceAccount of an operator names its identity. Name it: postern doctor --as CLIENT_ID",
  );
  expect(await asOperator([], { AZURE_PLS_CLIENT_ID: command })).toContain(`--id '${command}' `);
});
