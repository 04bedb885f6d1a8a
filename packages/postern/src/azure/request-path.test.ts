import { expect, test } from "vitest";
import { describePath } from "./request-path.ts";

const network = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network";

test.each([
  [`${network}/loadBalancers/lb`, "Microsoft.Network/loadBalancers", "loadBalancers/lb"],
  [`${network}/loadBalancers`, "Microsoft.Network/loadBalancers", "loadBalancers"],
  [
    `${network}/loadBalancers/lb/backendAddressPools/p`,
    "Microsoft.Network/loadBalancers/backendAddressPools",
    "loadBalancers/lb/backendAddressPools/p",
  ],
  [
    `${network}/privateDnsZones/z/A/api`,
    "Microsoft.Network/privateDnsZones/A",
    "privateDnsZones/z/A/api",
  ],
  ["/subscriptions/s/resourceGroups/rg", "Microsoft.Resources/resourceGroups", "resourceGroups/rg"],
  ["/subscriptions/s", "Microsoft.Resources/subscriptions", "subscriptions/s"],
  [
    "/subscriptions/s/providers/Microsoft.Network/locations/westeurope/operations/1",
    "Microsoft.Network/locations/operations",
    "locations/westeurope/operations/1",
  ],
  [
    "/subscriptions/s/operationresults/1",
    "Microsoft.Resources/operationresults",
    "operationresults/1",
  ],
])("%s is one of %s", (path, resource, thing) => {
  expect(describePath(path)).toEqual({ subscription: "s", resource, thing });
});

test("what lies in no subscription has none", () => {
  expect(describePath("/providers/Microsoft.Network/operations")).toMatchObject({
    subscription: "",
  });
});
