import { expect, test } from "vitest";
import { endpointOf, ids, link, oneWorld, service } from "../../../../test/cli/one-world.ts";
import { conditions } from "../hosted/names.ts";
import { contradictedClusters } from "./contradictions.ts";
import { pictureOf } from "./picture.ts";
import type { World } from "./world.ts";

const address = "192.168.0.4";
const withEndpoint = (status: string) =>
  oneWorld({ azure: endpointOf({ id: ids.endpoint, subnet: ids.workers, address, status }) });
const reported = { type: conditions.endpoint, status: "True", reason: "AzureSuccess" };
const failed = { type: conditions.endpoint, status: "False", reason: "AzureError", message: "no" };

test.each<[string, World, boolean]>([
  ["with everything in place", oneWorld(), false],
  [
    "without its endpoint",
    oneWorld({
      azure: { endpoints: [] },
      kube: { links: [link({ status: { conditions: [reported] } })] },
    }),
    true,
  ],
  ["whose connection is rejected", withEndpoint("Rejected"), true],
  ["whose connection waits for approval again", withEndpoint("Pending"), true],
  [
    "whose link service is updated",
    oneWorld({ azure: { linkServices: [service({ provisioningState: "Updating" })] } }),
    false,
  ],
  [
    "whose conditions say already that something is wrong",
    oneWorld({
      azure: { endpoints: [] },
      kube: { links: [link({ status: { conditions: [failed] } })] },
    }),
    false,
  ],
])("an available cluster %s", (_what, world, found) => {
  expect(contradictedClusters(pictureOf(world))).toEqual(found ? ["clusters/one"] : []);
});
