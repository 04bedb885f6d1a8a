import { lastSegment } from "@postern/core/resource-id.ts";
import { bump } from "../../arm/etags.ts";
import { defined, isObject, objects } from "../../arm/fields.ts";
import { idIn, referred } from "../../arm/links.ts";
import type { World } from "../../arm/resource-type.ts";
import { guidFrom } from "../../state/guid.ts";
import type { JsonObject, Resource } from "../../state/store.ts";
import { interfaceProperties, interfaceType, macAddressFrom } from "../network-interfaces/index.ts";
import { configurationsOf } from "../network-interfaces/ip-configurations.ts";
import { checkPools, touchBalancers } from "../network-interfaces/pool-membership.ts";
import { type AddressDraft, draftAddresses } from "../subnets/addresses.ts";
import { fresh, instanceProperties, instanceTop, networkOf } from "./instance-body.ts";

/** The type of the instances of a uniform scale set. */
export const instanceType = "Microsoft.Compute/virtualMachineScaleSets/virtualMachines";
/** The type of their interfaces. */
export const instanceInterfaceType = `${instanceType}/networkInterfaces`;
const machineType = "Microsoft.Compute/virtualMachines";
const subnetType = "Microsoft.Network/virtualNetworks/subnets";

/** How many a scale set is to have. */
export function capacityOf({ top }: Pick<Resource, "top">): number {
  const { capacity } = (top.sku ?? {}) as JsonObject;
  return typeof capacity === "number" ? capacity : 0;
}

/** The instances that there are, in the order in which they were made. */
export function instancesOf(scaleSet: Resource, world: World): Resource[] {
  return scaleSet.properties.orchestrationMode === "Flexible"
    ? [...world.store.referrers(scaleSet.key)].filter((each) => each.type === machineType)
    : [...world.store.collection(`${scaleSet.key}/virtualmachines`)];
}

/** Refuse a profile that instances could not be made from, or changed to: pools that they may not join, no room. */
export function checkInstances(
  id: string,
  network: JsonObject,
  wanted: { more: number; changed: readonly Resource[] },
  world: World,
): void {
  const { more, changed } = wanted;
  const own = changed.flatMap((each) => [
    ...world.store.collection(`${each.key}/networkinterfaces`),
  ]);
  const draft = draftAddresses(
    world,
    own.map((each) => each.key),
  );
  for (const { name, configurations } of interfacesIn(network)) {
    // A scale set of none takes no address, and yet keeps its subnet.
    for (const { properties } of configurations)
      referred(world, idIn(properties.subnet) ?? "", subnetType, id);
    checkPools(world, `${id}/virtualMachines/0/networkInterfaces/${name}`, configurations);
    for (let count = 0; count < more + changed.length; count++)
      addressed(configurations, draft, id);
  }
}

/** Make and remove instances until there are as many as are wanted; the newest go first. */
export function settleInstances(scaleSet: Resource, world: World): void {
  const instances = instancesOf(scaleSet, world);
  const wanted = capacityOf(scaleSet);
  for (const surplus of instances.slice(wanted).reverse()) removeInstance(surplus, world);
  let made = Number(scaleSet.properties.instancesMade ?? 0);
  for (let count = instances.length; count < wanted; count++) makeInstance(scaleSet, made++, world);
  if (made === scaleSet.properties.instancesMade) return;
  scaleSet.properties = { ...scaleSet.properties, instancesMade: made };
  world.store.put(scaleSet);
}

/** Take an instance away with its interfaces. */
export function removeInstance(instance: Resource, world: World): void {
  const network = (instance.properties.networkProfile ?? {}) as JsonObject;
  world.store.remove(instance.key);
  for (const each of objects(network, "networkInterfaces")) {
    const found = world.store.get(String(each.id));
    if (!found) continue;
    world.store.remove(found.key);
    touchBalancers(found, undefined, world);
  }
}

/** Make the interfaces of an instance what its own configuration says; addresses are kept. */
export function settleInterfaces(instance: Resource, scaleSet: Resource, world: World): void {
  const wanted = interfacesIn(instance.properties.networkProfileConfiguration as JsonObject).map(
    ({ name, ...rest }) => ({ id: `${instance.id}/networkInterfaces/${name}`, ...rest }),
  );
  const keys = new Set(wanted.map((each) => each.id.toLowerCase()));
  for (const nic of [...world.store.collection(`${instance.key}/networkinterfaces`)]) {
    if (keys.has(nic.key)) continue;
    world.store.remove(nic.key);
    touchBalancers(nic, undefined, world);
  }
  for (const each of wanted) putInterface(each, scaleSet, instanceInterfaceType, world);
  instance.properties = {
    ...instance.properties,
    networkProfile: { networkInterfaces: wanted.map(({ id }) => ({ id })) },
  };
  world.store.put(instance);
}

