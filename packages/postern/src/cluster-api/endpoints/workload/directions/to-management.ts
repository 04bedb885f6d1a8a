import type { PrivateEndpointSpec } from "@postern/core/kinds/azure-cluster-network.ts";
import { report, retry, waits } from "../../../../kube/part.ts";
import { type Reach, reachOf } from "../../../endpoint-address.ts";
import { idProblem } from "../../claims/claims.ts";
import { isAsDesired, ownFieldsOf, serviceOf, withApprovalOf } from "../../claims/desired.ts";
import { reasons } from "../../claims/reasons.ts";
import type { EndpointsWrite } from "../../spec/write.ts";
import type { Observed, ObservedConnection } from "../observed.ts";
import {
  blocked,
  type Direction,
  isConnected,
  joinDirections,
  pending,
  unused,
} from "./direction.ts";
import { planEndpoint } from "./reach.ts";

/** How the endpoints of the workload cluster itself are to change, and whether one of them is removed by that. */
export interface PlannedWrite {
  write: EndpointsWrite;
  removes: boolean;
}

/** The direction, and the write that it needs. */
export type ManagementDirection = Direction & { planned?: PlannedWrite };

/** From the workload cluster to the management cluster. What is not known leaves what exists as it is. */
export function planToManagement(observed: Observed): ManagementDirection {
  const { management, cluster, connections, connectionsFailed } = observed;
  if (management === undefined) return { ...unused, address: "keep" };
  const stop = (reason: string, message: string, address?: "keep") =>
    blocked(report({ reason, message }), address);
  switch (management.balancer) {
    case "missing":
      return stop(
        reasons.balancerMissing,
        `whether the management cluster is private is not known · AzureCluster ${management.key} has no apiServerLB · set it, with type Internal or Public`,
        "keep",
      );
    case "unknown":
      return stop(
        reasons.unknownBalancer,
        `whether the management cluster is private is not known · apiServerLB.type of AzureCluster ${management.key} is neither Internal nor Public · correct it`,
        "keep",
      );
    case "Public":
      return { ...unused, ...removalOf(observed, connections) };
    case "Internal":
  }
  const invalid = idProblem(management) ?? idProblem(cluster);
  if (invalid !== undefined) return stop(reasons.idProblem, invalid);
  if (cluster.subnet === undefined)
    return stop(
      reasons.subnetsNotSet,
      "the private endpoint to the management cluster cannot be added · this AzureCluster has no subnets · add one to spec.networkSpec.subnets",
    );
  if (connectionsFailed !== undefined)
    return {
      ...blocked(retry(connectionsFailed, { retryMs: waits.changeMs }), "keep"),
      ...writeOf(observed, false),
    };
  const all = directionsOf(observed);
  return { ...joinConfigured(all), ...writeOf(observed, isConnected(all[0]?.direction)) };
}

interface ConnectionDirection {
  connection: ObservedConnection;
  direction: Direction;
}

/** What each connection gives, the first that is configured first. */
function directionsOf(observed: Observed): ConnectionDirection[] {
  const { management: published } = observed.published;
  const planAll = (address: string | undefined) =>
    observed.connections.map((connection) => ({
      connection,
      direction: planConnection(observed, connection, address),
    }));
  const all = planAll(undefined);
  // The published address may be that of another connection: then this one has none to keep.
  const isOfAnother = all.some(
    ({ direction }) => isConnected(direction) && direction.address === published,
  );
  return isOfAnother ? all : planAll(published);
}

/** The first configured connection gives the address; until it is connected, another one that is. */
function joinConfigured(all: readonly ConnectionDirection[]): Direction {
  const configured = all
    .filter(({ connection }) => connection.configured)
    .map(({ direction }) => direction);
  const [first] = configured;
  if (first === undefined) return unused;
  const connected = all.map(({ direction }) => direction).find(isConnected);
  const joined = joinDirections(configured, first.address ?? connected?.address);
  return { ...joined, ...(first.ready && { ready: first.ready }) };
}

function planConnection(
  observed: Observed,
  { desired, found, observation }: ObservedConnection,
  published: string | undefined,
): Direction {
  if (found === undefined)
    return pending(reasons.endpointPending, `the private endpoint ${desired.name} is being added`);
  const { tenantsDiffer, cluster } = observed;
  return planEndpoint({ desired, observation, tenantsDiffer, published, cluster: cluster.key });
}

/**
 * The write by which our endpoints become as desired, where they are not. What is not desired any more is removed by a write of
 * its own after that: a policy may withhold it.
 */
function writeOf(
  observed: Observed,
  isFirstConnected: boolean,
): Pick<ManagementDirection, "planned"> {
  const subnet = observed.cluster.subnet?.name;
  if (subnet === undefined) return {};
  // An endpoint under an older name is used until the first that is configured is connected.
  const endpoints = observed.connections.flatMap((connection) => {
    const { configured, found } = connection;
    if (configured) return [desiredOf(connection)];
    return found && !isFirstConnected ? [ownFieldsOf(found)] : [];
  });
  const removed = observed.connections.flatMap(({ configured, found }) =>
    found && !configured && isFirstConnected ? [found.name] : [],
  );
  const differs = observed.connections.some(
    (connection) =>
      connection.configured &&
      !(connection.found && isAsDesired(connection.found, desiredOf(connection))),
  );
  // One that is configured moves with the write that adds it.
  const moves = observed.connections.some(({ stray, configured }) => stray && configured);
  const strays = observed.connections.flatMap(({ stray, configured }) =>
    stray && !configured ? [stray] : [],
  );
  if (differs || moves) {
    const write = { subnet, endpoints, removed: [], differs, retained: strays };
    return { planned: { write, removes: false } };
  }
  if (removed.length === 0 && !(strays.length > 0 && isFirstConnected)) return {};
  return { planned: { write: { subnet, endpoints, removed, differs: false }, removes: true } };
}

/** Who approves an endpoint is corrected only where Azure says that it is not approved. */
function desiredOf({ desired, found, observation }: ObservedConnection): PrivateEndpointSpec {
  if (found === undefined) return desired;
  const notApproved: Reach["is"][] = ["absent", "elsewhere", "failed", "not approved"];
  const mayBeApproved =
    observation === undefined ||
    observation.state === "failed" ||
    !notApproved.includes(reachOf(observation, serviceOf(desired)).is);
  return mayBeApproved ? withApprovalOf(found, desired) : desired;
}

function removalOf(
  observed: Observed,
  connections: readonly ObservedConnection[],
): Pick<ManagementDirection, "planned"> {
  const removed = connections.flatMap(({ found }) => found?.name ?? []);
  const subnet = observed.cluster.subnet?.name;
  const strays = connections.some(({ stray }) => stray);
  if ((removed.length === 0 && !strays) || subnet === undefined) return {};
  const write = { subnet, endpoints: [], removed, differs: false };
  return { planned: { write, removes: true } };
}
