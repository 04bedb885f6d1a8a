import { bump } from "../../arm/etags.ts";
import { object, text, texts } from "../../arm/fields.ts";
import { joinsIn } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { PostAction, ResourceType, World } from "../../arm/resource-type.ts";
import { type Json, type JsonObject, parentOf, type Resource } from "../../state/store.ts";
import { interfaceJoins } from "../network-interfaces/index.ts";
import { shownConfigurations } from "../network-interfaces/ip-configurations.ts";
import { touchBalancers } from "../network-interfaces/pool-membership.ts";
import {
  instanceView,
  powerActions,
  scaleSetInstanceView,
} from "../virtual-machines/instance-view.ts";
import { interfaceConfigurations } from "./accept.ts";
import { networkOf } from "./instance-body.ts";
import {
  capacityOf,
  checkInstances,
  instanceInterfaceType,
  instanceType,
  removeInstance,
  settleInterfaces,
} from "./instances.ts";

/** The instances of a uniform scale set. */
export const scaleSetInstances: ResourceType = {
  type: instanceType,
  dialect: "compute",
  within: "parent",
  put: "async",
  delete: "async",
  joins: ({ properties }) => joinsIn(properties.networkProfileConfiguration, interfaceJoins),
  accept({ existing, address, properties, world }) {
    if (!existing) throw missingInstance(address.names.at(-1) ?? "");
    const given = object(properties, "networkProfileConfiguration");
    const wanted = given && interfaceConfigurations(given);
    // Recorded: a write of tags is taken, and neither the tags nor the etag show it.
    if (!wanted || same(wanted, configuredOf(existing)))
      return { top: existing.top, properties: existing.properties };
    const network = { networkInterfaceConfigurations: wanted };
    checkInstances(existing.id, network, { more: 0, changed: [existing] }, world);
    return {
      top: existing.top,
      properties: {
        ...existing.properties,
        modelDefinitionApplied: "VirtualMachine",
        networkProfileConfiguration: network,
      },
    };
  },
  afterWrite(instance, before, world) {
    const scaleSet = world.store.get(parentOf(instance.key));
    if (!scaleSet || same(configuredOf(instance), before && configuredOf(before))) return;
    settleInterfaces(instance, scaleSet, world);
  },
  show: (instance, world, query) => ({
    powerState: undefined,
    latestModelApplied: same(configuredOf(instance), modelOf(instance, world)),
    ...(query.get("$expand")?.toLowerCase() === "instanceview" && {
      instanceView: instanceView(instance),
    }),
  }),
  missing: (address) => missingInstance(address.names[1] ?? ""),
  afterDelete(instance, world) {
    lower(world.store.get(parentOf(instance.key)), world);
  },
  views: {
    instanceView: (instance) => scaleSetInstanceView(instance, parentOf(instance.key)),
  },
  posts: powerActions(instanceType),
  differences: [
    "A write changes only the interfaces of an instance; tags are accepted and not returned, as recorded [W].",
    "latestModelApplied depends on the interfaces only. Reimaging is not supported.",
    "The error for an instance id that does not exist is not verified [?].",
  ],
};

/** The interfaces of instances, which are nowhere else to be read. */
export const scaleSetInterfaces: ResourceType = {
  type: instanceInterfaceType,
  dialect: "network",
  within: "parent",
  show: (resource, world) => ({
    ipConfigurations: shownConfigurations(resource, etagOf(resource, world)),
    primary: true,
    virtualMachine: { id: parentOf(resource.id) },
  }),
  afterDelete(resource, world) {
    touchBalancers(resource, undefined, world);
  },
  differences: ["Read with any api-version; Azure has only old ones for it."],
};

