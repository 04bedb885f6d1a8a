import type { ProviderConfig } from "@postern/core/kinds/provider-config.ts";
import type { Step } from "../../kube/feature.ts";

/** A write of a ProviderConfig. */
export type ConfigStep = Step &
  (
    | { do: "make ProviderConfig"; config: ProviderConfig }
    | { do: "change ProviderConfig"; config: ProviderConfig; change: object }
    | { do: "delete ProviderConfig"; config: ProviderConfig }
  );
