import { contains, parseCidr } from "@postern/core/cidr.ts";
import { isObject } from "../arm/fields.ts";
import type { Json, JsonObject, Resource, Store } from "../state/store.ts";

/** The version in which a field of a machine came:
 * https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service#schema-breakdown */
const since: Readonly<Record<string, string>> = {
  additionalCapabilities: "2021-11-01",
  azEnvironment: "2018-10-01",
  customData: "2019-02-01",
  evictionPolicy: "2020-12-01",
  extendedLocation: "2021-03-01",
  host: "2021-11-15",
  hostGroup: "2021-11-15",
  isHostCompatibilityLayerVm: "2020-06-01",
  isVmInStandbyPool: "2024-07-17",
  licenseType: "2020-09-01",
  osProfile: "2020-07-15",
  placementGroupId: "2017-08-01",
  plan: "2018-04-02",
  priority: "2020-12-01",
  provider: "2018-10-01",
  publicKeys: "2018-04-02",
  resourceGroupName: "2017-08-01",
  resourceId: "2019-03-11",
  securityProfile: "2020-06-01",
  storageProfile: "2019-06-01",
  subscriptionId: "2017-08-01",
  tags: "2017-08-01",
  tagsList: "2019-06-04",
  userData: "2021-01-01",
  virtualMachineScaleSet: "2021-03-01",
  vmId: "2017-04-02",
  vmScaleSetName: "2017-12-01",
  vmSize: "2017-04-02",
  zone: "2017-12-01",
};

/** What the instance service says of a machine. Every value is a text, and what is not known is an empty one. */
export function instanceDocument(store: Store, machine: Resource, version: string): JsonObject {
  const compute = computeOf(store, machine);
  for (const name of Object.keys(compute)) if ((since[name] ?? "") > version) delete compute[name];
  return {
    compute: compute,
    network: { interface: interfacesOf(store, machine).map((each) => interfaceOf(store, each)) },
  };
}

/** The network interfaces of a machine, those of a scale set's instance included. */
export function interfacesOf(store: Store, machine: Resource): Resource[] {
  const named = list(part(machine.properties, "networkProfile"), "networkInterfaces")
    .map((each) => store.get(text(each, "id")))
    .filter((each) => each !== undefined);
  return named.length > 0 ? named : [...store.collection(`${machine.key}/networkinterfaces`)];
}

/** The scale set that a machine is of. An instance of a uniform one is its child; others name it. */
export function scaleSetOf(store: Store, machine: Resource): Resource | undefined {
  const parent = /^(.*\/virtualmachinescalesets\/[^/]+)\/virtualmachines\/[^/]+$/.exec(machine.key);
  const id = parent?.[1] ?? text(part(machine.properties, "virtualMachineScaleSet"), "id");
  return id === "" ? undefined : store.get(id);
}

function computeOf(store: Store, machine: Resource): JsonObject {
  const { id, name, top } = machine;
  const scaleSet = scaleSetOf(store, machine);
  const uniform = machine.key.includes("/virtualmachinescalesets/");
  const properties = { ...profileOf(scaleSet), ...machine.properties };
  const os = part(properties, "osProfile");
  const storage = part(properties, "storageProfile");
  const image = part(storage, "imageReference");
  const security = part(properties, "securityProfile");
  const uefi = part(security, "uefiSettings");
  const linux = part(os, "linuxConfiguration");
  const plan = part(top, "plan");
  const tags = Object.entries(part(top, "tags"));
  const [, , subscriptionId = "", , resourceGroupName = ""] = id.split("/");
  return {
    additionalCapabilities: {
      hibernationEnabled: word(
        part(properties, "additionalCapabilities").hibernationEnabled,
        "false",
      ),
    },
    azEnvironment: "AzurePublicCloud",
    customData: "",
    evictionPolicy: text(properties, "evictionPolicy"),
    extendedLocation: {
      name: text(part(top, "extendedLocation"), "name"),
      type: text(part(top, "extendedLocation"), "type"),
    },
    host: { id: text(part(properties, "host"), "id") },
    hostGroup: { id: text(part(properties, "hostGroup"), "id") },
    isHostCompatibilityLayerVm: "false",
    isVmInStandbyPool: "",
    licenseType: text(properties, "licenseType"),
    location: text(top, "location") || text(scaleSet?.top ?? {}, "location"),
    name,
    offer: text(image, "offer"),
    osProfile: {
      adminUsername: text(os, "adminUsername"),
      computerName: text(os, "computerName"),
      disablePasswordAuthentication: word(linux.disablePasswordAuthentication, "false"),
    },
    osType:
      text(part(storage, "osDisk"), "osType") ||
      (isObject(os.windowsConfiguration) ? "Windows" : "Linux"),
    placementGroupId: uniform ? word(scaleSet?.properties.uniqueId) : "",
    plan: {
      name: text(plan, "name"),
      product: text(plan, "product"),
      publisher: text(plan, "publisher"),
    },
    platformFaultDomain: word(properties.platformFaultDomain, "0"),
    platformSubFaultDomain: "",
    platformUpdateDomain: "0",
    priority: text(properties, "priority"),
    provider: "Microsoft.Compute",
    publicKeys: list(part(linux, "ssh"), "publicKeys").map((each) => ({
      keyData: text(each, "keyData"),
      path: text(each, "path"),
    })),
    publisher: text(image, "publisher"),
    resourceGroupName,
    resourceId: id,
    securityProfile: {
      encryptionAtHost: word(security.encryptionAtHost, "false"),
      secureBootEnabled: word(uefi.secureBootEnabled, "false"),
      securityType: text(security, "securityType"),
      virtualTpmEnabled: word(uefi.vTpmEnabled, "false"),
    },
    sku: text(image, "sku"),
    storageProfile: storageOf(storage),
    subscriptionId,
    tags: tags.map(([tag, value]) => `${tag}:${word(value)}`).join(";"),
    tagsList: tags.map(([tag, value]) => ({ name: tag, value: word(value) })),
    userData: text(properties, "userData"),
    version: text(image, "exactVersion") || text(image, "version"),
    virtualMachineScaleSet: { id: uniform ? "" : (scaleSet?.id ?? "") },
    vmId: text(properties, "vmId"),
    vmScaleSetName: scaleSet?.name ?? "",
    vmSize: text(part(properties, "hardwareProfile"), "vmSize") || text(part(top, "sku"), "name"),
    zone: Array.isArray(top.zones) ? word(top.zones[0]) : "",
  };
}

