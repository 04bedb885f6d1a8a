import type { ClusterFacts } from "../spec/facts.ts";

/** What was observed of the management cluster and of all that it manages. */
export interface Observed {
  /** Undefined for every other AzureCluster: nothing is done about those here. */
  management: ClusterFacts | undefined;
  clusters: readonly ClusterFacts[];
  /** What is ours in other subnets of the management cluster, as `subnet/endpoint`. */
  applied: ReadonlySet<string>;
  /** What others wrote into its subnets, as `subnet/endpoint`; known where something is to be changed. */
  foreign?: ReadonlySet<string>;
  sinceWriteMs: number;
}
