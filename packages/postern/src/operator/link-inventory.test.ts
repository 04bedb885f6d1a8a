import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { parseResourceId } from "@postern/core/resource-id.ts";
import { Registry } from "@prometheus-io/client";
import { expect, onTestFinished, test, vi } from "vitest";
import { fakeArm, group, linkId } from "../../../../test/azure/fake-arm.ts";
import { watchedCaches } from "../../../../test/kube/watched-caches.ts";
import { json } from "../../../../test/loopback.ts";
import { ManualClock } from "../../../../test/manual-clock.ts";
import { silentLog } from "../kube/log.ts";
import { countByLoadBalancer, startLinkInventory } from "./link-inventory.ts";

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

const balanced = service(`${balancer}/frontendIPConfigurations/a`);

test("a link service counts once for its load balancer, in whichever case Azure answers its id, and one with rubbish for an id hides no other", () => {
  const frontend = (name: string) => `${balancer}/frontendIPConfigurations/${name}`;
  const services: Parameters<typeof countByLoadBalancer>[0] = [
    service(frontend("a"), frontend("b")),
    service("rubbish"),
    service(),
    service(balancer),
    service(frontend("c").toUpperCase()),
    { properties: {} },
  ];
  expect([...countByLoadBalancer(services)]).toEqual([["rg/lb", 2]]);
});

/** The metrics of an inventory, with one link service in Azure whose object appears while the services are listed. */
async function inventory({
  owner = "u-1",
  namespace = undefined as string | undefined,
} = {}): Promise<string> {
  const { caches, send } = await watchedCaches([azurePrivateLinkService], [], namespace);
  const links = caches.of(azurePrivateLinkService);
  const { client: arm } = await fakeArm((_request, response) => {
    const metadata = { namespace: "clusters-a", name: "router", uid: "u-1", resourceVersion: "2" };
    send("ADDED", { kind: azurePrivateLinkService.kind, metadata });
    const tags = { postern_owner: `c-1/${owner}`, postern_installation: "0f0f0f0f" };
    links.onChange(() =>
      json(response, 200, { value: [{ id: linkId, tags, properties: balanced.properties }] }),
    );
  });
  const registry = new Registry();
  const clock = new ManualClock();
  const stop = startLinkInventory({
    registry,
    runtime: { leading: true, caches },
    arm,
    managementGroup: parseResourceId(group),
    installation: "0f0f0f0f",
    clock,
    log: silentLog,
  });
  onTestFinished(stop);
  await clock.move(10_000);
  await vi.waitFor(async () => expect(await registry.metrics()).toMatch(/link_services\{/));
  return registry.metrics();
}

test("a link service whose object appears while the link services are listed is not orphaned", async () => {
  expect(await inventory()).toMatch(/^postern_orphaned_link_services 0$/m);
  expect(await inventory({ owner: "u-2" })).toMatch(/^postern_orphaned_link_services 1$/m);
});

test("an operator that watches one namespace counts no orphans: it does not know the objects of the others", async () => {
  expect(await inventory({ owner: "u-2", namespace: "clusters-b" })).not.toMatch(
    /^postern_orphaned_link_services \d/m,
  );
});
