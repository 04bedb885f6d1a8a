import { defined, flag, isObject, number, object, objects, text } from "../../arm/fields.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { JsonObject } from "../../state/store.ts";

/** What is known of an image: what a machine made from it tells. */
export interface Image {
  osType: "Windows" | "Linux";
  exactVersion: string;
  diskSizeGB: number;
  osName: string;
  osVersion: string;
  agentVersion: string;
  generation: "V1" | "V2";
}

/** The image of the recordings; of others only the system is guessed, from their names. */
const recorded: Image = {
  osType: "Windows",
  exactVersion: "17763.8276.260109",
  diskSizeGB: 127,
  osName: "Windows Server 2019 Datacenter",
  osVersion: "10.0.17763.8276",
  agentVersion: "2.7.41491.1149",
  generation: "V1",
};

/** What a machine made from an image tells. */
export function imageOf(reference: JsonObject | undefined): Image {
  const { publisher = "", offer = "", sku = "", version = "latest" } = reference ?? {};
  const name = `${publisher}/${offer}/${sku}`.toLowerCase();
  if (name === "microsoftwindowsserver/windowsserver/2019-datacenter") return recorded;
  const exactVersion = version === "latest" ? "1.0.0" : String(version);
  if (name.includes("windows")) return { ...recorded, exactVersion, osName: String(offer) };
  return {
    osType: "Linux",
    exactVersion,
    diskSizeGB: 30,
    osName: String(offer || "linux"),
    osVersion: exactVersion,
    agentVersion: "2.9.1.1",
    generation: "V2",
  };
}

/** What is kept of an image reference. */
export function acceptImage(storage: JsonObject, exact: boolean): JsonObject | undefined {
  const given = object(storage, "imageReference");
  if (!given) return undefined;
  const version = text(given, "version", undefined);
  return defined({
    id: text(given, "id", undefined),
    publisher: text(given, "publisher", undefined),
    offer: text(given, "offer", undefined),
    sku: text(given, "sku", undefined),
    version,
    // Only what was published has an exact version; an image of one's own is what it is.
    exactVersion: exact && version !== undefined ? imageOf(given).exactVersion : undefined,
  });
}

/** What is kept of the profile of the system. A password is taken and never shown. */
export function acceptOs(
  given: JsonObject,
  names: JsonObject,
  image: Image,
  of: "machine" | "scaleSet",
): JsonObject {
  const adminUsername = text(given, "adminUsername", undefined);
  if (adminUsername === undefined) throw missing("osProfile.adminUsername");
  text(given, "adminPassword", undefined);
  const windows = object(given, "windowsConfiguration") ?? {};
  const linux = object(given, "linuxConfiguration") ?? {};
  const patching = of === "machine";
  return defined({
    ...names,
    adminUsername,
    ...(image.osType === "Windows"
      ? {
          windowsConfiguration: {
            provisionVMAgent: flag(windows, "provisionVMAgent", true),
            enableAutomaticUpdates: flag(windows, "enableAutomaticUpdates", true),
            ...(patching && {
              patchSettings: { patchMode: "AutomaticByOS", assessmentMode: "ImageDefault" },
              enableVMAgentPlatformUpdates: true,
            }),
          },
        }
      : {
          linuxConfiguration: defined({
            disablePasswordAuthentication: flag(linux, "disablePasswordAuthentication", false),
            ssh: object(linux, "ssh"),
            provisionVMAgent: flag(linux, "provisionVMAgent", true),
            ...(patching && {
              patchSettings: { patchMode: "ImageDefault", assessmentMode: "ImageDefault" },
            }),
          }),
        }),
    secrets: objects(given, "secrets"),
    allowExtensionOperations: flag(given, "allowExtensionOperations", true),
    requireGuestProvisionSignal: true,
  });
}

/** What is kept of the disk of the system, without its name. */
export function acceptOsDisk(
  storage: JsonObject,
  image: Image,
  defaults: { caching: string; storageAccountType: string },
): JsonObject {
  const disk = object(storage, "osDisk") ?? {};
  const managed = object(disk, "managedDisk") ?? {};
  return {
    osType: image.osType,
    createOption: text(disk, "createOption", "FromImage"),
    caching: text(disk, "caching", defaults.caching),
    managedDisk: {
      storageAccountType: text(managed, "storageAccountType", defaults.storageAccountType),
    },
    diskSizeGB: number(disk, "diskSizeGB", image.diskSizeGB),
  };
}

/** Refuse a name that the compute provider refuses. */
export function checkMachineName(name: string, what: string, target: string): void {
  // 1-64 of letters, digits, underscores, periods and hyphens, not beginning with an underscore nor ending with the
  // last two (https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules).
  if (/^(?!_)[-\w.]{0,63}\w$/.test(name)) return;
  throw new Refusal(
    400,
    "InvalidParameter",
    `The name '${name.slice(0, 80)}' of the ${what} is invalid.`,
    { by: "compute", target },
  );
}

/** A profile that the body must have. */
export function needed(from: JsonObject, name: string): JsonObject {
  const found = object(from, name);
  if (!found) throw missing(name);
  return found;
}

/** Refuse a body without something, as compute does. */
export function missing(name: string): Refusal {
  return new Refusal(400, "InvalidParameter", `Required parameter '${name}' is missing (null).`, {
    by: "compute",
    target: name,
  });
}

/** What a PUT would say, of what is kept and what a PATCH changes: objects are merged, anything else is replaced. */
export function merged(held: JsonObject, given: JsonObject): JsonObject {
  const made: JsonObject = { ...held };
  for (const name in given) {
    const [old, now] = [made[name], given[name]];
    made[name] = isObject(old) && isObject(now) ? merged(old, now) : now;
  }
  return made;
}
