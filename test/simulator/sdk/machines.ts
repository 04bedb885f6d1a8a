import { expect, test } from "vitest";
import type { Clients } from "./clients.ts";
import {
  all,
  inGroup,
  inNetwork,
  location,
  names,
  rg,
  sdkWorld,
  soon,
  withNetwork,
} from "./clients.ts";

const subnet = { id: `${inNetwork}/virtualNetworks/v/subnets/a` };
const imageReference = {
  publisher: "Canonical",
  offer: "0001-com-ubuntu-server-jammy",
  sku: "22_04-lts-gen2",
  version: "latest",
};
const osProfile = {
  adminUsername: "postern",
  adminPassword: "not used by anything 1",
};

async function machineBody({ network }: Clients, name: string) {
  const nic = await network.networkInterfaces.createOrUpdate(
    rg,
    `${name}-nic`,
    { location, ipConfigurations: [{ name: "one", subnet }] },
    soon,
  );
  return {
    location,
    hardwareProfile: { vmSize: "Standard_D2s_v3" },
    storageProfile: { imageReference, osDisk: { createOption: "FromImage" } },
    osProfile: { computerName: name, ...osProfile },
    networkProfile: { networkInterfaces: [{ id: nic.id ?? "", primary: true }] },
  };
}

function scaleSetBody(capacity: number, mode = "Uniform") {
  return {
    location,
    sku: { name: "Standard_D2s_v3", tier: "Standard", capacity },
    orchestrationMode: mode,
    ...(mode === "Uniform"
      ? { upgradePolicy: { mode: "Manual" as const } }
      : { platformFaultDomainCount: 1 }),
    virtualMachineProfile: {
      storageProfile: { imageReference, osDisk: { createOption: "FromImage" } },
      osProfile: { computerNamePrefix: "node", ...osProfile },
      networkProfile: {
        networkApiVersion: "2020-11-01",
        networkInterfaceConfigurations: [
          {
            name: "nic",
            primary: true,
            ipConfigurations: [{ name: "one", subnet, primary: true }],
          },
        ],
      },
    },
  };
}

test("a machine is made on its interface, changed, listed and deleted", async () => {
  const { clients, simulator } = await sdkWorld();
  const { virtualMachines } = clients.compute;
  const { networkInterfaces } = clients.network;
  await withNetwork(clients);
  for (const name of ["m1", "m2", "m3"])
    await virtualMachines.createOrUpdate(rg, name, await machineBody(clients, name), soon);
  const made = await virtualMachines.get(rg, "m1");
  expect(made).toMatchObject({
    id: `${inGroup}/Microsoft.Compute/virtualMachines/m1`,
    provisioningState: "Succeeded",
    vmId: expect.stringMatching(/^[-0-9a-f]{36}$/),
  });
  expect((await networkInterfaces.get(rg, "m1-nic")).virtualMachine).toEqual({ id: made.id });
  const changed = await virtualMachines.update(rg, "m1", { tags: { a: "b" } }, soon);
  expect(changed).toMatchObject({ tags: { a: "b" }, vmId: made.vmId });
  expect(await names(virtualMachines.list(rg))).toEqual(["m1", "m2", "m3"]);
  expect(await names(virtualMachines.listAll())).toEqual(["m1", "m2", "m3"]);
  await virtualMachines.delete(rg, "m1", soon);
  expect(simulator.store.get(made.id ?? "")).toBeUndefined();
  expect((await networkInterfaces.get(rg, "m1-nic")).virtualMachine).toBeUndefined();
  await expect(virtualMachines.get(rg, "m1")).rejects.toMatchObject({
    name: "RestError",
    statusCode: 404,
    code: "ResourceNotFound",
  });
});

test("a machine is written with the etag that it has, and with no other", async () => {
  const { clients } = await sdkWorld();
  const { virtualMachines } = clients.compute;
  await withNetwork(clients);
  const body = await machineBody(clients, "m");
  const made = await virtualMachines.createOrUpdate(rg, "m", body, soon);
  const write = (color: string, ifMatch: string) =>
    virtualMachines.createOrUpdate(rg, "m", { ...body, tags: { color } }, { ...soon, ifMatch });
  await write("red", made.etag ?? "");
  await expect(write("blue", made.etag ?? "")).rejects.toMatchObject({
    statusCode: 412,
    code: "PreconditionFailed",
  });
  expect((await virtualMachines.get(rg, "m")).tags).toEqual({ color: "red" });
});

test("a machine is stopped, deallocated, started and restarted, and says so", async () => {
  const { clients } = await sdkWorld();
  const { virtualMachines } = clients.compute;
  await withNetwork(clients);
  await virtualMachines.createOrUpdate(rg, "m", await machineBody(clients, "m"), soon);
  const power = async () => {
    const { statuses } = await virtualMachines.instanceView(rg, "m");
    return statuses?.map(({ code }) => code).find((code) => code?.startsWith("PowerState/"));
  };
  expect(await power()).toBe("PowerState/running");
  await virtualMachines.powerOff(rg, "m", soon);
  expect(await power()).toBe("PowerState/stopped");
  await virtualMachines.start(rg, "m", soon);
  expect(await power()).toBe("PowerState/running");
  await virtualMachines.deallocate(rg, "m", soon);
  expect(await power()).toBe("PowerState/deallocated");
  await virtualMachines.restart(rg, "m", soon);
  expect(await power()).toBe("PowerState/running");
  const expanded = await virtualMachines.get(rg, "m", { expand: "instanceView" });
  expect(expanded.instanceView?.statuses).toHaveLength(2);
});

