import { expect, test } from "vitest";
import { countByLoadBalancer } from "./link-inventory.ts";

const balancer =
  "/subscriptions/11111111-1111-4111-8111-111111111111/resourceGroups/rg/providers/Microsoft.Network/loadBalancers/lb";

/** A link service before these frontends. */
function service(...ids: string[]) {
  return {
    properties: {
      loadBalancerFrontendIpConfigurations: ids.map((id) => ({ id })),
    },
  };
}

test("a link service counts once for its load balancer, and one with rubbish for an id hides no other", () => {
  const frontend = (name: string) => `${balancer}/frontendIPConfigurations/${name}`;
  const services: Parameters<typeof countByLoadBalancer>[0] = [
    service(frontend("a"), frontend("b")),
    service("rubbish"),
    service(),
    service(balancer),
    service(frontend("c").toUpperCase().replace("RG", "rg").replace("LB/", "lb/")),
    { properties: {} },
  ];
  expect([...countByLoadBalancer(services)]).toEqual([["rg/lb", 2]]);
});
