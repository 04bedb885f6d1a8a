import type { Step } from "../../../kube/feature.ts";
import type { EndpointsWrite, Target } from "../spec/write.ts";

/** One write for all workload clusters. */
export interface ManagementStep extends Step {
  do: "update AzureCluster";
  /** `delete` where the write removes an endpoint too. */
  verb: "change" | "delete";
  target: Target;
  write: EndpointsWrite;
}
