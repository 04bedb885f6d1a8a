import { expect, test } from "vitest";
import { hostedClusterObject } from "./hosted/objects.ts";
import { wholeChain } from "./hosted/whole-chain.ts";
import { describeHosted, type HostedWorld } from "./hosted/world.ts";
import { backup, idsOf, lose, restore } from "./restored.ts";

/** What docs/guides/backup.md lists, in the order in which Velero restores: namespaces, then kinds by name. */
const kinds = [
  "AzurePrivateLinkService",
  "HostedCluster",
  "HostedControlPlane",
  "NodePool",
  "Route",
  "Service",
];

const available = "AzurePrivateLinkServiceAvailable";

describeHosted("a management cluster that is restored from a backup", (start) => {
  async function twoClusters(world: HostedWorld): Promise<void> {
    await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
    for (const name of ["one", "two"]) await world.make(hostedClusterObject("clusters", name));
    await world.until("the clusters are not available", () => allAvailable(world));
    await world.advance(120_000);
  }

  async function allAvailable(world: HostedWorld): Promise<boolean> {
    const clusters = await world.list("HostedCluster");
    const good = clusters.filter(
      (each) => world.condition(each, available) === "True AzureSuccess",
    );
    return good.length === 2;
  }

  async function expectNothingTwice(world: HostedWorld, before: string[]): Promise<void> {
    await world.until("the clusters are not available again", () => allAvailable(world), 60);
    // What Azure deletes slowly, and what is looked for now and then.
    await world.advance(10 * 60_000);
    expect(idsOf(world)).toEqual(before);
    expect(await allAvailable(world)).toBe(true);
    await world.mark();
    await world.advance(10 * 60_000);
    expect(world.armRequests().filter(({ method }) => method !== "GET")).toEqual([]);
  }

  test("has nothing twice in Azure when the HostedClusters are restored, as the guide says", async () => {
    const world = await start({ features: wholeChain });
    await twoClusters(world);
    const before = idsOf(world);
    const saved = await backup(world, kinds);
    await world.stop();
    await lose(world, saved);
    for (const thing of saved.filter(({ kind }) => kind === "HostedCluster"))
      await restore(world, thing, ["finalizers"]);
    await world.start();
    await expectNothingTwice(world, before);
  });

  test("has nothing twice in Azure when the operator runs while everything is restored", async () => {
    const world = await start({ features: wholeChain });
    await twoClusters(world);
    const before = idsOf(world);
    const saved = await backup(world, kinds);
    await world.stop();
    await lose(world, saved);
    await world.start();
    for (const thing of saved) {
      // What the operator has created in the meantime is left as it is, as Velero leaves it.
      const { kind, metadata } = thing;
      if ((await world.get(kind, metadata.namespace, metadata.name)) === undefined)
        await restore(world, thing, ["finalizers", "ownerReferences"]);
      await world.advance(5_000);
    }
    await expectNothingTwice(world, before);
  });

  test("recovers by itself when owner references of lost objects are restored, with one NAT subnet more at most", async () => {
    const world = await start({ features: wholeChain });
    await twoClusters(world);
    const before = idsOf(world);
    const saved = await backup(world, kinds);
    await world.stop();
    await lose(world, saved);
    for (const thing of saved) await restore(world, thing, ["finalizers", "ownerReferences"]);
    await world.start();
    await world.until("the clusters are not available again", () => allAvailable(world), 60);
    await world.advance(10 * 60_000);
    const [first, ...more] = world.azure.ids("/subnets/postern-nat-");
    expect(first).toBeDefined();
    expect(more.length).toBeLessThanOrEqual(1);
    const spare = /postern-nat-\w+-1$/;
    expect(idsOf(world).filter((id) => !spare.test(id))).toEqual(before);
  });

  test("creates nothing for an AzurePrivateLinkService without its owner, and says to delete it", async () => {
    const world = await start({ features: wholeChain });
    await twoClusters(world);
    const before = idsOf(world);
    const saved = await backup(world, kinds);
    await world.stop();
    await lose(world, saved);
    for (const thing of saved) await restore(world, thing, []);
    await world.start();
    await world.advance(10 * 60_000);
    expect(idsOf(world)).toEqual(before);
    const [controlPlane] = await world.list("HostedControlPlane");
    expect(world.condition(controlPlane, available)).toBe("False OwnedByAnother");
    for (const thing of await world.list("AzurePrivateLinkService")) await world.remove(thing);
    await expectNothingTwice(world, before);
  });

  test("deletes everything in Azure when the restored clusters are deleted", async () => {
    const world = await start({ features: wholeChain });
    const empty = idsOf(world);
    await twoClusters(world);
    const saved = await backup(world, kinds);
    await world.stop();
    await lose(world, saved);
    for (const thing of saved) await restore(world, thing, ["finalizers", "ownerReferences"]);
    await world.start();
    await world.until("the clusters are not available again", () => allAvailable(world), 60);
    for (const thing of await world.list("HostedCluster")) await world.remove(thing);
    const gone = async () => (await world.list("HostedCluster")).length === 0;
    await world.until("the clusters still exist", gone, 60);
    await world.advance(5 * 60_000);
    expect(idsOf(world)).toEqual(empty);
    expect(await world.list("AzurePrivateLinkService")).toEqual([]);
  });
});