function makeInstance(scaleSet: Resource, number: number, world: World): void {
  const flexible = scaleSet.properties.orchestrationMode === "Flexible";
  const group = scaleSet.id.split("/").slice(0, 5).join("/");
  const suffix = guidFrom(`${scaleSet.properties.uniqueId} ${number}`).slice(0, 8);
  const name = `${scaleSet.name}_${flexible ? suffix : number}`;
  const id = flexible
    ? `${group}/providers/${machineType}/${name}`
    : `${scaleSet.id}/virtualMachines/${number}`;
  const interfaces = interfacesIn(networkOf(scaleSet)).map(
    ({ name: nic, properties, configurations }) => ({
      id: flexible
        ? `${group}/providers/${interfaceType}/${nic}-${suffix}`
        : `${id}/networkInterfaces/${nic}`,
      properties,
      configurations,
    }),
  );
  const instance = fresh(id, flexible ? machineType : instanceType, flexible ? name : `${number}`);
  instance.state = "Creating";
  instance.top = instanceTop(scaleSet, name, flexible ? undefined : `${number}`);
  instance.properties = instanceProperties(scaleSet, {
    name,
    number,
    group,
    networkInterfaces: interfaces.map((each) =>
      flexible ? { id: each.id, properties: { deleteOption: "Delete" } } : { id: each.id },
    ),
    world,
  });
  bump(instance);
  world.store.put(instance);
  for (const each of interfaces)
    putInterface(each, scaleSet, flexible ? interfaceType : instanceInterfaceType, world);
}

function putInterface(
  { id, properties, configurations }: { id: string } & Omit<Described, "name">,
  scaleSet: Resource,
  type: string,
  world: World,
): void {
  const existing = world.store.get(id);
  const before = existing && { ...existing };
  const nic = existing ?? fresh(id, type, lastSegment(id));
  const draft = draftAddresses(world, [id]);
  const location = String(scaleSet.top.location);
  nic.top = type === interfaceType ? { location, kind: "Regular" } : {};
  const kept = interfaceProperties(properties, addressed(configurations, draft, id, before), {
    world,
    existing: before,
    location,
  });
  nic.properties = { ...kept, macAddress: macAddressFrom(String(kept.resourceGuid)) };
  bump(nic);
  world.store.put(nic);
  touchBalancers(before, nic, world);
}

interface Described {
  name: string;
  properties: JsonObject;
  configurations: { name: string; properties: JsonObject }[];
}

/** The interfaces that a network profile describes. */
function interfacesIn(network: JsonObject): Described[] {
  return objects(network, "networkInterfaceConfigurations").map((each) => {
    const properties = isObject(each.properties) ? each.properties : {};
    const configurations = objects(properties, "ipConfigurations").map((one) => ({
      name: String(one.name),
      properties: isObject(one.properties) ? one.properties : {},
    }));
    return { name: String(each.name), properties, configurations };
  });
}

function addressed(
  configurations: Described["configurations"],
  draft: AddressDraft,
  id: string,
  existing?: Resource,
): JsonObject[] {
  return configurations.map(({ name, properties }, at) => {
    const {
      subnet,
      privateIPAddressVersion: version,
      loadBalancerBackendAddressPools,
    } = properties;
    const held = existing && configurationsOf(existing).find((each) => each.name === name);
    const before = held?.properties.privateIPAddress;
    const privateIPAddress = draft.take({
      subnet: idIn(subnet) ?? "",
      version: version === "IPv6" ? 6 : 4,
      held: typeof before === "string" ? before : undefined,
      asker: `${id}/ipConfigurations/${name}`,
    });
    return {
      name,
      properties: defined({
        privateIPAddress,
        privateIPAllocationMethod: "Dynamic",
        subnet,
        primary: properties.primary ?? at === 0,
        privateIPAddressVersion: version,
        loadBalancerBackendAddressPools,
      }),
    };
  });
}
