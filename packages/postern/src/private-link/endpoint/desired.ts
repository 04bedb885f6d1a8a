import { sameRegion } from "@postern/core/region.ts";
import { nameOf, type ResourceId, sameId } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import { withAllTags } from "@postern/core/user-tags.ts";
import {
  connectionsOf,
  type LinkServiceConnection,
  type PrivateEndpoint,
  withoutEndpointAnswers,
} from "../../azure/gateways/private-endpoints.ts";
import { type Differences, failedState } from "../plan-resource.ts";
import { sameSet, sameText } from "../same.ts";

/** A private endpoint as it should be. */
export interface DesiredEndpoint {
  id: ResourceId;
  location: string;
  tags: Tags;
  /** What somebody asks for beside them; undefined where that is not known. */
  userTags?: Tags | undefined;
  subnet: string;
  /** Whether somebody has to approve it. */
  manual: boolean;
  connections: readonly DesiredConnection[];
  interfaceName: string;
  addresses: readonly string[];
  securityGroups: readonly string[];
}

export interface DesiredConnection {
  name: string;
  /** The id of the link service, or its alias. */
  service: string;
  groupIds: readonly string[];
  requestMessage?: string;
}

/** How a private endpoint can differ from what it should be. */
export type EndpointDifference =
  | "subnet"
  | "region"
  | "connections"
  | "disconnected"
  | "approval"
  | "interfaceName"
  | "addresses"
  | "securityGroups"
  | "tags";

/** How the connections of an endpoint stand: the worst of them counts. */
export type Connected = "approved" | "pending" | "rejected" | "disconnected";

/** The body that creates a private endpoint. */
export function newEndpoint(desired: DesiredEndpoint): PrivateEndpoint {
  const { id, location, subnet, manual, interfaceName } = desired;
  const connections = desired.connections.map(
    ({ name, service, groupIds, requestMessage }): LinkServiceConnection => ({
      name,
      properties: {
        privateLinkServiceId: service,
        ...(groupIds.length > 0 && { groupIds: [...groupIds] }),
        ...(requestMessage !== undefined && { requestMessage }),
      },
    }),
  );
  return {
    location,
    tags: { ...withAllTags({}, desired) },
    properties: {
      subnet: { id: subnet },
      privateLinkServiceConnections: manual ? [] : connections,
      manualPrivateLinkServiceConnections: manual ? connections : [],
      ...(interfaceName !== "" && { customNetworkInterfaceName: interfaceName }),
      ...(desired.addresses.length > 0 && {
        ipConfigurations: desired.addresses.map((privateIPAddress, at) => ({
          name: `${nameOf(id)}-ipconfig-${at + 1}`,
          properties: { privateIPAddress },
        })),
      }),
      ...groups(desired),
    },
  };
}

function groups({ securityGroups }: DesiredEndpoint) {
  return securityGroups.length === 0
    ? {}
    : { applicationSecurityGroups: securityGroups.map((id) => ({ id })) };
}

/** An endpoint as it is: for a source that leaves to others what it does not choose itself. */
export function asFound(
  found: PrivateEndpoint,
): Pick<
  DesiredEndpoint,
  "manual" | "connections" | "interfaceName" | "addresses" | "securityGroups"
> {
  const { customNetworkInterfaceName, applicationSecurityGroups = [] } = found.properties;
  const connections = connectionsIn(found);
  return {
    manual: connections[0]?.manual ?? true,
    connections: connections.map(({ name = "", service, groupIds }) => ({
      name,
      service,
      groupIds,
    })),
    interfaceName: customNetworkInterfaceName ?? "",
    addresses: addressesIn(found),
    securityGroups: applicationSecurityGroups.map(({ id }) => id),
  };
}

