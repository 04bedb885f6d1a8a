import type { ResourceId } from "@postern/core/resource-id.ts";
import type { ResourceGroup } from "../../azure/gateways/resource-groups.ts";
import type { Step } from "../../kube/feature.ts";
import type { PrivateDnsStep } from "../../private-dns/steps.ts";
import type { ZoneRole } from "./observed.ts";

/** What is in Azure is reached by the identity that its role says. */
type InRole = { role: ZoneRole };

/** Everything that this feature does. `on` says to what, `do` says it to a person. */
export type DnsStep =
  | (Step & { on: "object"; do: "add finalizer" | "remove finalizer" })
  | (PrivateDnsStep & InRole)
  | (Step &
      InRole & {
        on: "group";
        do: "create resource group" | "update resource group";
        id: ResourceId;
        body: ResourceGroup;
      });
