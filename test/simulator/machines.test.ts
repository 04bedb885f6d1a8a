import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { ManualClock } from "../manual-clock.ts";
import { group, network } from "./small-world.ts";
import {
  balancer,
  location,
  provider as networking,
  pool,
  type SubnetWorld,
  subnet,
  subnetWorld,
} from "./subnet-world.ts";

const compute = `${group}/providers/Microsoft.Compute`;
const scaleSet = `${compute}/virtualMachineScaleSets/ss`;

let world: SubnetWorld;

beforeEach(async () => {
  world = await subnetWorld();
});

const made: SubnetWorld["made"] = (...asked) => world.made(...asked);
const seen: SubnetWorld["seen"] = (path) => world.seen(path);
const refused: SubnetWorld["refused"] = (...asked) => world.refused(...asked);

async function listed(path: string): Promise<JsonObject[]> {
  return (await seen(path)).value as JsonObject[];
}

const profile = {
  storageProfile: {
    imageReference: {
      publisher: "Canonical",
      offer: "ubuntu-24_04-lts",
      sku: "server",
      version: "latest",
    },
  },
  osProfile: { adminUsername: "someone", adminPassword: "a secret" },
};

function machineBody(nic: string, deleteOption?: string): JsonObject {
  return {
    location,
    properties: {
      hardwareProfile: { vmSize: "Standard_D2s_v3" },
      ...profile,
      networkProfile: {
        networkInterfaces: [
          { id: nic, ...(deleteOption !== undefined && { properties: { deleteOption } }) },
        ],
      },
    },
  };
}

function scaleSetBody(capacity: number, more: JsonObject = {}, inSubnet = subnet): JsonObject {
  const { pools, mode, ...properties } = more;
  return {
    location,
    sku: { name: "Standard_D2s_v3", capacity },
    properties: {
      ...(mode !== undefined && { upgradePolicy: { mode } }),
      virtualMachineProfile: {
        ...profile,
        networkProfile: {
          networkInterfaceConfigurations: [
            {
              name: "nic",
              properties: {
                primary: true,
                ipConfigurations: [
                  {
                    name: "ip",
                    properties: {
                      subnet: inSubnet,
                      ...(pools !== undefined && { loadBalancerBackendAddressPools: pools }),
                    },
                  },
                ],
              },
            },
          ],
        },
      },
      ...properties,
    },
  };
}

const balancerBody: JsonObject = {
  location,
  sku: { name: "Standard" },
  properties: {
    frontendIPConfigurations: [{ name: "fe", properties: { subnet } }],
    backendAddressPools: [{ name: "pool" }],
  },
};

async function members(): Promise<string[]> {
  const { backendIPConfigurations = [] } = (await seen(pool)).properties as JsonObject;
  return (backendIPConfigurations as JsonObject[]).map((each) => String(each.id));
}

describe("a machine", () => {
  const nic = `${networking}/networkInterfaces/n`;
  const machine = `${compute}/virtualMachines/vm`;

  beforeEach(async () => {
    await made(nic, {
      location,
      properties: { ipConfigurations: [{ name: "ip", properties: { subnet } }] },
    });
  });

  test("never shows a password and puts its interface in use", async () => {
    await made(machine, machineBody(nic));
    expect(JSON.stringify(await seen(machine))).not.toContain("a secret");
    expect((await seen(nic)).properties).toMatchObject({
      virtualMachine: { id: machine },
      macAddress: expect.stringMatching(/^00-0D-3A(-[0-9A-F]{2}){3}$/),
    });
    expect(await refused("DELETE", nic)).toMatchObject({ code: "NicInUse" });
    expect(
      await refused("PUT", `${compute}/virtualMachines/other`, machineBody(nic)),
    ).toMatchObject({
      code: "NetworkInterfaceAlreadyInUse",
    });
    expect((await world.ask("DELETE", machine)).status).toBe(202);
    expect((await world.ask("DELETE", nic)).status).toBe(202);
    expect((await world.ask("GET", nic)).status).toBe(404);
  });

  test("takes its interface with it where it was told to", async () => {
    await made(machine, machineBody(nic, "Delete"));
    await world.ask("DELETE", machine);
    expect((await world.ask("GET", nic)).status).toBe(404);
  });

  test("tells whether it runs", async () => {
    await made(machine, machineBody(nic));
    const power = async () => {
      const { statuses } = await seen(`${machine}/instanceView`);
      return (statuses as JsonObject[]).at(-1)?.code;
    };
    expect(await power()).toBe("PowerState/running");
    expect((await world.ask("POST", `${machine}/deallocate`)).status).toBe(202);
    expect(await power()).toBe("PowerState/deallocated");
    await world.ask("POST", `${machine}/start`);
    expect(await power()).toBe("PowerState/running");
    const expanded = await seen(`${machine}?$expand=instanceView`);
    expect(expanded.properties).toHaveProperty("instanceView.statuses");
    expect(await refused("POST", `${compute}/virtualMachines/none/start`)).toMatchObject({
      code: "ResourceNotFound",
    });
  });
});

