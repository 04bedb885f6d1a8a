// A process that writes to a simulator with a state file until it is killed, and prints each number whose write was
// answered.
import { writeSync } from "node:fs";
import { noLimits } from "@postern/azure-simulator/arm/throttle.ts";
import { startSimulator } from "@postern/azure-simulator/simulator.ts";

const [file = "", from = "0"] = process.argv.slice(2);
const subscription = "11111111-1111-4111-8111-111111111111";
const tenant = "22222222-2222-4222-8222-222222222222";
const simulator = await startSimulator({
  state: { file },
  operationMs: { "*": 30 },
  limits: noLimits,
});
simulator.directory.addSubscription(subscription, tenant);
const owner = { tenant, objectId: "owner-object", appId: "owner-app" };
simulator.roles.makeOwner(owner);
const authorization = `Bearer ${simulator.directory.tokenFor(owner)}`;
const group = `/subscriptions/${subscription}/resourceGroups/rg`;

async function put(path: string, body: unknown): Promise<void> {
  const response = await fetch(`${simulator.url}${path}?api-version=2024-05-01`, {
    method: "PUT",
    headers: { authorization },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

await put(group, { location: "westeurope" });
let next = Number(from);
await Promise.all(
  Array.from({ length: 4 }, async () => {
    for (;;) {
      const number = next++;
      await put(`${group}/providers/Microsoft.Network/virtualNetworks/v${number}`, {
        location: "westeurope",
        properties: {
          addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
          subnets: [0, 1, 2].map((i) => ({
            name: `s${i}`,
            properties: { addressPrefix: `10.0.${i}.0/24` },
          })),
        },
      });
      writeSync(1, `${number}\n`);
    }
  }),
);
