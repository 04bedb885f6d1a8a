import { bump } from "../../arm/etags.ts";
import { defined, object, objects, tags, text, texts } from "../../arm/fields.ts";
import { idIn, joinsIn, link, referred } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { ResourceType, World } from "../../arm/resource-type.ts";
import { acceptIdentity, identityJoins } from "../../entra/identities.ts";
import type { JsonObject, Resource } from "../../state/store.ts";
import { interfaceType, macAddressFrom, machineOf } from "../network-interfaces/index.ts";
import { touchBalancers } from "../network-interfaces/pool-membership.ts";
import { instanceView, powerActions } from "./instance-view.ts";
import {
  acceptImage,
  acceptOs,
  acceptOsDisk,
  checkMachineName,
  imageOf,
  merged,
  needed,
} from "./profile.ts";

const vmType = "Microsoft.Compute/virtualMachines";

/** Virtual machines. Nothing runs; what a client of Resource Manager can see of one is there. */
export const virtualMachines: ResourceType = {
  type: vmType,
  dialect: "compute",
  within: "resourceGroup",
  // Recorded: a write that changes nothing is done at once, and still says Updating.
  put: ({ before, changed }) => (before && !changed ? "syncUpdating" : "async"),
  delete: "async",
  patch: (body, { top, properties }) => merged({ ...top, properties }, body),
  joins: ({ body, properties }) => [
    ...joinsIn(properties.networkProfile, machineJoins),
    ...identityJoins(body),
  ],
  accept({ body, properties, existing, world, id, name, address }) {
    checkMachineName(name, "virtual machine", "vmName");
    const hardware = needed(properties, "hardwareProfile");
    const storage = needed(properties, "storageProfile");
    const network = needed(properties, "networkProfile");
    const image = imageOf(object(storage, "imageReference"));
    const networkInterfaces = acceptInterfaces(network, id, world);
    const zones = texts(body, "zones");
    const os = object(properties, "osProfile");
    return {
      top: defined({
        location: body.location ?? existing?.top.location,
        ...tags(body),
        ...(zones.length > 0 && { zones }),
        identity: acceptIdentity({ body, existing, world, address }),
      }),
      properties: defined({
        hardwareProfile: { vmSize: text(hardware, "vmSize", "Standard_A1_v2") },
        vmId: existing?.properties.vmId ?? world.guid(),
        storageProfile: defined({
          imageReference: acceptImage(storage, true),
          osDisk: namedDisk(storage, existing, name, imageDisk(storage, image)),
          dataDisks: objects(storage, "dataDisks"),
        }),
        osProfile:
          os && acceptOs(os, { computerName: text(os, "computerName", name) }, image, "machine"),
        networkProfile: { networkInterfaces },
        availabilitySet: link(properties, "availabilitySet"),
        virtualMachineScaleSet: link(properties, "virtualMachineScaleSet"),
        timeCreated: existing?.properties.timeCreated ?? new Date(world.now()).toISOString(),
        powerState: existing?.properties.powerState,
      }),
    };
  },
  show: (machine, _world, query) => ({
    powerState: undefined,
    ...(query.get("$expand")?.toLowerCase() === "instanceview" && {
      instanceView: instanceView(machine),
    }),
  }),
  afterWrite(machine, before, world) {
    // Every write counts, even one that changes nothing: recorded as "2" and then "3".
    if (before && before.version === machine.version) bump(machine);
    for (const { key } of interfacesOf(machine, world)) plugIn(key, world);
  },
  afterProvision(machine, world) {
    const storage = machine.properties.storageProfile as JsonObject;
    const disk = storage.osDisk as JsonObject;
    const managedDisk = disk.managedDisk as JsonObject;
    if (managedDisk.id !== undefined) return;
    const group = machine.id.split("/").slice(0, 5).join("/");
    const id = `${group}/providers/Microsoft.Compute/disks/${disk.name}`;
    machine.properties = {
      ...machine.properties,
      storageProfile: { ...storage, osDisk: { ...disk, managedDisk: { ...managedDisk, id } } },
    };
    // Recorded: "1" in the first answer, "2" when it is made.
    bump(machine);
    world.store.put(machine);
  },
  afterDelete(machine, world) {
    const network = machine.properties.networkProfile as JsonObject;
    for (const each of objects(network, "networkInterfaces")) {
      if (text(object(each, "properties") ?? {}, "deleteOption", "Detach") !== "Delete") continue;
      const found = world.store.get(String(each.id));
      if (!found) continue;
      world.store.remove(found.key);
      touchBalancers(found, undefined, world);
    }
  },
  selects(machine, query) {
    const [, wanted] =
      /^'virtualMachineScaleSet\/id' eq '([^']*)'$/i.exec(query.get("$filter") ?? "") ?? [];
    const held = idIn(machine.properties.virtualMachineScaleSet);
    return wanted === undefined || held?.toLowerCase() === wanted.toLowerCase();
  },
  views: { instanceView: (machine) => instanceView(machine) },
  posts: powerActions(vmType),
  differences: [
    "Nothing runs in a machine; its instance view is that of a started machine.",
    "Disks are names only; extensions, availability sets and images are stored as sent or not at all.",
    "The exact version is known for one image, that of the recordings [W]; for others it is the requested version.",
    "A write that changes something is an operation [?]; one that changes nothing completes immediately [W].",
    "Starting and stopping take effect with the request, not when the operation completes.",
  ],
};

