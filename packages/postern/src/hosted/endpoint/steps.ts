import type { Service } from "@postern/core/kinds/core.ts";
import type { Step } from "../../kube/feature.ts";
import type { PrivateDnsStep } from "../../private-dns/steps.ts";
import type { PrivateEndpointStep } from "../../private-link/endpoint/steps.ts";

/** Everything that this feature does. `on` names the resource, `do` is the text that is shown. */
export type EndpointStep =
  | PrivateEndpointStep
  | PrivateDnsStep
  | (Step & {
      on: "service";
      do: "create Service" | "update Service";
      service: Service;
      found: Service | undefined;
    })
  | (Step & { on: "service"; do: "delete Service"; verb: "delete"; found: Service });
