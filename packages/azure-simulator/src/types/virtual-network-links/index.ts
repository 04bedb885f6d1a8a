import { flag, isObject, oneOf, reference, tags } from "../../arm/fields.ts";
import type { Operation } from "../../arm/operations.ts";
import type { ResourceType, World } from "../../arm/resource-type.ts";
import { parentOf, type Resource } from "../../state/store.ts";
import { badRequest } from "../dns-records/record-kinds.ts";
import { checkGlobal, mostLinks } from "../private-dns-zones/index.ts";

const policies = ["Default", "NxDomainRedirect"] as const;

/** learn.microsoft.com/azure/azure-resource-manager/management/azure-subscription-service-limits, Azure DNS limits */
const mostZonesOfNetwork = 1000;

/** Links from private zones to virtual networks. */
export const virtualNetworkLinks: ResourceType = {
  type: "Microsoft.Network/privateDnsZones/virtualNetworkLinks",
  dialect: "privateDns",
  within: "parent",
  put: "async",
  delete: "async",
  patch: (body, { top, properties }) => ({
    ...top,
    ...tags(body),
    properties: { ...properties, ...(isObject(body.properties) ? body.properties : {}) },
  }),
  joins({ properties }) {
    const network = reference(properties, "virtualNetwork");
    return network === undefined
      ? []
      : [{ id: network, action: "Microsoft.Network/virtualNetworks/join/action" }];
  },
  accept({ body, properties, name, parent, existing, world, id }) {
    if (!/^[a-z0-9]([-\w.]{0,78}\w)?$/i.test(name))
      throw badRequest(`The virtual network link name '${name.slice(0, 100)}' is not valid.`);
    checkGlobal(body, this.type);
    const network = reference(properties, "virtualNetwork") ?? networkOf(existing);
    if (network === undefined)
      throw badRequest(`The virtual network of the virtual network link '${name}' is required.`);
    const held = networkOf(existing);
    if (held !== undefined && held.toLowerCase() !== network.toLowerCase())
      throw badRequest(
        `The virtual network of the virtual network link '${name}' cannot be changed from '${held}' to '${network}'.`,
      );
    const registrationEnabled = flag(properties, "registrationEnabled", false);
    const policy = oneOf(properties, "resolutionPolicy", policies, "Default");
    const privateLink = parent?.name.split(".").includes("privatelink") === true;
    if (policy !== "Default" && !privateLink)
      throw badRequest(
        `The resolution policy '${policy}' is for zones of Private Link only, and '${parent?.name}' is none.`,
      );
    const fails = refused(network, registrationEnabled, parent, id.toLowerCase(), world);
    return {
      top: { location: "global", ...tags(body) },
      properties: {
        registrationEnabled,
        // Recorded: links of other zones have none.
        ...(privateLink && { resolutionPolicy: policy }),
        virtualNetwork: { id: network },
      },
      ...(fails && { fails }),
    };
  },
  show: ({ state }) => ({
    virtualNetworkLinkState: state === "Succeeded" ? "Completed" : "InProgress",
  }),
  differences: [
    "A link to a network that does not exist fails in its operation; code and message [?].",
    "Changing the network of a link, and NxDomainRedirect on a zone that is not of Private Link, are rejected immediately; code and message [?].",
    "The links of a network are deleted with it [?].",
  ],
};

/** What Azure finds out when it does the work: the write is taken, and its operation fails. */
function refused(
  network: string,
  registering: boolean,
  zone: Resource | undefined,
  own: string,
  world: World,
): NonNullable<Operation["error"]> | undefined {
  const { store } = world;
  if (!zone) return undefined;
  if (!store.get(network))
    return failure("BadRequest", `The virtual network '${network}' does not exist.`);
  const siblings = [...store.collection(`${zone.key}/virtualnetworklinks`)];
  const others = siblings.filter((each) => each.key !== own);
  if (others.length >= mostLinks.all)
    return failure("BadRequest", `The zone '${zone.name}' has ${others.length} links already.`);
  if (registering && others.filter(registers).length >= mostLinks.registering)
    return failure(
      "BadRequest",
      `The zone '${zone.name}' has ${mostLinks.registering} links with registration already.`,
    );
  const links = [...store.referrers(network.toLowerCase())].filter(
    (each) => each.type === virtualNetworkLinks.type && each.key !== own,
  );
  if (links.length >= mostZonesOfNetwork)
    return failure(
      "BadRequest",
      `The virtual network '${network}' is linked to ${links.length} zones already.`,
    );
  for (const link of links) {
    const other = store.get(parentOf(link.key));
    // Terraform shows both answers "polling after CreateOrUpdate"; the second is MicrosoftDocs/azure-aks-docs#212.
    if (other?.key === zone.key)
      return failure(
        "Conflict",
        `Private zone '${zone.name}' is already linked to the virtual network '${networkOf(link)}'.`,
      );
    if (other?.name === zone.name)
      return failure(
        "BadRequest",
        `A virtual network cannot be linked to multiple zones with overlapping namespaces. You tried to link virtual network with '${zone.name}' and '${other.name}' zones.`,
      );
    if (registering && registers(link))
      return failure(
        "BadRequest",
        `A virtual network can only be linked to 1 Private DNS zone(s) with auto-registration enabled; conflicting Private DNS zone is '${other?.name}'.`,
      );
  }
  return undefined;
}

function registers(link: Resource): boolean {
  return link.properties.registrationEnabled === true;
}

function networkOf(link: Resource | undefined): string | undefined {
  const network = link?.properties.virtualNetwork;
  return isObject(network) && typeof network.id === "string" ? network.id : undefined;
}

function failure(code: string, message: string): NonNullable<Operation["error"]> {
  return { code, message, details: [] };
}
