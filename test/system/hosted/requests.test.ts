import { requestAnnotation } from "postern/kube/requests.ts";
import { expect, test } from "vitest";
import { linkedCluster, now, onlyLink, ready } from "./link-world.ts";
import { describeHosted } from "./world.ts";

const simulator = { operationMs: { "*": 30_000 } };

describeHosted("a reconcile that somebody requests", (start) => {
  test("observes what was deleted in Azure at once, and not only at the next drift check", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    const link = await ready(world, one);
    world.azure.simulator.drop(one.id);
    await world.settled();
    expect((await now(world, one))?.status?.privateLinkServiceAlias).toBeDefined();
    await world.patch(link, { metadata: { annotations: { [requestAnnotation]: "now" } } });
    await world.settled();
    expect((await now(world, one))?.status?.privateLinkServiceAlias).toBeUndefined();
    await ready(world, one);
  });

  test("reads Azure once a minute, however often a tenant changes the annotation", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    const link = await ready(world, one);
    await world.settled();
    await world.mark();
    const request = async (value: string) => {
      await world.patch(link, { metadata: { annotations: { [requestAnnotation]: value } } });
      await world.settled();
    };
    await request("1");
    const first = world.armRequests().length;
    expect(first).toBeGreaterThan(0);
    for (const value of ["2", "3", "4", "5"]) await request(value);
    expect(world.armRequests()).toHaveLength(first);
  });
});
