import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Step } from "../../kube/feature.ts";

/** A write of a link object. */
export type ObserveStep = Step &
  (
    | { do: "make link object"; link: AzurePrivateLinkService }
    | { do: "change link object"; link: AzurePrivateLinkService; change: object }
    | { do: "delete link object"; link: AzurePrivateLinkService }
  );
