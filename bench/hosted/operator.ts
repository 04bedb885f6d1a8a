import { isTrue } from "@postern/core/conditions.ts";
import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { parseResourceId } from "@postern/core/resource-id.ts";
import { createArmClients } from "postern/hosted/arm-clients.ts";
import { endpointFeature } from "postern/hosted/endpoint/feature.ts";
import { linkFeature } from "postern/hosted/link/feature.ts";
import { servicesFeature } from "postern/hosted/services/feature.ts";
import { serveSteps } from "../clocked/operator.ts";
import { managementGroup } from "../clocked/places.ts";

await serveSteps(
  (arm, everyone) => {
    const armClients = createArmClients({
      arm,
      managementGroup: parseResourceId(managementGroup),
      credentialOf: () => everyone,
    });
    return [
      servicesFeature(),
      linkFeature({
        armClients,
        natSubnets: "shared",
        natPrefixLength: 24,
        installation: "0benched",
      }),
      endpointFeature({ armClients }),
    ];
  },
  ({ caches }) =>
    caches
      .of(azurePrivateLinkService)
      .list()
      .filter(({ status }) => isTrue(status?.conditions, "AzurePrivateLinkServiceAvailable"))
      .length,
);
