import type { Kind } from "@postern/core/kind.ts";
import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { linkSpec } from "../../test/system/kinds/link-spec-rows.ts";

/** What is written: an object, and a change of it. */
export interface Sample {
  kind: Kind;
  object: object;
  change: object;
  subresource?: "status";
}

const condition = (type: string, message: string) => ({
  type,
  status: "True",
  reason: "AzureSuccess",
  message,
  observedGeneration: 1,
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

/** What the operator writes most: a link, and its status. */
export const link: Sample = {
  kind: azurePrivateLinkService,
  object: { spec: linkSpec() },
  change: {
    status: {
      conditions: [
        condition("AzureInternalLoadBalancerAvailable", "the address is that of a frontend"),
        condition("AzurePLSCreated", "the link service is there, and its alias is known"),
      ],
      privateLinkServiceAlias:
        "pls-one.00000000-0000-4000-8000-000000000000.westeurope.azure.privatelinkservice",
    },
  },
  subresource: "status",
};

/** What costs an API server least: no schema of its own, no rules. */
export const configMap: Sample = {
  kind: { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true },
  object: { data: { text: "a".repeat(1_000) } },
  change: { data: { more: "b" } },
};