test.each(["start", "restart", "powerOff", "deallocate"] as const)(
  "to %s a machine that is not there is refused",
  async (action) => {
    const { clients } = await sdkWorld();
    await expect(clients.compute.virtualMachines[action](rg, "none", soon)).rejects.toMatchObject({
      statusCode: 404,
      code: "ResourceNotFound",
    });
  },
);

test("a scale set is made with its instances, scaled, listed and deleted", async () => {
  const { clients, simulator } = await sdkWorld();
  const { virtualMachineScaleSets: sets, virtualMachineScaleSetVMs: instances } = clients.compute;
  await withNetwork(clients);
  for (const name of ["s1", "s2", "s3"]) await sets.createOrUpdate(rg, name, scaleSetBody(3), soon);
  const made = await sets.get(rg, "s1");
  expect(made).toMatchObject({ provisioningState: "Succeeded", sku: { capacity: 3 } });
  expect((await sets.getInstanceView(rg, "s1")).virtualMachine?.statusesSummary).toEqual([
    { code: "ProvisioningState/succeeded", count: 3 },
  ]);
  const scaled = await sets.update(rg, "s1", { sku: { ...made.sku, capacity: 1 } }, soon);
  expect(scaled.sku?.capacity).toBe(1);
  expect(await names(instances.list(rg, "s1"))).toEqual(["s1_0"]);
  await sets.updateInstances(rg, "s2", { instanceIds: ["0"] }, soon);
  expect((await instances.get(rg, "s2", "0")).latestModelApplied).toBe(true);
  await sets.deleteInstances(rg, "s2", { instanceIds: ["0", "2"] }, soon);
  expect(await names(instances.list(rg, "s2"))).toEqual(["s2_1"]);
  expect((await sets.get(rg, "s2")).sku?.capacity).toBe(1);
  expect(await names(sets.list(rg))).toEqual(["s1", "s2", "s3"]);
  expect(await names(sets.listAll())).toEqual(["s1", "s2", "s3"]);
  await sets.delete(rg, "s1", soon);
  expect(simulator.store.get(made.id ?? "")).toBeUndefined();
  expect([...simulator.store.all()].filter(({ id }) => id.includes("/s1/"))).toEqual([]);
});

test("an instance of a scale set is read with its interface, stopped and deleted", async () => {
  const { clients } = await sdkWorld();
  const { virtualMachineScaleSets: sets, virtualMachineScaleSetVMs: instances } = clients.compute;
  const { networkInterfaces: nics } = clients.network;
  await withNetwork(clients);
  await sets.createOrUpdate(rg, "s", scaleSetBody(3), soon);
  const first = await instances.get(rg, "s", "0");
  expect(first).toMatchObject({ name: "s_0", instanceId: "0" });
  await instances.update(rg, "s", "0", { ...first, location }, soon);
  const power = async () => {
    const { statuses } = await instances.getInstanceView(rg, "s", "0");
    return statuses?.map(({ code }) => code).find((code) => code?.startsWith("PowerState/"));
  };
  await instances.powerOff(rg, "s", "0", soon);
  expect(await power()).toBe("PowerState/stopped");
  await instances.start(rg, "s", "0", soon);
  expect(await power()).toBe("PowerState/running");
  await instances.deallocate(rg, "s", "0", soon);
  expect(await power()).toBe("PowerState/deallocated");
  await instances.restart(rg, "s", "0", soon);
  expect(await power()).toBe("PowerState/running");
  const nic = await nics.getVirtualMachineScaleSetNetworkInterface(rg, "s", "0", "nic");
  expect(nic.ipConfigurations).toMatchObject([{ privateIPAddress: "10.0.0.4" }]);
  expect(await names(nics.listVirtualMachineScaleSetVMNetworkInterfaces(rg, "s", "0"))).toEqual([
    "nic",
  ]);
  expect(await all(nics.listVirtualMachineScaleSetNetworkInterfaces(rg, "s"))).toHaveLength(3);
  expect(
    await nics.getVirtualMachineScaleSetIpConfiguration(rg, "s", "0", "nic", "one"),
  ).toMatchObject({ privateIPAddress: "10.0.0.4" });
  expect(await names(nics.listVirtualMachineScaleSetIpConfigurations(rg, "s", "0", "nic"))).toEqual(
    ["one"],
  );
  await instances.delete(rg, "s", "0", soon);
  expect(await names(instances.list(rg, "s"))).toEqual(["s_1", "s_2"]);
  await expect(instances.get(rg, "s", "x")).rejects.toMatchObject({
    statusCode: 400,
    code: "InvalidParameter",
  });
});

test("a flexible scale set makes machines of their own", async () => {
  const { clients } = await sdkWorld();
  const { virtualMachineScaleSets: sets, virtualMachines } = clients.compute;
  await withNetwork(clients);
  const made = await sets.createOrUpdate(rg, "s", scaleSetBody(3, "Flexible"), soon);
  const filter = `'virtualMachineScaleSet/id' eq '${made.id}'`;
  const machines = await all(virtualMachines.list(rg, { filter }));
  expect(machines).toHaveLength(3);
  expect(machines[0]?.virtualMachineScaleSet).toMatchObject({ id: made.id });
});
