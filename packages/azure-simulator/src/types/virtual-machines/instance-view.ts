import { isObject } from "../../arm/fields.ts";
import type { PostAction } from "../../arm/resource-type.ts";
import { guidFrom } from "../../state/guid.ts";
import type { JsonObject, Resource } from "../../state/store.ts";
import { imageOf } from "./profile.ts";

/** Whether a machine runs. Kept in the properties, and shown only in the view of the instance. */
export type PowerState = "running" | "stopped" | "deallocated";

const words: Readonly<Record<PowerState, string>> = {
  running: "VM running",
  stopped: "VM stopped",
  deallocated: "VM deallocated",
};

/** What a machine tells of itself while it runs. */
export function instanceView(machine: Resource): JsonObject {
  const { properties } = machine;
  const storage = isObject(properties.storageProfile) ? properties.storageProfile : {};
  const os = isObject(properties.osProfile) ? properties.osProfile : {};
  const image = imageOf(isObject(storage.imageReference) ? storage.imageReference : undefined);
  const disk = isObject(storage.osDisk) ? storage.osDisk.name : undefined;
  const power = powerOf(machine);
  const time = String(properties.timeCreated);
  const ready = machine.state === "Succeeded" && power === "running";
  return {
    ...(ready && {
      computerName: os.computerName,
      osName: image.osName,
      osVersion: image.osVersion,
      vmAgent: {
        vmAgentVersion: image.agentVersion,
        statuses: [
          {
            code: "ProvisioningState/succeeded",
            level: "Info",
            displayStatus: "Ready",
            message: "GuestAgent is running and processing the extensions.",
            time,
          },
        ],
      },
    }),
    disks: [
      {
        name: disk,
        statuses: [
          {
            code: "ProvisioningState/succeeded",
            level: "Info",
            displayStatus: "Provisioning succeeded",
            time,
          },
        ],
      },
    ],
    hyperVGeneration: image.generation,
    statuses: [provisioning(machine, time), powerStatus(power)],
  };
}

/** The same of an instance of a scale set, which is in a placement group. */
export function scaleSetInstanceView(machine: Resource, scaleSet: string): JsonObject {
  return {
    placementGroupId: guidFrom(`placement ${scaleSet}`),
    platformUpdateDomain: Number(machine.name) % 5,
    platformFaultDomain: Number(machine.name) % 5,
    ...instanceView(machine),
  };
}

/** Whether a machine runs. */
export function powerOf(machine: Resource): PowerState {
  return (machine.properties.powerState as PowerState | undefined) ?? "running";
}

/** The operations that start and stop machines. They take effect as soon as they are asked for. */
export function powerActions(type: string): Readonly<Record<string, PostAction>> {
  const to = (word: string, power: PowerState): PostAction => ({
    action: `${type}/${word}/action`,
    long: true,
    run({ world, resource }) {
      if (!resource) return undefined;
      resource.properties = { ...resource.properties, powerState: power };
      world.store.put(resource);
      return undefined;
    },
  });
  return {
    start: to("start", "running"),
    restart: to("restart", "running"),
    powerOff: to("powerOff", "stopped"),
    deallocate: to("deallocate", "deallocated"),
  };
}

function provisioning({ state }: Resource, time: string): JsonObject {
  const word = state === "Succeeded" ? "succeeded" : state.toLowerCase();
  return {
    code: `ProvisioningState/${word}`,
    level: "Info",
    displayStatus: state === "Succeeded" ? "Provisioning succeeded" : state,
    time,
  };
}

function powerStatus(power: PowerState): JsonObject {
  return { code: `PowerState/${power}`, level: "Info", displayStatus: words[power] };
}
