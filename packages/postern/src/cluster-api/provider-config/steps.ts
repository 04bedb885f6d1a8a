import type { ProviderConfig } from "@postern/core/kinds/provider-config.ts";
import type { ObjectStep } from "../../kube/apply-object.ts";

/** A write of a ProviderConfig. */
export type ConfigStep = ObjectStep<ProviderConfig>;
