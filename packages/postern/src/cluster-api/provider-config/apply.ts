import type { ProviderConfig } from "@postern/core/kinds/provider-config.ts";
import { applyObjectStep } from "../../kube/apply-object.ts";

/** Does one step. */
export const apply = applyObjectStep<ProviderConfig>;
