import { describe, expect, test } from "vitest";
import type { Thing } from "../local/running.ts";
import { golden, guests, management, useCommands } from "./commands.ts";

const on = useCommands();
const slow = 240_000;
const network = "providers/Microsoft.Network";
const until = (what: () => Promise<unknown>) => expect.poll(what, { timeout: 120_000 });
const endpoint = `${guests}/blue/${network}/privateEndpoints/private-router-pe`;

const questions: [name: string, args: string[]][] = [
  ["tree", ["tree"]],
  ["plan", ["plan"]],
  ["doctor", ["doctor"]],
  ["doctor-as-operator", ["doctor", "--as", "operator"]],
  ["trace", ["trace", "api.blue.hypershift.local"]],
  ["approve", ["approve"]],
  ["orphans", ["orphans"]],
  ["adopt", ["adopt", "blue"]],
];

/** What every command says in a state, as it is kept; with its exit code. */
async function say(state: string): Promise<Record<string, string>> {
  const said: Record<string, string> = {};
  for (const [name, args] of questions) {
    const { exitCode, stdout, stderr } = await on.run(...args);
    said[name] = stdout;
    const text = `$ postern ${args.join(" ")}\n${stdout}${stderr}exit code ${exitCode}\n`;
    await expect(golden(text)).toMatchFileSnapshot(`golden/broken-${state}-${name}.txt`);
  }
  return said;
}

const linkPath = (name: string) =>
  `/apis/hypershift.openshift.io/v1beta1/namespaces/clusters-${name}/azureprivatelinkservices/private-router`;
const reasonOf = async (type: string, name = "blue") =>
  (await on.local.kube<Thing>("GET", linkPath(name))).body.status?.conditions?.find(
    (each) => each.type === type,
  )?.reason;
const isHealthy = async () => (await on.run("tree")).exitCode;

/** Ask Azure as the person at the keyboard. */
async function azure<T>(method: string, path: string, body?: object): Promise<T> {
  const you = on.local.ready.azure?.identities.find(({ name }) => name === "you");
  const answer = await fetch(`${on.local.ready.azure?.resourceManagerHttp}${path}`, {
    method,
    headers: { authorization: `Bearer ${you?.token}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return (text === "" ? {} : JSON.parse(text)) as T;
}

describe("what every command says", () => {
  test(
    "while an endpoint is deleted and cannot be created",
    async () => {
      const allow = await on.refuse("Microsoft.Network/privateEndpoints/write");
      await on.change(endpoint);
      await on.run("tree", "blue");
      await until(() => reasonOf("AzurePrivateEndpointAvailable")).toBe(
        "PrivateEndpointCreationFailed",
      );
      const said = await say("endpoint-deleted");
      expect(said.tree?.split("\n")[0]).toMatch(/^✗ cluster clusters\/blue {2}Unavailable for /);
      expect(said.plan?.split("\n")[0]).toMatch(/^✗ clusters\/blue {2}Unavailable for /);
      await allow();
      await until(isHealthy).toBe(0);
    },
    slow,
  );

  test(
    "while a connection is rejected",
    async () => {
      await on.run("reject", "clusters/blue");
      await until(() => reasonOf("AzurePrivateEndpointAvailable")).toBe(
        "PrivateEndpointConnectionRejected",
      );
      const said = await say("connection-rejected");
      expect(said.tree?.split("\n")[0]).toMatch(/Unavailable .*rejected/);
      await on.change(endpoint);
      await until(isHealthy).toBe(0);
    },
    slow,
  );

  test(
    "while the operator has no role",
    async () => {
      const query = "?api-version=2022-04-01";
      const operator = on.local.ready.azure?.identities.find(({ name }) => name === "operator");
      const { value } = await azure<{
        value: { id: string; properties: { principalId: string; scope: string } }[];
      }>(
        "GET",
        `${management}/management/providers/Microsoft.Authorization/roleAssignments${query}`,
      );
      const held = value.filter(({ properties }) => properties.principalId === operator?.objectId);
      expect(held).toHaveLength(1);
      for (const { id } of held) await azure("DELETE", `${id}${query}`);
      // An operator that starts knows nothing from before.
      const { dashboard } = on.local.ready;
      await fetch(`${dashboard.url}/api/actions/kill-leader`, {
        method: "POST",
        headers: { "x-postern": "1", "content-type": "application/json" },
        body: JSON.stringify({ target: "" }),
      });
      // It starts again soon after a page has heard that it is gone.
      await fetch(`${dashboard.url}/api/overview`);
      for (const name of ["blue", "green"])
        await until(() => reasonOf("AzurePLSCreated", name)).toBe("AzureError");
      const said = await say("role-revoked");
      for (const { id, properties } of held) await azure("PUT", `${id}${query}`, { properties });
      // The caller may do everything; the operator may not.
      expect(said.doctor).toContain("✓ Azure permissions of this credential");
      expect(said["doctor-as-operator"]).toContain("✗ Azure permissions of the operator");
      expect(said.tree?.split("\n")[0]).toMatch(
        /clusters\/blue {2}Degraded for .*Cannot read privateLinkServices/,
      );
      await until(isHealthy).toBe(0);
    },
    slow,
  );

  test(
    "while no operator runs",
    async () => {
      const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
      const spec = {
        holderIdentity: "postern-operator-0",
        leaseDurationSeconds: 15,
        renewTime: "2026-01-01T00:00:00.000000Z",
      };
      const metadata = { name: "postern-operator", namespace: "default" };
      await on.local.kube("POST", leases, { metadata, spec });
      const said = await say("operator-dead");
      await on.local.kube("DELETE", `${leases}/postern-operator`);
      expect(said.tree?.split("\n")[0]).toMatch(/clusters\/blue {2}Unknown for .*No operator/);
      expect(said.doctor).toContain("Unknown for");
      expect(await isHealthy()).toBe(0);
    },
    slow,
  );

  test(
    "while the CRD of Postern is missing",
    async () => {
      const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
      const name = "azureprivatelinkservices.hypershift.openshift.io";
      const { body } = await on.local.kube<{ spec: { versions: object[] } }>(
        "GET",
        `${crds}/${name}`,
      );
      // It is there, in a version that nobody asks for: an upgrade has taken the other one away.
      const later = { ...body.spec.versions[0], name: "v1" };
      const versions = [{ ...body.spec.versions[0], served: false, storage: false }, later];
      await on.local.kube("PATCH", `${crds}/${name}`, { spec: { versions } });
      await until(async () => (await on.local.kube("GET", linkPath("blue"))).status).toBe(404);
      const said = await say("crd-missing");
      expect(said.tree?.split("\n")[0]).toMatch(
        /^Not read: azureprivatelinkservices\..*kubectl apply/,
      );
      expect(said.tree).toMatch(/^– cluster clusters\/blue {2}Unknown/m);
      expect(said.plan).toContain("Not planned: AzurePrivateLinkService");
      expect(said.doctor).toMatch(/✗ CRD versions: azureprivatelinkservices/);
      const ready = await fetch(`${on.local.ready.operator.url}/readyz?verbose`);
      expect(await ready.text()).toContain("[-]cache-azureprivatelinkservices failed: not served");
      await on.local.kube("DELETE", `${crds}/${name}`);
      const doctor = await on.run("doctor");
      expect(doctor.exitCode).toBe(3);
      expect(doctor.stdout).toMatch(/✗ CRD versions: azureprivatelinkservices/);
    },
    slow,
  );
});
