import type { PrivateEndpointSpec } from "@postern/core/kinds/azure-cluster-network.ts";
import { expect, test } from "vitest";
import { describeHosted, type HostedWorld, type Thing } from "../hosted/world.ts";
import {
  addressesOn,
  apiName,
  endpointsIn,
  getManagement,
  groupOf,
  makeManagement,
  makeWorkload,
  namesIn,
  network,
  readiness,
  runCapz,
  startEndpoints,
} from "./endpoints-world.ts";

const merge = "application/merge-patch+json";
const managementPath =
  "/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/org-mc/azureclusters/mc";

describeHosted("endpoints of many clusters", (startWorld) => {
  test("nothing is lost while a third process edits the management cluster", async () => {
    const world = await startEndpoints(startWorld);
    await makeManagement(world);
    const theirs = (n: number): PrivateEndpointSpec => ({
      name: `theirs-${n}`,
      privateLinkServiceConnections: [
        {
          name: "x",
          privateLinkServiceID: `${groupOf("data")}/${network}/privateLinkServices/x${n}`,
        },
      ],
    });
    /** As whoever reads, changes and writes the whole list: told of a conflict, it reads again. */
    const edit = async (n: number) => {
      for (;;) {
        const found = await getManagement(world);
        const { networkSpec } = (found as Thing).spec as {
          networkSpec: { subnets: { name: string; privateEndpoints?: PrivateEndpointSpec[] }[] };
        };
        for (const subnet of networkSpec.subnets)
          if (subnet.name === "nodes")
            subnet.privateEndpoints = [...(subnet.privateEndpoints ?? []), theirs(n)];
        const change = {
          metadata: {
            resourceVersion: found?.metadata.resourceVersion,
            annotations: { [`edit-${n}`]: "made" },
          },
          spec: { networkSpec },
        };
        const { status } = await world.cluster.request("PATCH", managementPath, change, {
          contentType: merge,
        });
        if (status === 200) return;
        expect(status).toBe(409);
      }
    };
    const wc1 = await makeWorkload(world, "wc1");
    await makeWorkload(world, "wc10");
    const edits = (async () => {
      for (let n = 0; n < 25; n++) await edit(n);
    })();
    // Meanwhile the clusters come, one goes, and another comes.
    const clusters = (async () => {
      await world.advance(6_000);
      await world.remove(wc1);
      await world.advance(6_000);
      await makeWorkload(world, "wc2");
      await world.advance(6_000);
    })();
    await Promise.all([edits, clusters]);
    await world.advance(20_000);
    const expected = [
      apiName("wc10"),
      apiName("wc2"),
      ...Array.from({ length: 25 }, (_, n) => `theirs-${n}`),
    ];
    expect((await namesIn(world)).sort()).toEqual(expected.sort());
    const found = endpointsIn(await getManagement(world));
    for (let n = 0; n < 25; n++) expect(found).toContainEqual(theirs(n));
  });

  test("our endpoints move when the nodes get another subnet", async () => {
    const world = await startEndpoints(startWorld);
    const mc = await makeManagement(world);
    await makeWorkload(world, "wc1");
    await world.advance(6_000);
    const current = (await getManagement(world))?.spec as {
      networkSpec: { subnets: { name: string; role: string; privateEndpoints?: unknown[] }[] };
    };
    const [controlPlane, nodes] = current.networkSpec.subnets;
    const subnets = [controlPlane, { name: "first", role: "node" }, nodes];
    await world.patch(mc, { spec: { networkSpec: { subnets } } });
    await world.advance(6_000);
    const after = (await getManagement(world))?.spec as typeof current;
    const where = after.networkSpec.subnets.map(({ name, privateEndpoints = [] }) => [
      name,
      privateEndpoints.length,
    ]);
    expect(where).toEqual([
      ["control-plane", 0],
      ["first", 1],
      ["nodes", 0],
    ]);
  });

  test("an endpoint in the subnet that the nodes had before goes with its cluster, and what is a person's stays", async () => {
    const world = await startEndpoints(startWorld);
    const mc = await makeManagement(world);
    const going = await makeWorkload(world, "wc1");
    await world.advance(6_000);
    const current = (await getManagement(world))?.spec as {
      networkSpec: { subnets: { name: string; role: string; privateEndpoints?: object[] }[] };
    };
    const [controlPlane, nodes] = current.networkSpec.subnets;
    const [ours] = nodes?.privateEndpoints ?? [];
    const theirs = { ...ours, name: "theirs" };
    const subnets = [
      { ...controlPlane, privateEndpoints: [theirs] },
      { name: "first", role: "node" },
      nodes,
    ];
    await world.patch(mc, { spec: { networkSpec: { subnets } } });
    await world.remove(going);
    await world.advance(6_000);
    expect(await namesIn(world)).toEqual(["theirs"]);
    await world.advance(200_000);
    expect(await world.get("AzureCluster", "org", "wc1")).toBeUndefined();
  });

  test("100 workload clusters are a few writes, and at rest none", async () => {
    const world = await startEndpoints(startWorld);
    await makeManagement(world);
    const names = Array.from({ length: 100 }, (_, n) => `wc${n}`);
    await world.mark();
    for (const name of names) await makeWorkload(world, name);
    await world.advance(10_000);
    expect(await namesIn(world)).toHaveLength(100);
    const toManagement = (await world.kubeWrites()).filter(
      ({ objectRef }) => objectRef?.name === "mc" && objectRef.resource === "azureclusters",
    );
    expect(toManagement.length).toBeLessThanOrEqual(10);
    await runCapz(world);
    await world.advance(61_000);
    await everyoneIsConnected(world, names);

    await world.advance(30_000);
    await world.mark();
    await world.advance(11 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
    const asked = world.armRequests();
    expect(asked.filter(({ method }) => method !== "GET")).toEqual([]);
  }, 180_000);
});

async function everyoneIsConnected(world: HostedWorld, names: string[]): Promise<void> {
  const found = (await world.list("AzureCluster")).filter(({ metadata }) => metadata.name !== "mc");
  expect(found.map(({ metadata }) => metadata.name).sort()).toEqual([...names].sort());
  for (const each of found) {
    expect(readiness(each)).toEqual(["True Connected"]);
    expect(addressesOn(each)).not.toContain(undefined);
  }
}
