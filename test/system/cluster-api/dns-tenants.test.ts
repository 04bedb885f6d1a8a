import { apiVersionOf } from "@postern/core/kind.ts";
import { providerConfig } from "@postern/core/kinds/provider-config.ts";
import { expect, test } from "vitest";
import { describeHosted, type HostedWorld } from "../hosted/world.ts";
import {
  baseZone,
  deleteCluster,
  groupOf,
  makeCluster,
  makeReady,
  makeWorkload,
  managementGroup,
  privateZone,
  publicZone,
  startDns,
  valuesAt,
} from "./dns-world.ts";

const reported = async (world: HostedWorld, name: string, namespace = "org") =>
  world.condition(await world.get("AzureCluster", namespace, name), "GSDNSZoneReady");
const isTold = (world: HostedWorld, name: string, desired: string, namespace = "org") =>
  world.until(
    `${namespace}/${name} says ${desired}`,
    async () => (await reported(world, name, namespace)) === desired,
  );
const ready = "True GSDNSZonesCreated";

/** Everything in DNS, with what it says. */
const zones = ({ azure }: HostedWorld) =>
  azure.ids("zones/").map((id) => `${id} ${JSON.stringify(azure.at(id))}`);

describeHosted("the DNS names of other tenants", (startWorld) => {
  test("attack: a cluster called like a record set of the base zone leaves that alone", async () => {
    const world = await startDns(startWorld);
    world.azure.simulator.change(`${baseZone}/A/shop-eu`, {
      properties: { TTL: 300, ARecords: [{ ipv4Address: "192.0.2.1" }] },
    });
    const before = zones(world);
    const thief = await makeWorkload(world, "shop-eu", { namespace: "org-other" });
    await isTold(world, "shop-eu", "False NameTaken", "org-other");
    expect(zones(world)).toEqual(before);
    await deleteCluster(world, thief);
    const gone = async () =>
      (await world.get("AzureCluster", "org-other", "shop-eu")) === undefined;
    await world.until("it is gone", gone);
    expect(zones(world)).toEqual(before);
  });

  test("attack: a cluster with a reserved name gets no zone, no delegation and no finalizer", async () => {
    const world = await startDns(startWorld);
    const before = zones(world);
    await makeWorkload(world, "vpn", { namespace: "org-other" });
    await isTold(world, "vpn", "False NameReserved", "org-other");
    expect(zones(world)).toEqual(before);
    const object = await world.get("AzureCluster", "org-other", "vpn");
    expect(object?.metadata.finalizers ?? []).toEqual([]);
  });

  test("attack: a private cluster called like a public one does not answer for it in the management network", async () => {
    const world = await startDns(startWorld);
    const spec = { networkSpec: { apiServerLB: { type: "Public" } } };
    await makeWorkload(world, "wc1", { connected: false, spec });
    await world.until(
      "it is delegated",
      () => valuesAt(world, baseZone, "NS", "wc1") !== undefined,
    );
    const delegation = valuesAt(world, baseZone, "NS", "wc1");
    const thief = await makeWorkload(world, "wc1", { namespace: "org-other", group: "thief" });
    await isTold(world, "wc1", "False NameTaken", "org-other");
    await world.advance(30 * 60_000);
    expect(world.azure.at(privateZone(managementGroup, "wc1"))).toBeUndefined();
    expect(world.azure.at(publicZone(groupOf("thief"), "wc1"))).toBeUndefined();
    await deleteCluster(world, thief);
    expect(valuesAt(world, baseZone, "NS", "wc1")).toEqual(delegation);
  });

  test("attack: a cluster called like the management cluster gets nothing", async () => {
    const world = await startDns(startWorld);
    const before = zones(world);
    await makeWorkload(world, "mc", { namespace: "org-other" });
    await isTold(world, "mc", "False NameTaken", "org-other");
    expect(zones(world)).toEqual(before);
  });

  test("attack: an infrastructureRef to an object that is no infrastructure does not touch that object", async () => {
    const world = await startDns(startWorld);
    await world.make({
      apiVersion: apiVersionOf(providerConfig),
      kind: providerConfig.kind,
      metadata: { name: "default" },
      spec: { credentials: { source: "UserAssignedManagedIdentity" } },
    } as never);
    const now = () => world.get(providerConfig.kind, "", "default");
    const before = (await now())?.metadata.resourceVersion;
    const { group: apiGroup, kind } = providerConfig;
    const infrastructureRef = { apiGroup, kind, name: "default" };
    const cluster = await makeCluster(world, "thief", { spec: { infrastructureRef } });
    await makeReady(world, { cluster });
    await world.settled();
    await world.advance(10 * 60_000);
    expect((await now())?.metadata.resourceVersion).toBe(before);
  });

  test("tags that somebody replaced are restored, and the deletion leaves nothing", async () => {
    const world = await startDns(startWorld);
    const before = world.azure.ids("zones/");
    const made = await makeWorkload(world, "wc1");
    await isTold(world, "wc1", ready);
    await world.stop();
    const ours = [
      publicZone(groupOf("wc1"), "wc1"),
      privateZone(managementGroup, "wc1"),
      privateZone(groupOf("wc1"), "mc"),
      `${privateZone(managementGroup, "wc1")}/virtualNetworkLinks/mc-vnet-link`,
    ];
    for (const id of ours) {
      const { top, properties } = world.azure.at(id) as unknown as {
        top: object;
        properties: object;
      };
      world.azure.simulator.change(id, { ...top, tags: { x: "y" }, properties } as never);
    }
    await world.start();
    for (const id of ours)
      await world.until(`${id} has its tags`, () =>
        JSON.stringify(world.azure.at(id)).includes("postern_user_mc.org.wc1"),
      );
    await isTold(world, "wc1", ready);
    await deleteCluster(world, made);
    const gone = async () => (await world.get("AzureCluster", "org", "wc1")) === undefined;
    await world.until("it is gone", gone);
    expect(world.azure.ids("zones/")).toEqual(before);
  });
});
