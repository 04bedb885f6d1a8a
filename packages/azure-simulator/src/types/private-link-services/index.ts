import {
  defined,
  flag,
  invalid,
  object,
  objects,
  oneOf,
  reference,
  tagsAndZone,
  text,
  texts,
} from "../../arm/fields.ts";
import { checkNetworkName } from "../../arm/links.ts";
import { Refusal } from "../../arm/refusal.ts";
import type { Join, ResourceType, World } from "../../arm/resource-type.ts";
import type { JsonObject } from "../../state/store.ts";
import { interfaceId, putInterface } from "../network-interfaces/made.ts";
import {
  connectionsOf,
  isRejected,
  shownConnection,
} from "../private-endpoint-connections/connection.ts";
import { updateEndpoint } from "../private-endpoint-connections/update-endpoint.ts";
import { makeAlias, serviceType } from "./aliases.ts";
import { acceptFrontends, frontendIds } from "./frontends.ts";
import { acceptNat, natAddresses } from "./nat.ts";

/** Private link services. The interface that holds their addresses is made and removed with them. */
export const privateLinkServices: ResourceType = {
  type: serviceType,
  dialect: "network",
  within: "resourceGroup",
  put: "async",
  delete: "async",
  joins({ properties }) {
    const subnets = objects(properties, "ipConfigurations").flatMap((each): Join[] => {
      const id = reference(object(each, "properties") ?? {}, "subnet");
      return id ? [{ id, action: "Microsoft.Network/virtualNetworks/subnets/join/action" }] : [];
    });
    const action = "Microsoft.Network/loadBalancers/frontendIPConfigurations/join/action";
    return [...subnets, ...frontendIds(properties).map((id) => ({ id, action }))];
  },
  accept({ body, properties, name, id, existing, world }) {
    checkNetworkName(name);
    const location = String(existing?.top.location ?? body.location);
    checkDestination(properties, name, world);
    const ipConfigurations = acceptNat(properties, id, location, existing, world);
    const frontends = acceptFrontends(properties, id, location, ipConfigurations, existing, world);
    const nicId =
      interfaceOf(existing?.properties) ?? interfaceId(id, `${name}.nic.${world.guid()}`);
    natAddresses({ id, properties: { ipConfigurations } }, nicId, world);
    return {
      top: defined({ location, ...tagsAndZone(body) }),
      properties: defined({
        resourceGuid: existing?.properties.resourceGuid ?? world.guid(),
        fqdns: texts(properties, "fqdns"),
        alias: existing?.properties.alias ?? makeAlias(name, world.guid(), location),
        ...audience(properties, id),
        enableProxyProtocol: flag(properties, "enableProxyProtocol", false),
        destinationIPAddress: text(properties, "destinationIPAddress", undefined),
        accessMode: oneOf(properties, "accessMode", ["Default", "Restricted"], undefined),
        loadBalancerFrontendIpConfigurations: frontends.map((each) => ({ id: each })),
        ipConfigurations,
        networkInterfaces: [{ id: nicId }],
      }),
    };
  },
  afterWrite(service, before, world) {
    const nicId = interfaceOf(service.properties) ?? "";
    const addresses = natAddresses(service, nicId, world);
    putInterface(nicId, service, addresses, world);
    if (
      !before ||
      JSON.stringify(before.properties.fqdns) === JSON.stringify(service.properties.fqdns)
    )
      return;
    // Its names are those of its endpoints too.
    for (const connection of connectionsOf(service, world.store)) updateEndpoint(connection, world);
  },
  show(service, world) {
    const etag = `W/"${service.etag}"`;
    return {
      ipConfigurations: objects(service.properties, "ipConfigurations").map((each) => ({
        ...each,
        etag,
      })),
      privateEndpointConnections: connectionsOf(service, world.store).map((each) =>
        shownConnection(each, etag),
      ),
    };
  },
  // The words are those of Azure's page on this error code for AKS.
  mayDelete(service, { store, switches }) {
    const holding = connectionsOf(service, store).filter(
      (each) => switches.rejectedConnectionsHoldServices || !isRejected(each),
    );
    const count = holding.length;
    if (count === 0) return;
    throw new Refusal(
      409,
      "PrivateLinkServiceWithPrivateEndpointConnectionsCannotBeDeleted",
      `Private link service ${service.id} cannot be deleted since it has ${count} private endpoint connections. Please delete all private endpoint connections before deleting the private link service.`,
    );
  },
  afterDelete(service, { store }) {
    store.remove((interfaceOf(service.properties) ?? "").toLowerCase());
  },
  differences: [
    "Deleting a service with connections: 409, as in openshift/hypershift#9194; a page of Azure says 400 for AKS.",
    "That there is one primary address, and that its subnet stays, that frontends stay, that a frontend has one service, that the load balancer is Standard, that its network is that of the addresses, and 8 addresses at most: rules [D, I], codes and messages [?].",
    "destinationIPAddress needs a feature of the subscription [P]: a switch.",
    "That a load balancer has eight link services at most is documented [D]: a switch; code and message are not [?].",
    "That rejected connections alone also prevent deleting a service is not proven [?]: a switch.",
  ],
};

/** Who sees the service, and who of those needs no approval. */
function audience(properties: JsonObject, id: string): JsonObject {
  const listed = (field: string) => {
    const given = object(properties, field);
    if (given === undefined) return undefined;
    const subscriptions = texts(given, "subscriptions");
    for (const each of subscriptions) checkAudience(each, field, id);
    return { subscriptions };
  };
  const visibility = listed("visibility");
  const autoApproval = listed("autoApproval");
  const seen = visibility?.subscriptions.map((each) => each.toLowerCase()) ?? [];
  const outside = autoApproval?.subscriptions.find(
    (each) => !seen.includes("*") && !seen.includes(each.toLowerCase()),
  );
  if (outside !== undefined)
    throw new Refusal(
      400,
      "PrivateLinkServiceAutoApprovalMustBeSubsetOfVisibility",
      `Private link service ${id} approves subscription ${outside} automatically, which is not in its visibility. Auto approval subscriptions must be a subset of visibility subscriptions.`,
    );
  return defined({ visibility, autoApproval });
}

/** Everybody, or subscriptions by their ids; the code is by analogy. */
function checkAudience(subscription: string, field: string, id: string): void {
  if (subscription === "*" || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(subscription))
    return;
  throw invalid(
    "InvalidRequestFormat",
    "Cannot parse the request.",
    "InvalidSubscriptionId",
    `The subscription '${subscription.slice(0, 60)}' in ${field} of private link service ${id} is neither a subscription id nor '*'.`,
  );
}

/** Recorded, in these words. */
function checkDestination(properties: JsonObject, name: string, { switches }: World): void {
  if (properties.destinationIPAddress === undefined || switches.privateLinkServiceUdr) return;
  throw new Refusal(
    400,
    "PrivateLinkServiceUdrIsDisabled",
    `DestinationIPAddress was provided, PLS UDR and NSG scenario is disabled for Private Link Service ${name} Either provide LoadBalancerFrontendIpConfiguration for PLS with LB or enable SubscriptionFeatures AllowPrivateLinkServiceUDR for PLS UDR/IP Based.`,
  );
}

function interfaceOf(properties: JsonObject | undefined): string | undefined {
  const [first] = properties ? objects(properties, "networkInterfaces") : [];
  return first && text(first, "id", undefined);
}
