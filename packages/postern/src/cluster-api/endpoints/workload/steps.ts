import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Step } from "../../../kube/feature.ts";
import type { EndpointsWrite, Target } from "../spec/write.ts";

/** What a plan wants done. One write at most for the cluster itself. */
export type WorkloadStep =
  | (Step & {
      do: "update AzureCluster";
      /** `delete` where the write removes an endpoint too; then it changes no annotation. */
      verb: "change" | "delete";
      target: Target;
      endpoints: EndpointsWrite | undefined;
      annotations: Readonly<Record<string, string | null>> | undefined;
    })
  | (Step & {
      do: "delete private endpoint";
      verb: "delete";
      id: ResourceId;
      etag: string | undefined;
    });
