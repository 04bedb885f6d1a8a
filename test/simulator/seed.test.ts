import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSeed } from "@postern/azure-simulator/state/seed-file.ts";
import { expect, onTestFinished, test } from "vitest";
import { startChecked } from "./start.ts";

const example = join(import.meta.dirname, "../../examples/simulator/world.yaml");
const tenant = "a1111111-0000-4000-8000-000000000001";
const subscription = "a1111111-0000-4000-8000-00000000000a";
const head = `tenants:
  - id: ${tenant}
subscriptions:
  - id: ${subscription}
    tenant: ${tenant}
`;

async function start(text: string, options: Parameters<typeof startChecked>[0] = {}) {
  const simulator = await startChecked({ world: readSeed(text, "world.yaml"), ...options });
  onTestFinished(() => simulator.close());
  return simulator;
}

test("the example makes its whole world, done, and its people may do what it says", async () => {
  const simulator = await start(readFileSync(example, "utf8"), {
    operationMs: { "*": 3_600_000 },
  });
  expect([...simulator.store.all()].filter((each) => each.state !== "Succeeded")).toEqual([]);
  expect([...simulator.operations.running()]).toEqual([]);
  const operator = simulator.directory.application("a1111111-0000-4000-8000-0000000000c1");
  expect(operator?.secrets[0]?.value).toMatch(/^[0-9a-f-]{72}$/);
  if (!operator) throw new Error("nobody was added");
  const authorization = `Bearer ${simulator.directory.tokenFor(operator)}`;
  const status = async (method: string, path: string) =>
    (
      await fetch(`${simulator.url}${path}?api-version=2024-05-01`, {
        method,
        headers: { authorization },
      })
    ).status;
  const group = `/subscriptions/${subscription}/resourceGroups/management`;
  const network = `${group}/providers/Microsoft.Network/virtualNetworks/management`;
  expect(await status("GET", `${network}/subnets/nat`)).toBe(200);
  expect(await status("DELETE", group)).toBe(403);
  const service = simulator.store.get(
    `${group}/providers/Microsoft.Network/privateLinkServices/api`,
  );
  expect(simulator.store.count(`${service?.key}/privateendpointconnections`)).toBe(1);
  // The machine's identity gets a token where the machine would ask for one.
  const [machine] = await simulator.machines.list();
  const token = await fetch(
    `${machine?.metadata}/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https://management.azure.com/`,
    { headers: { metadata: "true" } },
  );
  expect(token.status).toBe(200);
});

test.each([
  ["what is not YAML", "tenants: [", "1:11: "],
  ["a list that is not known", `${head}machines: []\n`, "6:1: 'machines' is not known"],
  ["a field that is not known", "tenants:\n  - id: x\n    nmae: y\n", "3:5: tenants[0] has 'nmae'"],
  [
    "a missing field",
    "subscriptions:\n  - name: x\n",
    "2:5: subscriptions[0] must have a text as its 'id'",
  ],
  ["an id that is no guid", "tenants:\n  - id: x\n", "2:9: 'id' of tenants[0] must be a guid"],
  [
    "a tenant that is not listed",
    `subscriptions:\n  - id: ${subscription}\n    tenant: ${tenant}\n`,
    `3:13: subscriptions[0] is in tenant ${tenant}, which is not listed`,
  ],
  [
    "a resource that Azure refuses",
    `${head}resources:
  - id: /subscriptions/${subscription}/resourceGroups/rg
    location: westeurope
  - id: /subscriptions/${subscription}/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/v
    location: westeurope
    properties:
      addressSpace: { addressPrefixes: [10.0.0.0/24] }
      subnets: [{ name: s, properties: { addressPrefix: 10.9.0.0/24 } }]
`,
    "9:9: resources[1] was refused with 400 NetcfgInvalidSubnet",
  ],
  [
    "a type that the simulator does not know",
    `${head}resources:\n  - id: /subscriptions/${subscription}/providers/Microsoft.Web/sites/x\n`,
    "7:9: resources[0] was refused with 501 NotSupportedBySimulator",
  ],
  [
    "a resource in a subscription that is not listed",
    "resources:\n  - id: /subscriptions/none/resourceGroups/rg\n    location: x\n",
    "2:9: resources[0] was refused with 404 SubscriptionNotFound",
  ],
  [
    "a role that is not there",
    `${head}applications: [{ name: a, tenant: ${tenant} }]
roleAssignments:
  - principal: a
    role: King
    scope: /subscriptions/${subscription}
`,
    "9:11: there is no role 'King'",
  ],
  [
    "somebody who is not there",
    `${head}roleAssignments:
  - { principal: nobody, role: Owner, scope: /subscriptions/${subscription} }
`,
    "7:18: roleAssignments[0] is for 'nobody'",
  ],
])("%s is reported with its place", async (_what, text, why) => {
  await expect(async () => start(text)).rejects.toThrow(`cannot seed from world.yaml:${why}`);
});

test("a seed is applied once to a state file, and nothing of a bad one is kept", async () => {
  const folder = mkdtempSync(join(tmpdir(), "st-seed-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const state = { file: join(folder, "state") };
  const group = `/subscriptions/${subscription}/resourceGroups/rg`;
  const good = `${head}resources:\n  - id: ${group}\n    location: westeurope\n`;
  await expect(start(`${good}  - id: ${group}2\n`, { state })).rejects.toThrow("LocationRequired");
  const first = await start(good, { state });
  expect(first.store.get(group)).toBeDefined();
  first.store.remove(group.toLowerCase());
  await first.close();
  const second = await start(good, { state });
  expect(second.store.get(group)).toBeUndefined();
  expect(second.directory.subscriptions()).toEqual([subscription]);
});
