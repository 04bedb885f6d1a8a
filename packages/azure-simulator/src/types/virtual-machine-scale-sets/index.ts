import { joinsIn } from "../../arm/links.ts";
import type { ResourceType, World } from "../../arm/resource-type.ts";
import { identityJoins } from "../../entra/identities.ts";
import type { JsonObject, Resource } from "../../state/store.ts";
import { interfaceJoins } from "../network-interfaces/index.ts";
import { merged } from "../virtual-machines/profile.ts";
import { acceptScaleSet } from "./accept.ts";
import { deleteInstances, upgrade, upgradeInstances } from "./instance-types.ts";
import {
  capacityOf,
  checkInstances,
  instancesOf,
  removeInstance,
  settleInstances,
} from "./instances.ts";

/** Scale sets, uniform and flexible. A uniform one has instances as children, a flexible one machines of their own. */
export const virtualMachineScaleSets: ResourceType = {
  type: "Microsoft.Compute/virtualMachineScaleSets",
  dialect: "compute",
  within: "resourceGroup",
  put: "async",
  delete: "async",
  patch: (body, { top, properties }) => merged({ ...top, properties }, body),
  joins: ({ body, properties }) => [
    ...joinsIn(properties.virtualMachineProfile, interfaceJoins),
    ...identityJoins(body),
  ],
  accept(writing) {
    const accepted = acceptScaleSet(writing);
    const { existing, world, id } = writing;
    const there = existing ? instancesOf(existing, world) : [];
    const more = Math.max(0, capacityOf({ top: accepted.top ?? {} }) - there.length);
    const profile = accepted.properties.virtualMachineProfile as JsonObject;
    const changed = upgradesAtOnce(accepted.properties) ? there : [];
    checkInstances(id, profile.networkProfile as JsonObject, { more, changed }, world);
    return accepted;
  },
  show: () => ({ instancesMade: undefined }),
  afterWrite(scaleSet, before, world) {
    if (before && upgradesAtOnce(scaleSet.properties))
      for (const instance of instancesOf(scaleSet, world)) upgrade(instance, scaleSet, world);
    settleInstances(scaleSet, world);
  },
  afterProvision(scaleSet, world) {
    for (const instance of instancesOf(scaleSet, world)) {
      if (instance.state !== "Creating") continue;
      instance.state = "Succeeded";
      world.store.put(instance);
    }
  },
  afterDelete(scaleSet, world) {
    for (const machine of machinesOf(scaleSet, world)) removeInstance(machine, world);
  },
  views: { instanceView: (scaleSet, world) => summary(instancesOf(scaleSet, world)) },
  lists: {
    networkInterfaces: ({ resource, world }) =>
      (resource ? instancesOf(resource, world) : []).flatMap((each) => [
        ...world.store.collection(`${each.key}/networkinterfaces`),
      ]),
  },
  posts: { delete: deleteInstances, manualupgrade: upgradeInstances },
  differences: [
    "Instances exist as soon as the write is accepted, in state Creating until its operation completes.",
    "Scaling in deletes the newest instances; Azure balances zones first.",
    "An upgrade changes only the interfaces of instances; a rolling one completes immediately.",
    "Overprovisioning, automatic repairs and autoscale are stored as sent or not at all.",
    "Inbound NAT pools of the profile are stored; no rules are created from them.",
    "Public addresses in the profile are stored; none are created.",
  ],
};

function upgradesAtOnce(properties: JsonObject): boolean {
  const { mode } = (properties.upgradePolicy ?? {}) as JsonObject;
  return mode === "Automatic" || mode === "Rolling";
}

function machinesOf(scaleSet: Resource, world: World): Resource[] {
  return scaleSet.properties.orchestrationMode === "Flexible" ? instancesOf(scaleSet, world) : [];
}

function summary(instances: readonly Resource[]): JsonObject {
  const counts = new Map<string, number>();
  for (const { state } of instances) {
    const code = `ProvisioningState/${state.toLowerCase()}`;
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  return {
    virtualMachine: {
      statusesSummary: [...counts].map(([code, count]) => ({ code, count })),
    },
    statuses: [
      {
        code: "ProvisioningState/succeeded",
        level: "Info",
        displayStatus: "Provisioning succeeded",
      },
    ],
  };
}
