import {
  type AzurePrivateLinkService,
  azurePrivateLinkService,
} from "@postern/core/kinds/azure-private-link-service.ts";
import type { MakeFeature } from "postern/kube/runtime.ts";
import { expect, test } from "vitest";
import { balancer } from "./azure.ts";
import { describeHosted } from "./world.ts";

/** Writes a status, looks at Azure, and comes back after a minute. */
const looking: MakeFeature = () => ({
  feature: {
    name: "looking",
    kind: azurePrivateLinkService,
    conditions: ["Looked"],
    observe: async (observed) => ({ observed, context: undefined }),
    plan: (seen) => ({
      steps: [],
      conditions: [
        {
          type: "Looked",
          status: "True",
          reason: "Seen",
          message: (seen as AzurePrivateLinkService).spec.loadBalancerIP ?? "no address",
        },
      ],
      requeue: { afterMs: 60_000 },
    }),
    apply: async () => ({ state: "done" }),
  },
});

describeHosted("the world of the tests", (start) => {
  test.each([1, 2])("is empty at first, and settles after what is done to it (%i)", async () => {
    const world = await start({ features: () => [looking] });
    expect(await world.list("AzurePrivateLinkService")).toEqual([]);
    const { namespace, controlPlane, address } = await world.hostedCluster("one");
    const made = await world.make({
      apiVersion: "hypershift.openshift.io/v1beta1",
      kind: "AzurePrivateLinkService",
      metadata: { namespace, name: "private-router" },
      spec: {
        loadBalancerIP: address,
        subscriptionID: "33333333-3333-4333-8333-333333333333",
        resourceGroupName: "guest",
        location: "westeurope",
        guestSubnetID: (controlPlane.spec.platform as { azure: { subnetID: string } }).azure
          .subnetID,
        guestVNetID: (controlPlane.spec.platform as { azure: { vnetID: string } }).azure.vnetID,
      },
    } as Parameters<typeof world.make>[0]);
    await world.settled();
    const seen = await world.get("AzurePrivateLinkService", namespace, "private-router");
    expect(seen?.status?.conditions?.[0]?.message).toBe(`${address}.`);
    await world.mark();
    await world.advance(10 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
    await world.patch(made, { spec: { loadBalancerIP: "10.9.9.9" } });
    await world.settled();
    expect(await world.kubeWrites()).toHaveLength(1);
    expect(world.azure.at(balancer)).toMatchObject({ state: "Succeeded" });
  });
});