function storageOf(storage: JsonObject): JsonObject {
  const image = part(storage, "imageReference");
  const disk = part(storage, "osDisk");
  const managed = (of: JsonObject) => ({
    id: text(part(of, "managedDisk"), "id"),
    storageAccountType: text(part(of, "managedDisk"), "storageAccountType"),
  });
  const common = (of: JsonObject) => ({
    caching: text(of, "caching"),
    createOption: text(of, "createOption"),
    diskSizeGB: word(of.diskSizeGB),
    image: { uri: "" },
    managedDisk: managed(of),
    name: text(of, "name"),
    vhd: { uri: "" },
    writeAcceleratorEnabled: word(of.writeAcceleratorEnabled, "false"),
  });
  return {
    dataDisks: list(storage, "dataDisks").map((each) => ({
      ...common(each),
      isSharedDisk: "false",
      isUltraDisk: "false",
      lun: word(each.lun),
    })),
    imageReference: {
      communityGalleryImageId: text(image, "communityGalleryImageId"),
      exactVersion: text(image, "exactVersion"),
      id: text(image, "id"),
      offer: text(image, "offer"),
      publisher: text(image, "publisher"),
      sharedGalleryImageId: text(image, "sharedGalleryImageId"),
      sku: text(image, "sku"),
      version: text(image, "version"),
    },
    osDisk: {
      ...common(disk),
      diffDiskSettings: { option: text(part(disk, "diffDiskSettings"), "option") },
      encryptionSettings: {
        diskEncryptionKey: { secretUrl: "", sourceVault: { id: "" } },
        enabled: "false",
        keyEncryptionKey: { keyUrl: "", sourceVault: { id: "" } },
      },
      osType: text(disk, "osType"),
    },
    resourceDisk: { size: "" },
  };
}

function interfaceOf(store: Store, nic: Resource): JsonObject {
  const addresses = list(nic.properties, "ipConfigurations").map((each) => {
    const configuration = part(each, "properties");
    const outside = store.get(text(part(configuration, "publicIPAddress"), "id"));
    return {
      version: text(configuration, "privateIPAddressVersion") === "IPv6" ? 6 : 4,
      subnet: text(part(configuration, "subnet"), "id"),
      shown: {
        privateIpAddress: text(configuration, "privateIPAddress"),
        publicIpAddress: text(outside?.properties ?? {}, "ipAddress"),
      },
    };
  });
  const of = (version: 4 | 6) => addresses.filter((each) => each.version === version);
  return {
    ipv4: {
      ipAddress: of(4).map(({ shown }) => shown),
      subnet: [...new Set(of(4).map(({ subnet }) => subnet))].map((id) =>
        subnetOf(store, id, of(4)[0]?.shown.privateIpAddress ?? ""),
      ),
    },
    ipv6: { ipAddress: of(6).map(({ shown }) => ({ privateIpAddress: shown.privateIpAddress })) },
    macAddress: text(nic.properties, "macAddress").replaceAll("-", ""),
  };
}

/** The block of a subnet that an address is in. */
function subnetOf(store: Store, id: string, address: string): JsonObject {
  const properties = store.get(id)?.properties ?? {};
  const blocks = Array.isArray(properties.addressPrefixes)
    ? properties.addressPrefixes.map((each) => word(each))
    : [];
  const one = text(properties, "addressPrefix");
  const block =
    [one, ...blocks].find((each) => each !== "" && includesAddress(each, address)) ??
    one ??
    blocks[0] ??
    "";
  const [network = "", prefix = ""] = block.split("/");
  return { address: network, prefix };
}

function includesAddress(block: string, address: string): boolean {
  try {
    return contains(parseCidr(block), parseCidr(`${address}/32`));
  } catch {
    return false;
  }
}

/** What the instances of a scale set share. */
function profileOf(scaleSet: Resource | undefined): JsonObject {
  return part(scaleSet?.properties ?? {}, "virtualMachineProfile");
}

/** A part of a resource, empty where there is none. Types that are still to come must not break the service. */
export function part(from: JsonObject, name: string): JsonObject {
  const value = from[name];
  return isObject(value) ? value : {};
}

/** A list of parts. */
export function list(from: JsonObject, name: string): JsonObject[] {
  const value = from[name];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A text, empty where there is none. */
export function text(from: JsonObject, name: string): string {
  return word(from[name]);
}

function word(value: Json | undefined, otherwise = ""): string {
  return value === undefined || value === null || typeof value === "object"
    ? otherwise
    : String(value);
}