describe("a uniform scale set", () => {
  test("makes instances with interfaces that are members of its pool", async () => {
    await made(balancer, balancerBody);
    await made(scaleSet, scaleSetBody(3, { pools: [{ id: pool }] }));
    const instances = await listed(`${scaleSet}/virtualMachines`);
    expect(instances.map((each) => each.name)).toEqual(["ss_0", "ss_1", "ss_2"]);
    const inner = `${group}/providers/microsoft.Compute/virtualMachineScaleSets/ss/virtualMachines/1/networkInterfaces`;
    const [only] = await listed(`${inner}?api-version=2018-10-01`);
    const { ipConfigurations, virtualMachine } = (only?.properties ?? {}) as JsonObject;
    expect(virtualMachine).toEqual({ id: `${scaleSet}/virtualMachines/1` });
    expect((ipConfigurations as JsonObject[])[0]?.properties).toMatchObject({
      privateIPAddress: "10.0.0.6",
    });
    const one = await seen(`${inner}/nic/ipConfigurations/ip?api-version=2018-10-01`);
    expect(one.properties).toMatchObject({ privateIPAddress: "10.0.0.6" });
    expect((await world.ask("GET", `${networking}/networkInterfaces/nic`)).status).toBe(404);
    expect(await members()).toHaveLength(3);
    expect(await refused("DELETE", balancer)).toMatchObject({
      code: "LoadBalancerInUseByVirtualMachineScaleSet",
    });
    await world.ask("DELETE", scaleSet);
    await expect(members()).resolves.toEqual([]);
    expect((await world.ask("DELETE", balancer)).status).toBe(202);
    expect((await world.ask("DELETE", network)).status).toBe(202);
  });

  test("gives no number twice, and has one less when an instance is deleted", async () => {
    await made(scaleSet, scaleSetBody(2));
    await world.ask("DELETE", `${scaleSet}/virtualMachines/0`);
    expect((await seen(scaleSet)).sku).toMatchObject({ capacity: 1 });
    await made(scaleSet, { sku: { capacity: 3 } }, "PATCH");
    const ids = (await listed(`${scaleSet}/virtualMachines`)).map((each) => each.instanceId);
    expect(ids).toEqual(["1", "2", "3"]);
    await made(`${scaleSet}/delete`, { instanceIds: ["2"] }, "POST");
    await made(scaleSet, scaleSetBody(1));
    const left = (await listed(`${scaleSet}/virtualMachines`)).map((each) => each.instanceId);
    expect(left).toEqual(["1"]);
  });

  test("changes instances at once where its policy says so, and when asked where not", async () => {
    await made(balancer, balancerBody);
    await made(scaleSet, scaleSetBody(1));
    await made(scaleSet, scaleSetBody(1, { pools: [{ id: pool }] }));
    const instance = `${scaleSet}/virtualMachines/0`;
    expect((await seen(instance)).properties).toMatchObject({ latestModelApplied: false });
    expect(await members()).toEqual([]);
    await made(`${scaleSet}/manualupgrade`, { instanceIds: ["0"] }, "POST");
    expect((await seen(instance)).properties).toMatchObject({ latestModelApplied: true });
    expect(await members()).toEqual([`${instance}/networkInterfaces/nic/ipConfigurations/ip`]);
    await made(scaleSet, scaleSetBody(1, { mode: "Automatic" }));
    expect(await members()).toEqual([]);
  });

  test("lets one instance join a pool of its own", async () => {
    await made(balancer, balancerBody);
    await made(scaleSet, scaleSetBody(2));
    const { properties } = scaleSetBody(2, { pools: [{ id: pool }] });
    const { virtualMachineProfile } = properties as JsonObject;
    const { networkProfile } = virtualMachineProfile as JsonObject;
    await made(`${scaleSet}/virtualMachines/1`, {
      location,
      properties: { networkProfileConfiguration: networkProfile },
    });
    expect(await members()).toEqual([
      `${scaleSet}/virtualMachines/1/networkInterfaces/nic/ipConfigurations/ip`,
    ]);
  });

  test("is refused in a subnet that is not there, even with no instance", async () => {
    const nowhere = { id: `${network}/subnets/nowhere` };
    expect(await refused("PUT", scaleSet, scaleSetBody(0, {}, nowhere))).toMatchObject({
      code: "InvalidResourceReference",
      message: expect.stringContaining(`${nowhere.id} referenced by resource ${scaleSet} was not`),
    });
  });

  test("is refused when its subnet has not room for all", async () => {
    const tiny = { id: `${network}/subnets/tiny` };
    expect(await refused("PUT", scaleSet, scaleSetBody(4, {}, tiny))).toMatchObject({
      code: "SubnetIsFull",
    });
    await made(scaleSet, scaleSetBody(3, {}, tiny));
    expect(await listed(`${scaleSet}/virtualMachines`)).toHaveLength(3);
  });

  test.each([
    ["one", 400, "InvalidParameter"],
    ["7", 404, "NotFound"],
  ])("has no instance %s", async (id, status, code) => {
    await made(scaleSet, scaleSetBody(1));
    const came = await world.ask("GET", `${scaleSet}/virtualMachines/${id}`);
    expect(came.status).toBe(status);
    expect(came.body.error).toMatchObject({ code });
  });
});

