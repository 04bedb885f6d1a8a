import {
  connectionsOf,
  type LinkServiceConnection,
  type PrivateEndpoint,
  withoutEndpointAnswers,
} from "../../azure/gateways/private-endpoints.ts";
import { sameId } from "../../model/resource-id.ts";
import { withTags } from "../../model/tags.ts";
import type { Differences } from "./link-service.ts";
import { isBroken, sameRegion, sameSet, sameText } from "./same.ts";
import type { WantedEndpoint } from "./wanted.ts";

/** How the connections of an endpoint stand: the worst of them counts. */
export type Connected = "approved" | "pending" | "rejected" | "disconnected";

/** The body that makes a private endpoint. */
export function newEndpoint(wanted: WantedEndpoint): PrivateEndpoint {
  const { location, tags, subnet, manual, interfaceName, name } = wanted;
  const connections = wanted.connections.map(
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
    tags: { ...tags },
    properties: {
      subnet: { id: subnet },
      privateLinkServiceConnections: manual ? [] : connections,
      manualPrivateLinkServiceConnections: manual ? connections : [],
      ...(interfaceName !== "" && { customNetworkInterfaceName: interfaceName }),
      ...(wanted.addresses.length > 0 && {
        ipConfigurations: wanted.addresses.map((privateIPAddress, at) => ({
          name: `${name}-ipconfig-${at + 1}`,
          properties: { privateIPAddress },
        })),
      }),
      ...groups(wanted),
    },
  };
}

function groups({ securityGroups }: WantedEndpoint) {
  return securityGroups.length === 0
    ? {}
    : { applicationSecurityGroups: securityGroups.map((id) => ({ id })) };
}

/** Compare every property that can be asked for. */
export function endpointDifferences(found: PrivateEndpoint, wanted: WantedEndpoint): Differences {
  const { properties, tags = {} } = found;
  const fixed: string[] = [];
  const changeable: string[] = [];
  if (!sameId(properties.subnet?.id ?? "", wanted.subnet)) fixed.push("it is in another subnet");
  if (!sameRegion(found.location, wanted.location)) fixed.push("it is in another region");
  fixed.push(...connectionDifferences(found, wanted));
  if (!sameText(properties.customNetworkInterfaceName, wanted.interfaceName))
    fixed.push("its network interface has another name");
  const addresses = (properties.ipConfigurations ?? []).flatMap(
    (each) => each.properties?.privateIPAddress ?? [],
  );
  if (!sameSet(addresses, wanted.addresses)) fixed.push("other addresses were given to it");
  const held = (properties.applicationSecurityGroups ?? []).map(({ id }) => id);
  if (!sameSet(held, wanted.securityGroups))
    changeable.push("it is in other application security groups");
  if (withTags(tags, wanted.tags) !== tags) changeable.push("its tags are others");
  if (isBroken(properties.provisioningState))
    changeable.push(`its provisioning state is ${properties.provisioningState}`);
  return { fixed, changeable };
}

/** How an approved connection was asked for matters no more: to ask again would only cut it. */
function connectionDifferences(found: PrivateEndpoint, wanted: WantedEndpoint): string[] {
  const held = connectionsIn(found);
  const pairs = wanted.connections.map((each) => ({
    each,
    one: held.find(({ name }) => sameText(name, each.name)),
  }));
  const others = pairs.some(
    ({ each, one }) =>
      one === undefined ||
      !sameId(one.service, each.service) ||
      !sameSet(one.groupIds, each.groupIds),
  );
  if (others || held.length !== wanted.connections.length) return ["it is connected elsewhere"];
  const state = connectedOf(found);
  if (state === "disconnected") return ["its connection was removed from the link service"];
  if (state === "approved") return [];
  const asked = pairs.some(
    ({ each, one }) =>
      one?.manual !== wanted.manual ||
      (each.requestMessage !== undefined && each.requestMessage !== one.message),
  );
  return asked ? ["it asked for approval in another way"] : [];
}

/** The body that puts right what can be changed, with all that others have set. */
export function repairedEndpoint(found: PrivateEndpoint, wanted: WantedEndpoint): PrivateEndpoint {
  const { properties, ...top } = withoutEndpointAnswers(found);
  const {
    applicationSecurityGroups: _groups,
    privateLinkServiceConnections = [],
    manualPrivateLinkServiceConnections = [],
    ...kept
  } = properties;
  return {
    ...top,
    tags: { ...withTags(found.tags ?? {}, wanted.tags) },
    properties: {
      ...kept,
      privateLinkServiceConnections: privateLinkServiceConnections.map(asked),
      manualPrivateLinkServiceConnections: manualPrivateLinkServiceConnections.map(asked),
      ...groups(wanted),
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
  return states.every((each) => each === "approved") ? "approved" : "pending";
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
