import type { ResourceId } from "@postern/core/resource-id.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import type { Step } from "../../kube/feature.ts";
import type { ResourceStep } from "../plan-resource.ts";

/** Everything that is done to a link service and its connections. */
export type LinkServiceStep =
  | ResourceStep<"link service", PrivateLinkService>
  | (Step & { on: "connection"; verb: "reject" | "remove"; id: ResourceId });
