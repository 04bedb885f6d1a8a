import type { PrivateLink } from "@postern/core/kinds/api-server-load-balancer.ts";
import type { PrivateEndpointSpec } from "@postern/core/kinds/azure-cluster-network.ts";
import { idKey, sameId } from "@postern/core/resource-id.ts";
import {
  apiConnectionName,
  apiEndpointName,
  type ManagementLink,
  managementConnectionName,
  managementEndpointName,
  managementLinkGroupName,
  managementLinkName,
} from "../../names.ts";
import type { ClusterFacts } from "../spec/facts.ts";

/** The API server and Azure refuse a longer one. */
const longestMessage = 140;

/** The id of a link service. Not checked: it must be what the operators before us wrote, to the byte. */
export function linkServiceId(subscription: string, group: string, name: string): string {
  return `/subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.Network/privateLinkServices/${name}`;
}

/** The endpoint of the management cluster to one link of a workload cluster. */
export function apiEndpoint(
  link: PrivateLink,
  workload: ClusterFacts,
  management: ClusterFacts,
): PrivateEndpointSpec {
  const approved = includes(link.autoApprovedSubscriptions, management.subscription);
  const requestMessage =
    `Postern: management cluster ${management.name} asks to reach the API server of ${workload.name}`.slice(
      0,
      longestMessage,
    );
  return {
    name: apiEndpointName(link.name),
    location: management.location,
    privateLinkServiceConnections: [
      {
        name: apiConnectionName(link.name),
        privateLinkServiceID: linkServiceId(workload.subscription, workload.group, link.name),
        ...(!approved && { requestMessage }),
      },
    ],
    manualApproval: !approved,
  };
}

/** The endpoint of a workload cluster to a link of the management cluster. */
export function managementEndpoint(
  workload: ClusterFacts,
  management: ClusterFacts,
  link: ManagementLink,
): PrivateEndpointSpec {
  const names = [workload.name, management.name, link] as const;
  return {
    name: managementEndpointName(...names),
    location: workload.location,
    privateLinkServiceConnections: [
      {
        name: managementConnectionName(...names),
        privateLinkServiceID: linkServiceId(
          management.subscription,
          managementLinkGroupName(management, link),
          managementLinkName(management.name, link),
        ),
      },
    ],
    manualApproval: false,
  };
}

/** Whether a link admits a subscription. An empty list admits nobody. */
export function admits(link: PrivateLink, subscription: string): boolean {
  return includes(link.allowedSubscriptions, subscription);
}

function includes(
  list: readonly (string | null)[] | null | undefined,
  subscription: string,
): boolean {
  return (list ?? []).some(
    (each) => typeof each === "string" && idKey(each.trim()) === idKey(subscription),
  );
}

/** The link service that an endpoint leads to first. */
export function serviceOf(endpoint: PrivateEndpointSpec): string {
  return connectionsIn(endpoint)[0]?.privateLinkServiceID ?? "";
}

/** The connections of an endpoint, without nulls. */
export function connectionsIn(endpoint: PrivateEndpointSpec) {
  const all: readonly (PrivateEndpointSpec["privateLinkServiceConnections"][number] | null)[] =
    endpoint.privateLinkServiceConnections ?? [];
  return all.filter((each) => each !== null);
}

/** Whether an endpoint is as desired, in all that we decide about one. */
export function isAsDesired(found: PrivateEndpointSpec, desired: PrivateEndpointSpec): boolean {
  const [connection, ...more] = connectionsIn(found);
  const [requested] = desired.privateLinkServiceConnections;
  return (
    more.length === 0 &&
    connection?.name === requested?.name &&
    sameId(connection?.privateLinkServiceID ?? "", requested?.privateLinkServiceID ?? "") &&
    (connection?.requestMessage ?? "") === (requested?.requestMessage ?? "") &&
    (connection?.groupIDs ?? []).length === 0 &&
    idKey(found.location ?? "") === idKey(desired.location ?? "") &&
    (found.manualApproval ?? false) === (desired.manualApproval ?? false)
  );
}

/**
 * The desired endpoint with who approves it, and the message to that person, as found: Azure asks only once. A change would ask
 * again, and an approved endpoint would stop working until somebody answers.
 */
export function withApprovalOf(
  found: PrivateEndpointSpec,
  desired: PrivateEndpointSpec,
): PrivateEndpointSpec {
  const service = idKey(serviceOf(desired));
  const same = connectionsIn(found).find(
    ({ privateLinkServiceID: id }) => idKey(id ?? "") === service,
  );
  if (same === undefined) return desired;
  const { manualApproval: _, privateLinkServiceConnections, ...rest } = desired;
  return {
    ...rest,
    privateLinkServiceConnections: privateLinkServiceConnections.map(
      ({ requestMessage: _message, ...connection }) =>
        same.requestMessage ? { ...connection, requestMessage: same.requestMessage } : connection,
    ),
    ...(found.manualApproval !== undefined && { manualApproval: found.manualApproval }),
  };
}

/** An endpoint as it is, in so far as it could be ours: for an apply that is to leave it alone. */
export function ownFieldsOf(found: PrivateEndpointSpec): PrivateEndpointSpec {
  const { name, location, manualApproval } = found;
  return {
    name,
    ...(location !== undefined && { location }),
    privateLinkServiceConnections: connectionsIn(found),
    ...(manualApproval !== undefined && { manualApproval }),
  };
}
