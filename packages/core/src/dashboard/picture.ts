/**
 * How something is. `ok` works; `working` is being made or changed; `pending` waits for a person; `broken` does not work;
 * `absent` should be there and is not; `unknown` could not be read.
 */
export type State = "ok" | "working" | "pending" | "broken" | "absent" | "unknown";

export type NodeKind =
  | "cluster"
  | "load-balancer"
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
export interface ClusterSummary {
  key: string;
  kind: "HostedCluster" | "AzureCluster";
  access: string;
  state: State;
  reason?: string;
  message?: string;
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
}

/** All that is to be drawn. */
export interface Picture {
  clusters: ClusterSummary[];
  networks: Network[];
  nodes: Node[];
  lines: Line[];
  unread: Unread[];
}

/** What one part of the product adds to the picture. */
export type Drawn = Pick<Picture, "clusters" | "nodes" | "lines">;

/** Of several states the one that a person should hear of first. */
export function worst(states: readonly State[]): State {
  const order: State[] = ["broken", "absent", "pending", "working", "unknown", "ok"];
  return order.find((state) => states.includes(state)) ?? "ok";
}