/** Their ip configurations, read one by one. */
export const scaleSetInterfaceIPConfigurations: ResourceType = {
  type: `${instanceInterfaceType}/ipConfigurations`,
  dialect: "network",
  within: "parent",
  read: ({ address, world }) => {
    const resource = world.store.get(parentOf(address.key));
    const name = address.names.at(-1)?.toLowerCase();
    return (
      resource &&
      shownConfigurations(resource, etagOf(resource, world)).find(
        (each) => text(each, "name", "").toLowerCase() === name,
      )
    );
  },
  list: ({ address, world }) => {
    const resource = world.store.get(address.key.slice(0, address.key.lastIndexOf("/")));
    if (!resource) return [];
    return shownConfigurations(resource, etagOf(resource, world)).map((shown) => ({ shown }));
  },
  differences: [],
};

/** Delete some instances of a scale set: a POST with their numbers. */
export const deleteInstances: PostAction = {
  action: "Microsoft.Compute/virtualMachineScaleSets/delete/action",
  long: true,
  run({ world, body, resource }) {
    if (!resource) return undefined;
    const ids = texts(body, "instanceIds");
    const found = ids.map((id) => {
      const instance = world.store.get(`${resource.key}/virtualmachines/${id.toLowerCase()}`);
      if (!instance) throw missingInstance(id);
      return instance;
    });
    for (const instance of new Set(found)) {
      removeInstance(instance, world);
      lower(resource, world);
    }
    return undefined;
  },
};

/** Give some instances the model of their scale set: a POST with their numbers. */
export const upgradeInstances: PostAction = {
  action: "Microsoft.Compute/virtualMachineScaleSets/manualupgrade/action",
  long: true,
  run({ world, body, resource }) {
    if (!resource) return undefined;
    const found = texts(body, "instanceIds").map((id) => {
      const instance = world.store.get(`${resource.key}/virtualmachines/${id.toLowerCase()}`);
      if (!instance) throw missingInstance(id);
      return instance;
    });
    checkInstances(resource.id, networkOf(resource), { more: 0, changed: found }, world);
    for (const instance of found) upgrade(instance, resource, world);
    return undefined;
  },
};

/** Give an instance the interfaces that its scale set describes. */
export function upgrade(instance: Resource, scaleSet: Resource, world: World): void {
  const model = modelOf(instance, world);
  if (instance.type !== instanceType || same(configuredOf(instance), model)) return;
  instance.properties = {
    ...instance.properties,
    modelDefinitionApplied: "VirtualMachineScaleSet",
    networkProfileConfiguration: { networkInterfaceConfigurations: model },
  };
  bump(instance);
  settleInterfaces(instance, scaleSet, world);
}

function configuredOf(instance: Resource): Json | undefined {
  const own = (instance.properties.networkProfileConfiguration ?? {}) as JsonObject;
  return own.networkInterfaceConfigurations;
}

function modelOf(instance: Resource, world: World): Json | undefined {
  const scaleSet = world.store.get(parentOf(instance.key));
  return scaleSet && networkOf(scaleSet).networkInterfaceConfigurations;
}

function same(a: Json | undefined, b: Json | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function missingInstance(id: string): Refusal {
  if (!/^\d+$/.test(id))
    return new Refusal(
      400,
      "InvalidParameter",
      "Virtual Machine Scale Set VM instanceId must be a number.",
      { by: "compute", target: "instanceId" },
    );
  return new Refusal(
    404,
    "NotFound",
    `The virtual machine scale set has no instance with the id ${id}.`,
    { by: "compute", target: "instanceId" },
  );
}

/** One instance less is wanted, or the scale set would make another in its place. */
function lower(scaleSet: Resource | undefined, world: World): void {
  if (!scaleSet) return;
  const sku = (scaleSet.top.sku ?? {}) as JsonObject;
  scaleSet.top = {
    ...scaleSet.top,
    sku: { ...sku, capacity: Math.max(0, capacityOf(scaleSet) - 1) },
  };
  world.store.put(scaleSet);
}

/** Interfaces have the etag of the scale set, as children of the network provider do. */
function etagOf(resource: Resource, world: World): string {
  const scaleSet = world.store.get(parentOf(parentOf(resource.key)));
  return `W/"${scaleSet?.etag ?? resource.etag}"`;
}
