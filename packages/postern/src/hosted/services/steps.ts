import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { ObjectStep } from "../../kube/apply-object.ts";

/** A write of a link object. */
export type ObserveStep = ObjectStep<AzurePrivateLinkService>;
