import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { resourceIn, tryParseResourceId } from "@postern/core/resource-id.ts";
import type { DesiredConnection } from "../../../private-link/endpoint/desired.ts";
import { reasons } from "../reasons.ts";
import type { DesiredPrivateEndpoint, Entry, TaggedResources } from "./desired.ts";
import { asObject, entriesIn, isName, textsIn } from "./parse.ts";

const longestEndpoint = 64;
const longestName = 80;
const longestMessage = 140;
/** Azure's limit for a network: https://learn.microsoft.com/azure/azure-resource-manager/management/azure-subscription-service-limits */
const mostEndpoints = 1_000;

/** The private endpoints that an AzureCluster requests, in all of its subnets. Without `resources` they are only checked. */
export function desiredEndpoints(
  { spec }: AzureCluster,
  resources: TaggedResources | undefined,
): Entry<DesiredPrivateEndpoint>[] {
  const names = new Set<string>();
  return entriesIn(spec.networkSpec?.subnets).flatMap(({ entry: subnet, at: number }) => {
    const { name: subnetName, privateEndpoints } = asObject(subnet) ?? {};
    return entriesIn(privateEndpoints).map(({ entry, at }): Entry<DesiredPrivateEndpoint> => {
      const where = `spec.networkSpec.subnets[${number}].privateEndpoints[${at}]`;
      const endpoint = asObject(entry) ?? {};
      const name = typeof endpoint.name === "string" ? endpoint.name : "";
      if (names.size >= mostEndpoints)
        return problem(name, where, `a cluster has at most ${mostEndpoints} of them`);
      const why =
        wrong(endpoint, name, subnetName) ??
        (names.has(name.toLowerCase())
          ? `the name ${name} is there twice, and all are in one group`
          : undefined);
      names.add(name.toLowerCase());
      if (why !== undefined) return problem(name, where, why);
      if (resources === undefined) return problem(name, where, "its place is unknown");
      return { desired: read(endpoint, name, String(subnetName), resources) };
    });
  });
}

/** What is wrong with an endpoint; undefined where it can be created. */
function wrong(
  endpoint: Record<string, unknown>,
  name: string,
  subnet: unknown,
): string | undefined {
  if (!isName(name, longestEndpoint))
    return `its name must have 1 to ${longestEndpoint} letters, digits and -_.`;
  if (typeof subnet !== "string" || !isName(subnet, longestName)) return "its subnet has no name";
  const connections = entriesIn(endpoint.privateLinkServiceConnections);
  if (connections.length === 0) return "privateLinkServiceConnections is empty";
  for (const { entry } of connections) {
    const { privateLinkServiceID: id, requestMessage, name: called } = asObject(entry) ?? {};
    if (!isId(id)) return "a connection has no privateLinkServiceID that is the id of a resource";
    if (called !== undefined && called !== "" && !isName(String(called), longestName))
      return `the name of a connection must have at most ${longestName} letters, digits and -_.`;
    if (typeof requestMessage === "string" && requestMessage.length > longestMessage)
      return `a requestMessage has more than ${longestMessage} characters`;
  }
  return undefined;
}

function isId(text: unknown): text is string {
  return tryParseResourceId(text) !== undefined;
}

function read(
  endpoint: Record<string, unknown>,
  name: string,
  subnet: string,
  resources: TaggedResources,
): DesiredPrivateEndpoint {
  const { location, customNetworkInterfaceName: nic } = endpoint;
  return {
    name,
    id: resourceIn(resources.group, "Microsoft.Network/privateEndpoints", name),
    location: typeof location === "string" && location !== "" ? location : resources.location,
    tags: resources.tags,
    subnet: resources.subnet(subnet),
    manual: endpoint.manualApproval === true,
    connections: entriesIn(endpoint.privateLinkServiceConnections).map(({ entry }, at) =>
      connection(asObject(entry) ?? {}, at === 0 ? name : `${name}-${at + 1}`),
    ),
    interfaceName: typeof nic === "string" ? nic : "",
    addresses: textsIn(endpoint.privateIPAddresses),
    securityGroups: textsIn(endpoint.applicationSecurityGroups),
  };
}

/** A connection without a name is called after its endpoint: Azure needs one. */
function connection(given: Record<string, unknown>, fallback: string): DesiredConnection {
  const { name, privateLinkServiceID, groupIDs, requestMessage } = given;
  return {
    name: typeof name === "string" && name !== "" ? name : fallback,
    service: String(privateLinkServiceID),
    groupIds: textsIn(groupIDs),
    ...(typeof requestMessage === "string" && requestMessage !== "" && { requestMessage }),
  };
}

function problem(name: string, where: string, why: string): Entry<never> {
  const thing = `private endpoint ${name || "without a name"}`;
  const message = `${thing} cannot be created · ${where}: ${why} · correct it`;
  return { problem: { scope: "endpoints", reason: reasons.invalid, message } };
}
