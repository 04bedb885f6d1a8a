import type { Explained, Failure } from "../failure.ts";
import type { AzurePlatform, topologies } from "./azure-platform.ts";

/** From where an API server can be reached. */
export type Topology = (typeof topologies)[number];

/** Who reaches the API server of a cluster, and how, whichever spelling says it. */
export interface PrivateAccess {
  /** A cluster that says nothing is Public. */
  topology: Topology;
  /** How it is reached privately; absent where it is not. */
  type?: "PrivateLink" | "Swift";
  /** Absent where the subnet is to be made. */
  natSubnetID?: string;
  additionalAllowedSubscriptions: readonly string[];
  reachablePublicly: boolean;
  /** Also true of a cluster that uses Swift and says no topology. */
  reachablePrivately: boolean;
}

/** A cluster whose fields about private access contradict each other. */
export class PrivateAccessError extends Error implements Explained {
  override readonly name = "PrivateAccessError";
  readonly code: "TwoSpellings" | "PrivateTypeMissing";

  constructor(code: PrivateAccessError["code"], message: string) {
    super(message);
    this.code = code;
  }

  explain(): Failure {
    return { reason: this.code, message: this.message, terminal: true };
  }
}

type AccessFields = Pick<
  AzurePlatform,
  "topology" | "private" | "endpointAccess" | "privateConnectivity"
>;

/**
 * Read who reaches the API server, in either spelling. Both at once are refused here as well as by the
 * schema: the CRD on a cluster may be HyperShift's, which knows only one of them.
 */
export function privateAccess(azure: AccessFields): PrivateAccess {
  const { topology, endpointAccess, privateConnectivity } = azure;
  const shipped = topology !== undefined || azure.private !== undefined;
  const documented = endpointAccess !== undefined || privateConnectivity !== undefined;
  if (shipped && documented) {
    throw new PrivateAccessError(
      "TwoSpellings",
      "spec.platform.azure has topology or private and also endpointAccess or privateConnectivity: keep topology and private, and remove the others",
    );
  }
  return documented ? readDocumented(azure) : readShipped(azure);
}

function readShipped({ topology, private: connection }: AccessFields): PrivateAccess {
  const reachablePrivately =
    topology === undefined ? connection?.type === "Swift" : topology !== "Public";
  if (reachablePrivately && !connection?.type) {
    throw new PrivateAccessError(
      "PrivateTypeMissing",
      `spec.platform.azure.private.type is missing with topology ${topology}: set it to PrivateLink`,
    );
  }
  return {
    topology: topology ?? "Public",
    ...(reachablePrivately && connection ? { type: connection.type } : {}),
    ...linkOf(connection?.privateLink),
    reachablePublicly: topology !== "Private",
    reachablePrivately,
  };
}

function readDocumented({ endpointAccess, privateConnectivity }: AccessFields): PrivateAccess {
  const topology = endpointAccess?.type ?? "Public";
  const reachablePrivately = topology !== "Public";
  return {
    topology,
    ...(reachablePrivately ? { type: "PrivateLink" } : {}),
    ...linkOf(endpointAccess?.private ?? privateConnectivity),
    reachablePublicly: topology !== "Private",
    reachablePrivately,
  };
}

type Link = NonNullable<AccessFields["privateConnectivity"]>;

function linkOf({ natSubnetID, additionalAllowedSubscriptions = [] }: Link = {}) {
  return { ...(natSubnetID ? { natSubnetID } : {}), additionalAllowedSubscriptions };
}
