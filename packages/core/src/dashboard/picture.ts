import { type Health, type HealthReport, healthOrder } from "../health.ts";

/**
 * How a resource is. `ok` works; `working` is being made or changed; `pending` waits for a person;
 * `degraded` works, and needs attention; `broken` does not work;
 * `absent` should be there and is not; `unknown` could not be read.
 */
export type State = "ok" | "working" | "pending" | "degraded" | "broken" | "absent" | "unknown";

export type NodeKind =
  | "cluster"
  | "load-balancer"
  | "backend"
  | "link-service"
  | "endpoint"
  | "zone"
  | "record"
  | "pool"
  | "appliance";

/** One thing in the picture. */
export interface Node {
  id: string;
  kind: NodeKind;
  label: string;
  /** The region of the picture that it is drawn in. */
  network?: string;
  /** What it hangs under in a tree. */
  under?: string;
  /** The cluster that it serves, as namespace/name. */
  cluster?: string;
  state: State;
  /** Why it is so: the reason of a condition, or Azure's word. */
  reason?: string;
  message?: string;
  /** Whether it could not be read in Azure: its state is what a condition says, or unknown. */
  isUnread?: true;
  /** Of a cluster: its health, since when its worst cause exists, and what to do about that. */
  health?: Health;
  since?: string;
  remedy?: string;
  /** Who owns the resource by its owner tag. */
  owner?: string;
  /** The object in Kubernetes that asks for it and for what is under it, as `Kind namespace/name`. */
  object?: string;
  /** What people copy: an address, an alias. */
  facts: Record<string, string>;
  azureId?: string;
}

/** A line between two nodes, which carries its state. */
export interface Line {
  from: string;
  to: string;
  state: State;
  label?: string;
}

/** A network, which is a region of the picture. */
export interface Network {
  id: string;
  label: string;
  blocks: string[];
}

/** A cluster in the overview. */
export interface ClusterSummary extends HealthReport {
  key: string;
  kind: "HostedCluster" | "AzureCluster";
  access: string;
  /** Whether Azure shows otherwise than the conditions, which the operator has not updated yet. */
  isContradicted?: true;
  /** The addresses of its endpoints, its link services and its hosts. */
  endpoints: string[];
  /** The Azure ids of its endpoints. */
  endpointIds: string[];
  linkServices: string[];
  hosts: string[];
  /** The worst state of the load balancers, the link services and the endpoints, in the order of traffic. */
  path: (State | "none")[];
  /** Everything else by which people search it, such as ids and aliases. */
  terms: string[];
}

/** Something that could not be read, and why. */
export interface Unread {
  /** For people: what could not be read, and where. */
  what: string;
  why: string;
  /** For code: the kind of resource, in the plural. */
  type?: string;
  /** The subscription, resource group or zone of Azure; absent for objects of Kubernetes. */
  scope?: string;
  /** Of a kind that is needed and that the API server does not serve: what to do. */
  isUnserved?: true;
  remedy?: string;
}

/** The operator, as whoever looks sees it. */
export interface OperatorPresence {
  /** `lost`: no operator renews the lease; conditions are as old as that. */
  state: "leads" | "lost" | "unknown";
  holder?: string;
  /** Since when nobody leads. */
  since?: string;
  /** The process for clusters of Cluster API, where that is another one. */
  clusterApi?: OperatorPresence;
}

/** All that is to be drawn. */
export interface Picture {
  /** When Azure was read. */
  observedAt: string;
  operator: OperatorPresence;
  clusters: ClusterSummary[];
  networks: Network[];
  nodes: Node[];
  lines: Line[];
  unread: Unread[];
}

/** What one part of the product adds to the picture. */
export type Drawn = Pick<Picture, "clusters" | "nodes" | "lines">;

/** The mark of a cluster in the picture, by its health. */
export const stateOfHealth: Record<Health, State> = {
  Healthy: "ok",
  Progressing: "working",
  Degraded: "degraded",
  Unavailable: "broken",
  Unknown: "unknown",
};

/** How many clusters are in each state, the worst first; states without a cluster are left out. */
export function countsOf(clusters: readonly ClusterSummary[]): [Health, number][] {
  return healthOrder.flatMap((health): [Health, number][] => {
    const count = clusters.filter((each) => each.health === health).length;
    return count > 0 ? [[health, count]] : [];
  });
}

/** Of several states the one that a person should hear of first. */
export function worst(states: readonly State[]): State {
  const order: State[] = ["broken", "absent", "degraded", "pending", "working", "unknown", "ok"];
  return order.find((state) => states.includes(state)) ?? "ok";
}
