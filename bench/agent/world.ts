import { type Simulator, startSimulator } from "@postern/azure-simulator/simulator.ts";
import { realClock } from "@postern/core/clock.ts";

const subscription = "11111111-1111-4111-8111-111111111111";
const group = `/subscriptions/${subscription}/resourceGroups/rg`;
const networking = `${group}/providers/Microsoft.Network`;
const location = "westeurope";
const subnet = { id: `${networking}/virtualNetworks/v/subnets/s` };

/** A simulator with one Gateway load balancer and one machine that may do everything; its metadata service answers too. */
export async function startWorld(): Promise<{ simulator: Simulator; imds: string }> {
  const simulator = await startSimulator({ clock: realClock, https: true });
  simulator.directory.addSubscription(subscription, "22222222-2222-4222-8222-222222222222");
  const { change } = simulator;
  change(group, { location });
  change(`${networking}/virtualNetworks/v`, {
    location,
    properties: {
      addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
      subnets: [{ name: "s", properties: { addressPrefix: "10.0.0.0/20" } }],
    },
  });
  change(`${networking}/loadBalancers/gw`, {
    location,
    sku: { name: "Gateway" },
    properties: {
      frontendIPConfigurations: [{ name: "fe", properties: { subnet } }],
      backendAddressPools: [{ name: "inspect" }],
    },
  });
  const nic = `${networking}/networkInterfaces/nic`;
  const ipConfigurations = [{ name: "ip", properties: { primary: true, subnet } }];
  change(nic, { location, properties: { ipConfigurations } });
  const machine = `${group}/providers/Microsoft.Compute/virtualMachines/fw`;
  change(machine, {
    location,
    identity: { type: "SystemAssigned" },
    properties: {
      hardwareProfile: { vmSize: "Standard_D2s_v3" },
      storageProfile: { imageReference: { publisher: "p", offer: "o", sku: "s", version: "1" } },
      osProfile: { computerName: "fw", adminUsername: "someone", adminPassword: "a secret" },
      networkProfile: { networkInterfaces: [{ id: nic, properties: { primary: true } }] },
    },
  });
  const identity = simulator.store.get(machine)?.top.identity as
    | { principalId: string }
    | undefined;
  const owner = "8e3af657-a8ff-443c-a75c-2fe8c4bcb635";
  change(
    `${group}/providers/Microsoft.Authorization/roleAssignments/44444444-4444-4444-8444-444444444444`,
    {
      properties: {
        roleDefinitionId: `/subscriptions/${subscription}/providers/Microsoft.Authorization/roleDefinitions/${owner}`,
        principalId: identity?.principalId ?? "",
      },
    },
  );
  const imds = await simulator.machines.find(machine);
  return { simulator, imds: imds?.url ?? "" };
}
