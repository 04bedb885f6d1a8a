import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { applyObjectStep } from "../../kube/apply-object.ts";

/** Does one step. */
export const apply = applyObjectStep<AzurePrivateLinkService>;
