import { counted } from "@postern/core/counted.ts";
import type { JournalStep, Node, Picture, State } from "./types.ts";

/** One hop from clients to the API server. */
export interface PathHop {
  title: string;
  label: string;
  state: State | "none";
  /** A line below the name: an address, a count. */
  fact: string;
  /** The resources that it stands for. */
  nodes: Node[];
}

/** The way from the clients of one private endpoint to the machines behind the load balancer. */
export interface Path {
  id: string;
  hops: PathHop[];
}

const worstFirst: State[] = ["broken", "absent", "degraded", "pending", "unknown", "working", "ok"];

/** The paths of a cluster, one for each of its private endpoints, in the direction of traffic. */
export function pathsOf({ nodes, networks }: Pick<Picture, "nodes" | "networks">): Path[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const below = (parent: string, kind: Node["kind"]) =>
    nodes.filter((node) => node.under === parent && node.kind === kind);
  const services = nodes.filter(({ kind }) => kind === "link-service");
  return services.flatMap((service) => {
    const balancer = byId.get(service.under ?? "");
    const backends = balancer ? below(balancer.id, "backend") : [];
    const behind = [
      hop("link service", [service]),
      ...(balancer?.kind === "load-balancer" ? [hop("load balancer", [balancer])] : []),
      ...(backends.length > 0 ? [hop("backends", backends)] : []),
    ];
    const endpoints = below(service.id, "endpoint").filter(
      ({ facts }) => facts.owner !== "another",
    );
    if (endpoints.length === 0) return [{ id: service.id, hops: behind }];
    return endpoints.map((endpoint) => {
      const zones = below(endpoint.id, "zone");
      const records = zones.flatMap(({ id }) => below(id, "record"));
      const network = networks.find(({ id }) => id === endpoint.network);
      const clients: PathHop = {
        title: "clients in",
        label: network?.label ?? "another network",
        state: network ? "ok" : "unknown",
        fact: network?.blocks.join(", ") ?? "",
        nodes: [],
      };
      return {
        id: endpoint.id,
        hops: [clients, names(zones, records), hop("private endpoint", [endpoint]), ...behind],
      };
    });
  });
}

/** Connections of other people at the link services of the cluster. */
export function otherConnections({ nodes }: Pick<Picture, "nodes">): Node[] {
  return nodes.filter(({ kind, facts }) => kind === "endpoint" && facts.owner === "another");
}

function names(zones: Node[], records: Node[]): PathHop {
  const count = records.length;
  return {
    title: "DNS names",
    label: count === 0 ? "none" : counted(count, "name"),
    state: count + zones.length === 0 ? "none" : worstOf([...zones, ...records]),
    fact: zones.length === 1 ? (zones[0]?.label ?? "") : `in ${counted(zones.length, "zone")}`,
    nodes: [...zones, ...records],
  };
}

function hop(title: string, nodes: Node[]): PathHop {
  const [first] = nodes;
  const { address, machines } = first?.facts ?? {};
  return {
    title,
    label: nodes.map(({ label }) => label).join(", "),
    state: worstOf(nodes),
    fact:
      address ??
      (machines === undefined ? "" : machines === "1" ? "1 machine" : `${machines} machines`),
    nodes,
  };
}

function worstOf(nodes: readonly Node[]): State {
  return worstFirst.find((state) => nodes.some((node) => node.state === state)) ?? "unknown";
}

/** The steps that wrote a resource, the newest first. */
export function stepsOn(node: Node, steps: readonly JournalStep[]): JournalStep[] {
  const thing = node.azureId?.split("/").slice(-2).join("/").toLowerCase();
  if (thing === undefined) return [];
  return steps
    .filter(({ requests }) => requests.some((each) => isOn(each.thing, thing)))
    .toReversed();
}

/** Whether a request was one to a resource, and not to one below it. */
export function isOn(requested: string, thing: string): boolean {
  const text = requested.toLowerCase();
  return text === thing || text.endsWith(`/${thing}`);
}
