import { text, texts } from "../../fields.ts";
import { Refusal } from "../../refusal.ts";
import type { PostAction, ResourceType, World } from "../../resource-type.ts";
import { type JsonObject, parentOf, type Resource } from "../../store.ts";
import { shownConfigurations } from "../network-interfaces/ip-configurations.ts";
import { touchBalancers } from "../network-interfaces/pool-membership.ts";
import {
  instanceView,
  powerActions,
  scaleSetInstanceView,
} from "../virtual-machines/instance-view.ts";
import { capacityOf, instanceInterfaceType, instanceType, removeInstance } from "./instances.ts";

/** The instances of a uniform scale set. */
export const scaleSetInstances: ResourceType = {
  type: instanceType,
  dialect: "compute",
  within: "parent",
  put: "async",
  delete: "async",
  accept({ existing, address }) {
    if (!existing) throw missingInstance(address.names.at(-1) ?? "");
    // Recorded: a write of tags is taken, and neither the tags nor the etag show it.
    return { top: existing.top, properties: existing.properties };
  },
  show: (instance, _world, query) => ({
    powerState: undefined,
    ...(query.get("$expand")?.toLowerCase() === "instanceview" && {
      instanceView: instanceView(instance),
    }),
  }),
  missing: (address) => missingInstance(address.names[1] ?? ""),
  deleted(instance, world) {
    lower(world.store.get(parentOf(instance.key)), world);
  },
  views: {
    instanceView: (instance) => scaleSetInstanceView(instance, parentOf(instance.key)),
  },
  posts: powerActions(instanceType),
  differences: [
    "A write is taken and changes nothing, as recorded for tags [W]; a network profile of an instance's own is not done.",
    "Reimaging and upgrading are not done; every instance has the latest model.",
    "The refusal for a number that no instance has is not verified [?].",
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
  deleted(resource, world) {
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