/** What the asker needs on what a machine names. */
const machineJoins: Readonly<Record<string, string>> = {
  networkInterfaces: "Microsoft.Network/networkInterfaces/join/action",
};

function acceptInterfaces(network: JsonObject, id: string, world: World): JsonObject[] {
  const given = objects(network, "networkInterfaces");
  if (given.length === 0)
    throw new Refusal(
      400,
      "InvalidParameter",
      "The value of parameter networkProfile.networkInterfaces is invalid: a virtual machine must have a network interface.",
      { by: "compute", target: "networkProfile.networkInterfaces" },
    );
  return given.map((each) => {
    const nicId = text(each, "id", "");
    const found = referred(world, nicId, interfaceType, id);
    const user = machineOf(found, world);
    if (user && user.key !== id.toLowerCase())
      throw new Refusal(
        400,
        "NetworkInterfaceAlreadyInUse",
        `Network interface ${found.id} is used by virtual machine ${user.id} already.`,
        { by: "compute", target: "networkProfile.networkInterfaces" },
      );
    return defined({ id: nicId, properties: object(each, "properties") });
  });
}

function interfacesOf(machine: Resource, world: World): Resource[] {
  const network = machine.properties.networkProfile as JsonObject;
  return objects(network, "networkInterfaces").flatMap(
    (each) => world.store.get(String(each.id)) ?? [],
  );
}

/** An interface gets the address of its hardware when it is first put on a machine. */
function plugIn(key: string, world: World): void {
  const found = world.store.get(key);
  if (!found || found.properties.macAddress !== undefined) return;
  const macAddress = macAddressFrom(String(found.properties.resourceGuid));
  found.properties = { ...found.properties, macAddress };
  bump(found);
  world.store.put(found);
}

function imageDisk(storage: JsonObject, image: ReturnType<typeof imageOf>): JsonObject {
  const defaults = { caching: "ReadWrite", storageAccountType: "Premium_LRS" };
  return acceptOsDisk(storage, image, defaults);
}

function namedDisk(
  storage: JsonObject,
  existing: Resource | undefined,
  name: string,
  disk: JsonObject,
): JsonObject {
  const held = (existing?.properties.storageProfile as JsonObject | undefined)?.osDisk as
    | JsonObject
    | undefined;
  const given = object(storage, "osDisk") ?? {};
  const heldId = (held?.managedDisk as JsonObject | undefined)?.id;
  return {
    ...disk,
    name: text(given, "name", String(held?.name ?? `${name}_OsDisk_1`)),
    managedDisk: defined({ ...(disk.managedDisk as JsonObject), id: heldId }),
    deleteOption: text(given, "deleteOption", "Detach"),
  };
}
