import { defined } from "../../arm/fields.ts";
import type { World } from "../../arm/resource-type.ts";
import { guidFrom } from "../../state/guid.ts";
import type { JsonObject, Resource } from "../../state/store.ts";
import { imageOf } from "../virtual-machines/profile.ts";

/** The network profile that instances are made from. */
export function networkOf(scaleSet: Resource): JsonObject {
  const profile = scaleSet.properties.virtualMachineProfile as JsonObject;
  return profile.networkProfile as JsonObject;
}

/** What an instance shows beside its properties. */
export function instanceTop(
  { top }: Resource,
  name: string,
  instanceId: string | undefined,
): JsonObject {
  const { name: size, tier } = (top.sku ?? {}) as JsonObject;
  const { location, zones, tags } = top;
  if (instanceId === undefined) return defined({ location, zones, tags });
  // The name that is shown is not the last word of the id.
  return defined({ name, location, zones, tags, instanceId, sku: { name: size, tier } });
}

/** The properties of an instance, made from the profile of its scale set. */
export function instanceProperties(
  scaleSet: Resource,
  about: {
    name: string;
    number: number;
    group: string;
    networkInterfaces: JsonObject[];
    world: World;
  },
): JsonObject {
  const { name, number, group, networkInterfaces, world } = about;
  const flexible = scaleSet.properties.orchestrationMode === "Flexible";
  const profile = scaleSet.properties.virtualMachineProfile as JsonObject;
  const storage = profile.storageProfile as JsonObject;
  const disk = storage.osDisk as JsonObject;
  const image = storage.imageReference as JsonObject | undefined;
  const { computerNamePrefix, ...os } = (profile.osProfile ?? {}) as JsonObject;
  const mark = guidFrom(`disk ${scaleSet.properties.uniqueId} ${number}`).replaceAll("-", "");
  const diskName = `${scaleSet.name}_${name}_OS__1_${mark}`;
  return defined({
    ...(flexible
      ? { virtualMachineScaleSet: { id: scaleSet.id } }
      : {
          modelDefinitionApplied: "VirtualMachineScaleSet",
          networkProfileConfiguration: {
            networkInterfaceConfigurations: networkOf(scaleSet).networkInterfaceConfigurations,
          },
          resilientVMDeletionStatus: "Disabled",
        }),
    hardwareProfile: { vmSize: ((scaleSet.top.sku ?? {}) as JsonObject).name },
    vmId: world.guid(),
    storageProfile: defined({
      imageReference:
        image &&
        defined({
          ...image,
          exactVersion: image.version === undefined ? undefined : imageOf(image).exactVersion,
        }),
      osDisk: {
        ...disk,
        name: diskName,
        managedDisk: {
          ...(disk.managedDisk as JsonObject),
          id: `${group}/providers/Microsoft.Compute/disks/${diskName}`,
        },
      },
      dataDisks: [],
    }),
    osProfile: profile.osProfile && {
      ...os,
      // Six digits of base 36 after the prefix.
      computerName: `${computerNamePrefix}${number.toString(36).toUpperCase().padStart(6, "0")}`,
    },
    networkProfile: { networkInterfaces },
    timeCreated: new Date(world.now()).toISOString(),
  });
}

/** A resource that is not kept yet. */
export function fresh(id: string, type: string, name: string): Resource {
  return {
    id,
    key: id.toLowerCase(),
    type,
    name,
    top: {},
    properties: {},
    state: "Succeeded",
    version: 0,
    etag: id,
  };
}
