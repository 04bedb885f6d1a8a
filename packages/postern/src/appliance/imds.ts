import { isIp } from "@postern/core/ip.ts";
import { tryParseResourceId } from "@postern/core/resource-id.ts";
import type { ApplianceContext } from "./context.ts";
import { ApplianceError } from "./errors.ts";

/** The scale set that a machine is of. Instances of a uniform one are no virtual machines of their own. */
export interface ScaleSetOfMachine {
  name: string;
  mode: "Uniform" | "Flexible";
}

/** One network interface as the machine itself is told of it. Their order says nothing. */
export interface IMDSInterface {
  /** Twelve digits in capitals, without anything between. */
  macAddress: string;
  privateIPs: string[];
}

/** What the metadata service says of this machine. */
export interface IMDSMetadata {
  vmId: string;
  subscriptionId: string;
  resourceGroup: string;
  location: string;
  name: string;
  /** What the machine is in Resource Manager. */
  resourceId: string;
  /** The name of the cloud, as in `AzurePublicCloud`. */
  environment: string;
  scaleSet?: ScaleSetOfMachine;
  zone?: string;
  tags: Readonly<Record<string, string>>;
  interfaces: IMDSInterface[];
}

const newestVersion = "2025-04-07";
const what = "read the metadata of this machine";

/** Ask the metadata service which machine this is. */
export async function queryIMDS(
  ctx: ApplianceContext,
  options: { patienceMs?: number } = {},
): Promise<IMDSMetadata> {
  const request = { what, path: "/instance", apiVersion: newestVersion, signal: ctx.signal };
  return readMetadata(await ctx.imds.ask({ ...request, ...options }));
}

/** Read the answer. All values are texts, and what is not known is an empty one. */
export function readMetadata(body: unknown): IMDSMetadata {
  const compute = part(body, "compute");
  const resourceId = machineId(compute);
  const vmId = text(compute, "vmId");
  if (resourceId === undefined || vmId === "")
    throw new ApplianceError({ code: "MetadataIncomplete", what });
  const scaleSet = scaleSetIn(compute, resourceId);
  const zone = text(compute, "zone");
  return {
    vmId,
    subscriptionId: text(compute, "subscriptionId"),
    resourceGroup: text(compute, "resourceGroupName"),
    location: text(compute, "location"),
    name: text(compute, "name"),
    resourceId,
    environment: text(compute, "azEnvironment"),
    ...(scaleSet && { scaleSet }),
    ...(zone !== "" && { zone }),
    tags: Object.fromEntries(
      list(compute, "tagsList").map((each) => [text(each, "name"), text(each, "value")]),
    ),
    interfaces: list(part(body, "network"), "interface").map((each) => ({
      macAddress: text(each, "macAddress")
        .replace(/[^\da-f]/gi, "")
        .toUpperCase(),
      privateIPs: ["ipv4", "ipv6"]
        .flatMap((version) => list(part(each, version), "ipAddress"))
        .map((address) => text(address, "privateIpAddress"))
        .filter((address) => isIp(address)),
    })),
  };
}

/** Only an id that is one: it becomes the path of a request. */
function machineId(compute: unknown): string | undefined {
  return tryParseResourceId(text(compute, "resourceId"));
}

function scaleSetIn(compute: unknown, resourceId: string): ScaleSetOfMachine | undefined {
  const uniform = /\/virtualMachineScaleSets\/([^/]+)\/virtualMachines\//i.exec(resourceId)?.[1];
  if (uniform !== undefined) return { name: uniform, mode: "Uniform" };
  const id = text(part(compute, "virtualMachineScaleSet"), "id");
  const name = text(compute, "vmScaleSetName") || id.slice(id.lastIndexOf("/") + 1);
  return name === "" ? undefined : { name, mode: "Flexible" };
}

function part(from: unknown, name: string): unknown {
  return typeof from === "object" && from !== null ? Reflect.get(from, name) : undefined;
}

function list(from: unknown, name: string): unknown[] {
  const value = part(from, name);
  return Array.isArray(value) ? value : [];
}

function text(from: unknown, name: string): string {
  const value = part(from, name);
  return typeof value === "string" ? value : "";
}
