import { azureSides } from "../../src/hosted/azure-sides.ts";
import { endpointFeature } from "../../src/hosted/endpoint/controller.ts";
import { linkFeature } from "../../src/hosted/link/controller.ts";
import { observeFeature } from "../../src/hosted/observe/controller.ts";
import { isTrue } from "../../src/model/conditions.ts";
import { azurePrivateLinkService } from "../../src/model/kinds/azure-private-link-service.ts";
import { parseResourceId } from "../../src/model/resource-id.ts";
import { serveSteps } from "../clocked/operator.ts";
import { managementGroup } from "../clocked/places.ts";

await serveSteps(
  (arm, everyone) => {
    const sides = azureSides({
      arm,
      managementGroup: parseResourceId(managementGroup),
      credentialOf: () => everyone,
    });
    return [
      observeFeature(),
      linkFeature({ sides, natSubnets: "shared", natPrefixLength: 24, installation: "0benched" }),
      endpointFeature({ sides }),
    ];
  },
  ({ caches }) =>
    caches
      .of(azurePrivateLinkService)
      .list()
      .filter(({ status }) => isTrue(status?.conditions, "AzurePrivateLinkServiceAvailable"))
      .length,
);