/** Compare every property that can be desired. */
export function endpointDifferences(
  found: PrivateEndpoint,
  desired: DesiredEndpoint,
): Differences<EndpointDifference> {
  const { properties, tags = {} } = found;
  const fixed: EndpointDifference[] = [];
  const changeable: EndpointDifference[] = [];
  if (!sameId(properties.subnet?.id ?? "", desired.subnet)) fixed.push("subnet");
  if (!sameRegion(found.location, desired.location)) fixed.push("region");
  fixed.push(...connectionDifferences(found, desired));
  if (!sameText(properties.customNetworkInterfaceName, desired.interfaceName))
    fixed.push("interfaceName");
  if (!sameSet(addressesIn(found), desired.addresses)) fixed.push("addresses");
  const present = (properties.applicationSecurityGroups ?? []).map(({ id }) => id);
  if (!sameSet(present, desired.securityGroups)) changeable.push("securityGroups");
  if (withAllTags(tags, desired) !== tags) changeable.push("tags");
  return { fixed, changeable, failed: failedState(found) };
}

/** How an approved connection was asked for matters no more: to ask again would only cut it. */
function connectionDifferences(
  found: PrivateEndpoint,
  desired: DesiredEndpoint,
): EndpointDifference[] {
  const connections = connectionsIn(found);
  const pairs = desired.connections.map((each) => ({
    each,
    one: connections.find(({ name }) => sameText(name, each.name)),
  }));
  const hasOtherConnections = pairs.some(
    ({ each, one }) =>
      one === undefined ||
      !sameId(one.service, each.service) ||
      !sameSet(one.groupIds, each.groupIds),
  );
  if (hasOtherConnections || connections.length !== desired.connections.length)
    return ["connections"];
  const state = connectedOf(found);
  if (state === "disconnected") return ["disconnected"];
  if (state === "approved") return [];
  const asked = pairs.some(
    ({ each, one }) =>
      one?.manual !== desired.manual ||
      (each.requestMessage !== undefined && each.requestMessage !== one.message),
  );
  return asked ? ["approval"] : [];
}

/** The body that updates what can be changed, with all that others have set. */
export function repairedEndpoint(
  found: PrivateEndpoint,
  desired: DesiredEndpoint,
): PrivateEndpoint {
  const { properties, ...top } = withoutEndpointAnswers(found);
  const {
    applicationSecurityGroups: _groups,
    privateLinkServiceConnections = [],
    manualPrivateLinkServiceConnections = [],
    ...retained
  } = properties;
  return {
    ...top,
    tags: { ...withAllTags(found.tags ?? {}, desired) },
    properties: {
      ...retained,
      privateLinkServiceConnections: privateLinkServiceConnections.map(asked),
      manualPrivateLinkServiceConnections: manualPrivateLinkServiceConnections.map(asked),
      ...groups(desired),
    },
  };
}

/** What was asked for, without what Azure says about it. */
function asked({ name, properties }: LinkServiceConnection): LinkServiceConnection {
  const {
    provisioningState: _state,
    privateLinkServiceConnectionState: _decision,
    ...fields
  } = properties;
  return { ...(name !== undefined && { name }), properties: fields };
}

/** How far the connections of an endpoint are. */
export function connectedOf(found: PrivateEndpoint): Connected {
  const states = connectionsIn(found).map(({ state }) => state);
  if (states.some((each) => each === "disconnected" || each === "removed")) return "disconnected";
  if (states.some((each) => each === "rejected")) return "rejected";
  const isApproved = states.length > 0 && states.every((each) => each === "approved");
  return isApproved ? "approved" : "pending";
}

function addressesIn({ properties }: PrivateEndpoint): string[] {
  return (properties.ipConfigurations ?? []).flatMap(
    (each) => each.properties?.privateIPAddress ?? [],
  );
}

function connectionsIn(found: PrivateEndpoint) {
  const manual = new Set(found.properties?.manualPrivateLinkServiceConnections ?? []);
  return connectionsOf(found).map((each) => ({
    manual: manual.has(each),
    name: each.name,
    service: each.properties.privateLinkServiceId ?? "",
    groupIds: each.properties.groupIds ?? [],
    message: each.properties.requestMessage,
    state: (each.properties.privateLinkServiceConnectionState?.status ?? "").toLowerCase(),
  }));
}
