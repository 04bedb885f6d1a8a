import {
  defined,
  flag,
  number,
  object,
  objects,
  oneOf,
  tags,
  text,
  texts,
} from "../../arm/fields.ts";
import { link, links } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { Accepted, Writing } from "../../arm/resource-type.ts";
import { acceptIdentity } from "../../entra/identities.ts";
import type { JsonObject } from "../../state/store.ts";
import {
  acceptImage,
  acceptOs,
  acceptOsDisk,
  checkMachineName,
  imageOf,
  missing,
  needed,
} from "../virtual-machines/profile.ts";

/** What is kept of a scale set. */
export function acceptScaleSet(writing: Writing): Accepted {
  const { body, properties, existing, world, name } = writing;
  checkMachineName(name, "virtual machine scale set", "vmScaleSetName");
  const sku = object(body, "sku") ?? (existing?.top.sku as JsonObject | undefined);
  if (!sku) throw missing("sku");
  const capacity = number(sku, "capacity", 0);
  if (capacity < 0 || capacity > 1000)
    throw new Refusal(
      400,
      "InvalidParameter",
      `The value '${capacity}' of parameter 'sku.capacity' is not between 0 and 1000.`,
      { by: "compute", target: "sku.capacity" },
    );
  const held = existing?.properties;
  const mode = oneOf(
    properties,
    "orchestrationMode",
    ["Uniform", "Flexible"],
    (held?.orchestrationMode as "Uniform" | "Flexible" | undefined) ?? "Uniform",
  );
  if (held && held.orchestrationMode !== mode)
    throw new Refusal(
      400,
      "PropertyChangeNotAllowed",
      "Changing property 'orchestrationMode' is not allowed.",
      { by: "compute", target: "orchestrationMode" },
    );
  const created = String(held?.timeCreated ?? new Date(world.now()).toISOString());
  const zones = texts(body, "zones");
  return {
    top: defined({
      location: body.location ?? existing?.top.location,
      ...tags(body),
      ...(zones.length > 0 && { zones }),
      identity: acceptIdentity(writing),
      sku: {
        name: text(sku, "name", "Standard_A1_v2"),
        tier: text(sku, "tier", "Standard"),
        capacity,
      },
    }),
    properties: defined({
      singlePlacementGroup: flag(properties, "singlePlacementGroup", mode === "Uniform"),
      orchestrationMode: mode,
      upgradePolicy: mode === "Uniform" ? upgrades(properties) : undefined,
      virtualMachineProfile: profile(properties, created, mode),
      overprovision: mode === "Uniform" ? flag(properties, "overprovision", true) : undefined,
      doNotRunExtensionsOnOverprovisionedVMs: mode === "Uniform" ? false : undefined,
      uniqueId: held?.uniqueId ?? world.guid(),
      platformFaultDomainCount: number(
        properties,
        "platformFaultDomainCount",
        mode === "Uniform" ? 5 : 1,
      ),
      timeCreated: created,
      // How many there have been: a number is never given twice.
      instancesMade: held?.instancesMade ?? 0,
    }),
  };
}

function upgrades(properties: JsonObject): JsonObject {
  const policy = object(properties, "upgradePolicy") ?? {};
  const automatic = object(policy, "automaticOSUpgradePolicy") ?? {};
  return {
    mode: oneOf(policy, "mode", ["Manual", "Automatic", "Rolling"], "Manual"),
    automaticOSUpgradePolicy: {
      enableAutomaticOSUpgrade: flag(automatic, "enableAutomaticOSUpgrade", false),
      useRollingUpgradePolicy: flag(automatic, "useRollingUpgradePolicy", false),
      disableAutomaticRollback: flag(automatic, "disableAutomaticRollback", false),
    },
  };
}

function profile(
  properties: JsonObject,
  created: string,
  mode: "Uniform" | "Flexible",
): JsonObject {
  const given = needed(properties, "virtualMachineProfile");
  const storage = needed(given, "storageProfile");
  const network = needed(given, "networkProfile");
  const os = object(given, "osProfile");
  const image = imageOf(object(storage, "imageReference"));
  return defined({
    osProfile:
      os &&
      acceptOs(os, { computerNamePrefix: text(os, "computerNamePrefix", "vm") }, image, "scaleSet"),
    storageProfile: defined({
      osDisk: acceptOsDisk(storage, image, { caching: "None", storageAccountType: "Premium_LRS" }),
      imageReference: acceptImage(storage, false),
    }),
    networkProfile: defined({
      networkApiVersion:
        mode === "Flexible" ? text(network, "networkApiVersion", "2020-11-01") : undefined,
      healthProbe: link(network, "healthProbe"),
      networkInterfaceConfigurations: interfaceConfigurations(network),
    }),
    scheduledEventsProfile: object(given, "scheduledEventsProfile"),
    priority: text(given, "priority", undefined),
    timeCreated: created,
  });
}

/** What is kept of the interfaces that a profile describes. */
export function interfaceConfigurations(network: JsonObject): JsonObject[] {
  const given = objects(network, "networkInterfaceConfigurations");
  if (given.length === 0) throw missing("networkInterfaceConfigurations");
  return given.map((each) => interfaceConfiguration(each, given.length === 1));
}

function interfaceConfiguration(given: JsonObject, only: boolean): JsonObject {
  const properties = object(given, "properties") ?? {};
  const dns = object(properties, "dnsSettings") ?? {};
  const configurations = objects(properties, "ipConfigurations");
  if (configurations.length === 0) throw missing("ipConfigurations");
  return {
    name: text(given, "name", "nic"),
    properties: defined({
      primary: flag(properties, "primary", only),
      enableAcceleratedNetworking: flag(properties, "enableAcceleratedNetworking", false),
      disableTcpStateTracking: flag(properties, "disableTcpStateTracking", false),
      networkSecurityGroup: link(properties, "networkSecurityGroup"),
      dnsSettings: { dnsServers: texts(dns, "dnsServers") },
      enableIPForwarding: flag(properties, "enableIPForwarding", false),
      ipConfigurations: configurations.map((each) => ipConfiguration(each)),
    }),
  };
}

function ipConfiguration(given: JsonObject): JsonObject {
  const properties = object(given, "properties") ?? {};
  const subnet = link(properties, "subnet");
  if (!subnet) throw missing("subnet");
  return {
    name: text(given, "name", "ipconfig"),
    properties: defined({
      subnet,
      primary: flag(properties, "primary", undefined),
      privateIPAddressVersion: oneOf(
        properties,
        "privateIPAddressVersion",
        ["IPv4", "IPv6"],
        "IPv4",
      ),
      publicIPAddressConfiguration: object(properties, "publicIPAddressConfiguration"),
      loadBalancerBackendAddressPools: links(properties, "loadBalancerBackendAddressPools"),
      loadBalancerInboundNatPools: links(properties, "loadBalancerInboundNatPools"),
    }),
  };
}
