import {
  type ClusterSummary,
  type Drawn,
  type Node,
  type NodeKind,
  stateOfHealth,
  worst,
} from "@postern/core/dashboard/picture.ts";
import type { HealthReport } from "@postern/core/health.ts";
import { azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { clusterHealth } from "../health/cluster-health.ts";
import type { WorldIndex } from "../index-of.ts";

/** What is known of a cluster beside its resources. */
interface About extends Pick<ClusterSummary, "key" | "kind" | "access"> {
  reported: HealthReport;
  isDeleting: boolean;
  /** The hosts that it should have, whether records of them were read or not. */
  hosts: readonly string[];
}

const hops: readonly NodeKind[] = ["endpoint", "link-service", "load-balancer", "backend"];

/** Add a cluster with its resources: what the overview shows of it is computed from these. */
export function addCluster(
  drawn: Drawn,
  { world: { operator } }: WorldIndex,
  { reported, isDeleting, hosts, ...about }: About,
  parts: Pick<Drawn, "nodes" | "lines">,
): void {
  const { nodes } = parts;
  const own = nodes.filter(({ facts }) => facts.owner !== "another");
  const of = (kind: NodeKind) => own.filter((node) => node.kind === kind);
  const served = about.kind === azureCluster.kind ? (operator?.clusterApi ?? operator) : operator;
  const health = clusterHealth({
    reported,
    nodes,
    isDeleting,
    operator: served ?? { state: "unknown" },
  });
  const summary: ClusterSummary = {
    ...about,
    ...health,
    endpoints: unique(of("endpoint").flatMap(({ facts }) => facts.address ?? [])),
    endpointIds: unique(of("endpoint").flatMap(({ azureId }) => azureId ?? [])),
    linkServices: unique(of("link-service").map(({ label }) => label)),
    hosts: unique([...hosts, ...of("record").map(({ label }) => label)]),
    path: hops.map((kind) => {
      const states = of(kind).map(({ state }) => state);
      return states.length === 0 ? "none" : worst(states);
    }),
    terms: unique(
      nodes.flatMap(({ label, azureId, facts }) => [
        label,
        ...(azureId ? [azureId] : []),
        ...Object.values(facts),
      ]),
    ),
  };
  drawn.clusters.push(summary);
  drawn.nodes.push(clusterNode(summary), ...nodes);
  drawn.lines.push(...parts.lines);
}

function clusterNode({ key, health, causes: [cause], access }: ClusterSummary): Node {
  return {
    id: `cluster|${key}`,
    kind: "cluster",
    label: key,
    cluster: key,
    state: stateOfHealth[health],
    health,
    ...(cause && { reason: cause.reason, message: cause.message }),
    ...(cause?.since !== undefined && { since: cause.since }),
    ...(cause?.remedy !== undefined && { remedy: cause.remedy }),
    facts: { access },
  };
}

function unique(all: readonly string[]): string[] {
  return [...new Set(all)];
}
