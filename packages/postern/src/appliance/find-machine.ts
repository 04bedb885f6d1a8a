import type { ArmClient } from "../azure/arm.ts";
import {
  type InterfaceIPConfiguration,
  type NetworkInterface,
  networkInterfaces,
} from "../azure/gateways/network-interfaces.ts";
import {
  type ScaleSetInstance,
  scaleSetInstances,
  scaleSetInterfaces,
} from "../azure/gateways/scale-set-instances.ts";
import { type VirtualMachine, virtualMachines } from "../azure/gateways/virtual-machines.ts";
import { ApplianceError } from "./errors.ts";
import type { GWLBConfig } from "./gwlb-config.ts";
import type { IMDSMetadata } from "./imds.ts";

/** Where a machine is in the network. */
export type Place = Pick<
  GWLBConfig,
  | "privateIP"
  | "vnetResourceId"
  | "subnetResourceId"
  | "nicResourceId"
  | "ipConfigurationName"
  | "macAddress"
>;

const what = "find this machine in Azure";

/** The machine that the metadata service names, and its primary interface: two requests. */
export async function findPlace(arm: ArmClient, metadata: IMDSMetadata): Promise<Place> {
  const { resourceId, scaleSet } = metadata;
  const uniform = scaleSet?.mode === "Uniform";
  const machine = uniform
    ? await scaleSetInstances(arm).get(resourceId)
    : await virtualMachines(arm).get(resourceId);
  const nicId = primaryInterface(machine, metadata);
  const interfaces = uniform ? scaleSetInterfaces(arm) : networkInterfaces(arm);
  return placeOf(await interfaces.get(nicId), nicId);
}

/** The id of a machine's primary interface; refused where the machine is not the one that asks. */
export function primaryInterface(
  machine: VirtualMachine | ScaleSetInstance | undefined,
  { resourceId, vmId }: Pick<IMDSMetadata, "resourceId" | "vmId">,
): string {
  if (machine === undefined)
    throw new ApplianceError({ code: "MachineNotFound", what, detail: resourceId });
  const { vmId: known, networkProfile } = machine.properties;
  if (known !== undefined && known.toLowerCase() !== vmId.toLowerCase()) {
    const detail = `${resourceId} has the id ${known}, and this machine was told ${vmId}`;
    throw new ApplianceError({ code: "MachineDiffers", what, detail });
  }
  const listed = networkProfile?.networkInterfaces ?? [];
  // With one interface Azure need not say that it is the primary one.
  const primary =
    listed.find(({ properties }) => properties?.primary === true) ??
    (listed.length === 1 ? listed[0] : undefined);
  if (primary !== undefined) return primary.id;
  const detail = `${resourceId} has ${listed.map(({ id }) => id).join(", ") || "none"}`;
  throw new ApplianceError({ code: "InterfaceNotFound", what, detail });
}

/** Where an interface is, by its primary IP configuration. */
export function placeOf(nic: NetworkInterface | undefined, nicId: string): Place {
  if (nic === undefined)
    throw new ApplianceError({
      code: "InterfaceNotFound",
      what,
      detail: `${nicId} does not exist`,
    });
  const configuration = primaryConfiguration(nic);
  const { privateIPAddress = "", subnet } = configuration?.properties ?? {};
  const vnetResourceId = subnet?.id.replace(/\/subnets\/[^/]+$/i, "");
  if (privateIPAddress === "" || subnet === undefined || vnetResourceId === undefined)
    throw new ApplianceError({ code: "AddressMissing", what, detail: nicId });
  return {
    privateIP: privateIPAddress,
    vnetResourceId,
    subnetResourceId: subnet.id,
    nicResourceId: nic.id ?? nicId,
    ipConfigurationName: configuration?.name ?? "",
    macAddress: (nic.properties.macAddress ?? "").replace(/[^\da-f]/gi, "").toUpperCase(),
  };
}

/** The IP configuration by which an interface joins a pool. */
export function primaryConfiguration(nic: NetworkInterface): InterfaceIPConfiguration | undefined {
  const all = nic.properties.ipConfigurations ?? [];
  return all.find(({ properties }) => properties.primary === true) ?? all[0];
}