test.each(["_a", "a-", "a.", "a b", "a".repeat(65)])(
  "neither a machine nor a scale set can be named %s",
  async (name) => {
    const nic = `${networking}/networkInterfaces/n`;
    expect(
      await refused("PUT", `${compute}/virtualMachines/${name}`, machineBody(nic)),
    ).toMatchObject({ code: "InvalidParameter", target: "vmName" });
    expect(
      await refused("PUT", `${compute}/virtualMachineScaleSets/${name}`, scaleSetBody(0)),
    ).toMatchObject({ code: "InvalidParameter", target: "vmScaleSetName" });
  },
);

test("a flexible scale set has machines of their own", async () => {
  await made(scaleSet, scaleSetBody(2, { orchestrationMode: "Flexible" }));
  const filter = encodeURIComponent(`'virtualMachineScaleSet/id' eq '${scaleSet}'`);
  const machines = await listed(`${compute}/virtualMachines?$filter=${filter}`);
  expect(machines).toHaveLength(2);
  expect(machines[0]?.name).toMatch(/^ss_[0-9a-f]{8}$/);
  expect(await listed(`${scaleSet}/virtualMachines`)).toEqual([]);
  expect(await listed(`${networking}/networkInterfaces`)).toHaveLength(2);
  await world.ask("DELETE", scaleSet);
  expect(await listed(`${compute}/virtualMachines`)).toEqual([]);
  expect(await listed(`${networking}/networkInterfaces`)).toEqual([]);
});

test("a later write to a pool ends the earlier one", async () => {
  const clock = new ManualClock();
  world = await subnetWorld({
    clock,
    operationMs: { "Microsoft.Network/loadBalancers/backendAddressPools": 1000 },
  });
  await made(balancer, balancerBody);
  const write = (address: string) =>
    world.ask("PUT", pool, {
      properties: {
        loadBalancerBackendAddresses: [
          { name: "a", properties: { ipAddress: address, virtualNetwork: { id: network } } },
        ],
      },
    });
  const first = await write("10.0.0.9");
  const second = await write("10.0.0.10");
  const poll = async (came: { headers: Headers }) =>
    (await world.ask("GET", String(came.headers.get("azure-asyncoperation")))).body;
  const ended = await poll(first);
  expect(ended.status).toBe("Canceled");
  expect(JSON.stringify(ended.error)).toContain("CanceledAndSupersededDueToAnotherOperation");
  expect((await poll(second)).status).toBe("InProgress");
});
