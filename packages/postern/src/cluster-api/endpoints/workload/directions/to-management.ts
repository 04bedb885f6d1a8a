import { idProblem } from "../../claims/claims.ts";
import { isAsDesired, ownFieldsOf } from "../../claims/desired.ts";
import { reasons } from "../../claims/reasons.ts";
import type { EndpointsWrite } from "../../spec/write.ts";
import { minuteMs, type Observed, type ObservedConnection, type Side } from "../observed.ts";
import { isFalse, sideOf } from "./reach.ts";

/** The side, and how the endpoints of the workload cluster itself are to change. */
export type ManagementSide = Side & { write?: EndpointsWrite };

/**
 * From the workload cluster to the management cluster:
 *
 *   load balancer of the management cluster  way          stands in the spec  →
 *   Public                                                                    nothing is asked for; what is ours goes
 *   not known                                                                 say so; what is there stays
 *   Internal                                 configured   no, or differs      write it
 *   Internal                                 configured   yes                 look at it in Azure
 *   Internal                                 another      yes                 look at it too; removed when the first is connected
 *
 * The address that is published is that of the first way that is configured; until it is connected, that of another which is.
 */
export function planManagementSide(observed: Observed): ManagementSide {
  const { management, cluster, connections } = observed;
  if (management === undefined) return { verdict: undefined, address: "keep" };
  const say = (reason: string, message: string): Side => ({
    verdict: isFalse(reason, message),
    address: "keep",
  });
  switch (management.balancer) {
    case "missing":
      return say(
        reasons.balancerMissing,
        `whether the management cluster is private is not known · AzureCluster ${management.key} has no apiServerLB · set it, with type Internal or Public`,
      );
    case "unknown":
      return say(
        reasons.unknownBalancer,
        `whether the management cluster is private is not known · apiServerLB.type of AzureCluster ${management.key} is neither Internal nor Public · correct it`,
      );
    case "Public":
      return { verdict: undefined, address: undefined, ...removalOf(observed, connections) };
    case "Internal":
  }
  const wrong = idProblem(management) ?? idProblem(cluster);
  if (wrong !== undefined) return { ...say(reasons.idProblem, wrong), address: undefined };
  if (cluster.subnet === undefined)
    return {
      ...say(
        reasons.subnetsNotSet,
        "the private endpoint to the management cluster cannot be added · this AzureCluster has no subnets · add one to spec.networkSpec.subnets",
      ),
      address: undefined,
    };
  if (observed.connectionsFailed !== undefined) {
    const { reason, message, requeueAfterMs } = observed.connectionsFailed;
    const side: Side = { ...say(reason, message), waitMs: requeueAfterMs ?? minuteMs };
    return { ...side, ...writeOf(observed, false) };
  }
  const sides = managedScopes(observed);
  return { ...reported(sides), ...writeOf(observed, isConnected(sides[0]?.side)) };
}

interface WaySide {
  way: ObservedConnection;
  side: Side;
}

/** What each way gives, the first that is configured first. */
function managedScopes(observed: Observed): WaySide[] {
  const { management: published } = observed.published;
  const sides = observed.connections.map((way) => ({
    way,
    side: planWay(observed, way, undefined),
  }));
  // What is published may be another way's: it is nothing that this one has to keep.
  const isTheirs = sides.some(({ side }) => isConnected(side) && side.address === published);
  return isTheirs
    ? sides
    : observed.connections.map((way) => ({ way, side: planWay(observed, way, published) }));
}

function isConnected(side: Side | undefined): boolean {
  return side?.address !== undefined && side.address !== "keep";
}

function reported(sides: readonly WaySide[]): Side {
  const asked = sides.filter(({ way }) => way.configured).map(({ side }) => side);
  const [first] = asked;
  if (first === undefined) return { verdict: undefined, address: undefined };
  const wrong = asked.find(({ verdict }) => verdict?.status !== "True");
  const connected = sides.map(({ side }) => side).find(isConnected);
  const waits = asked.flatMap(({ waitMs }) => waitMs ?? []);
  return {
    verdict: (wrong ?? first).verdict,
    // Whoever still uses another way keeps it until this one works.
    address: first.address ?? connected?.address,
    ...(waits.length > 0 && { waitMs: Math.min(...waits) }),
  };
}

function planWay(
  observed: Observed,
  { desired, found, look }: ObservedConnection,
  published: string | undefined,
): Side {
  if (found === undefined)
    return {
      verdict: isFalse(
        reasons.endpointPending,
        `the private endpoint ${desired.name} is being added`,
      ),
      address: undefined,
      waitMs: minuteMs,
    };
  const { tenantsDiffer, cluster } = observed;
  return sideOf({ desired, look, tenantsDiffer, published, cluster: cluster.key });
}

/** The write that puts our endpoints right, where they are not. */
function writeOf(observed: Observed, connected: boolean): { write?: EndpointsWrite } {
  const subnet = observed.cluster.subnet?.name;
  if (subnet === undefined) return {};
  const isKept = (way: ObservedConnection) =>
    !way.configured && !connected && way.found !== undefined;
  const endpoints = observed.connections.flatMap((way) => {
    if (way.configured) return [way.desired];
    return way.found && isKept(way) ? [ownFieldsOf(way.found)] : [];
  });
  const removed = observed.connections.flatMap(({ found, ...way }) =>
    found && !way.configured && !isKept({ found, ...way }) ? [found.name] : [],
  );
  const differs = observed.connections.some(
    ({ configured, found, desired }) => configured && !(found && isAsDesired(found, desired)),
  );
  // One that is configured moves with the write that adds it.
  const strays = observed.connections.some(
    ({ stray, configured }) => stray && (configured || connected),
  );
  return differs || strays || removed.length > 0
    ? { write: { subnet, endpoints, removed, differs } }
    : {};
}

function removalOf(
  observed: Observed,
  connections: readonly ObservedConnection[],
): { write?: EndpointsWrite } {
  const removed = connections.flatMap(({ found }) => found?.name ?? []);
  const subnet = observed.cluster.subnet?.name;
  const strays = connections.some(({ stray }) => stray);
  if ((removed.length === 0 && !strays) || subnet === undefined) return {};
  return { write: { subnet, endpoints: [], removed, differs: false } };
}
