import { conditions, endpointFinalizer, linkFinalizer } from "postern/hosted/names.ts";
import { policyAnnotation } from "postern/kube/step-policy.ts";
import { expect, test } from "vitest";
import { linkedCluster, now, onlyLink, ready } from "./link-world.ts";
import { describeHosted, type HostedWorld } from "./world.ts";

const simulator = { operationMs: { "*": 30_000 } };
const writes = (world: HostedWorld) => world.armRequests().filter(({ method }) => method !== "GET");

describeHosted("a cluster with a policy of its own", (start) => {
  test("observe-only writes nothing to Azure and no finalizer, and says what it withholds", async () => {
    const world = await start({ features: onlyLink(), simulator });
    await world.stop();
    const one = await linkedCluster(world, "one");
    await world.patch(one.cluster, {
      metadata: { annotations: { [policyAnnotation]: "observe-only" } },
    });
    await world.start();
    await world.advance(10 * 60_000);
    expect(writes(world)).toEqual([]);
    const link = await now(world, one);
    expect(world.condition(link, conditions.link)).toBe("False WithheldByPolicy");
    expect(link?.metadata.finalizers ?? []).not.toContain(linkFinalizer);
    expect(link?.metadata.finalizers ?? []).not.toContain(endpointFinalizer);
  });

  test("upsert-only deletes nothing in Azure until the policy is lifted", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    const link = await ready(world, one);
    const annotate = (value: string | null) =>
      world.patch(link, { metadata: { annotations: { [policyAnnotation]: value } } });
    await annotate("upsert-only");
    await world.remove(link);
    await world.advance(10 * 60_000);
    expect(world.azure.at(one.id)).toBeDefined();
    expect(world.condition(await now(world, one), conditions.link)).toBe("False WithheldByPolicy");
    await annotate(null);
    await world.until("the link is still there", async () => (await now(world, one)) === undefined);
    expect(world.azure.at(one.id)).toBeUndefined();
  });
});
