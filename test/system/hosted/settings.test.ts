import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import {
  balancer,
  frontendOf,
  guestNetwork,
  guestSubnet,
  location,
  managementGroup,
} from "./azure.ts";
import { linkedCluster, onlyLink } from "./link-world.ts";
import { type ClusterShape, hostedClusterObject } from "./objects.ts";
import { wholeChain, wholeChainWith } from "./whole-chain.ts";
import { describeHosted, type HostedWorld, type Thing } from "./world.ts";

const available = "AzurePrivateLinkServiceAvailable";

async function make(world: HostedWorld, name: string, shape: ClusterShape = {}): Promise<Thing> {
  await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
  return world.make(hostedClusterObject("clusters", name, shape));
}

async function conditionOf(world: HostedWorld, name = "one", type = available) {
  const cluster = await world.get("HostedCluster", "clusters", name);
  return cluster?.status?.conditions?.find((each) => each.type === type);
}

const isAvailable = async (world: HostedWorld, name = "one") =>
  (await conditionOf(world, name))?.status === "True";

function propertiesAt(world: HostedWorld, id: string): Record<string, unknown> {
  return (world.azure.at(id)?.properties ?? {}) as Record<string, unknown>;
}

/** The networks that the private DNS zones are linked to. */
function linkedNetworks(world: HostedWorld): string[] {
  const links = world.azure.ids("/virtualnetworklinks/").map((id) => propertiesAt(world, id));
  const networks = links.map((each) => (each.virtualNetwork as { id: string }).id);
  return [...new Set(networks)];
}

/** The resources of these types, without what belongs to one. */
function taggedIds(world: HostedWorld, types: string[]): string[] {
  return types.flatMap((type) =>
    world.azure.ids(`/${type}/`).filter((id) => id.split(`/${type}/`)[1]?.includes("/") === false),
  );
}

function tagsAt(world: HostedWorld, id: string): Record<string, string> {
  return (world.azure.at(id) as { top: { tags?: Record<string, string> } }).top.tags ?? {};
}

function changeTags(world: HostedWorld, id: string, tags: Record<string, string>): void {
  const { top, properties } = world.azure.at(id) as { top: object; properties: object };
  world.azure.simulator.change(id, { ...top, tags, properties } as never);
}

describeHosted("a setting of a HostedCluster", (start) => {
  test("links the zones to the listed networks only, and takes that back", async () => {
    const world = await start({ features: wholeChain });
    const hub = guestNetwork.replace(/guest$/, "hub");
    const properties = { addressSpace: { addressPrefixes: ["172.16.0.0/16"] } };
    world.azure.simulator.change(hub, { location, properties });
    const own = "postern.io/private-dns-own-network";
    const annotations = {
      [own]: "unlinked",
      "postern.io/private-dns-virtual-network-ids": hub,
    };
    const cluster = await make(world, "one", { annotations });
    await world.until("it is not available", () => isAvailable(world));
    expect(linkedNetworks(world)).toEqual([hub]);
    expect((await conditionOf(world))?.message).toContain(own);

    await world.patch(cluster, { metadata: { annotations: { [own]: null } } });
    await world.until("its own network is not linked", () => linkedNetworks(world).length === 2);
    await world.patch(cluster, { metadata: { annotations: { [own]: "unlinked" } } });
    await world.until("its own network is linked", () => linkedNetworks(world).length === 1);
    expect(linkedNetworks(world)).toEqual([hub]);
  });

  test("puts the private endpoint into a subnet of its own", async () => {
    const world = await start({ features: wholeChain });
    const subnet = `${guestNetwork}/subnets/endpoints`;
    world.azure.simulator.change(subnet, { properties: { addressPrefix: "192.168.200.0/24" } });
    await make(world, "one", { annotations: { "postern.io/endpoint-subnet-id": subnet } });
    await world.until("it is not available", () => isAvailable(world));
    const [endpoint = ""] = world.azure.ids("/privateendpoints/");
    expect(world.azure.at(endpoint)).toMatchObject({ properties: { subnet: { id: subnet } } });
    expect(guestSubnet).not.toBe(subnet);
  });

  test("tags what is created by the cluster's own identity, and follows what it asks for", async () => {
    const world = await start({
      features: wholeChainWith({ azureTags: { paid: "platform" } }),
    });
    const wanted = (text: string | null) => ({
      metadata: { annotations: { "postern.io/azure-tags": text } },
    });
    const cluster = await make(world, "one", {
      annotations: { "postern.io/azure-tags": "team=blue,a=1" },
    });
    await world.until("it is not available", () => isAvailable(world));
    const tenants = taggedIds(world, [
      "privateendpoints",
      "privatednszones",
      "virtualnetworklinks",
    ]);
    expect(tenants).toHaveLength(5);
    const platforms = taggedIds(world, ["privatelinkservices"]);
    expect(platforms).toHaveLength(1);
    const values = (ids: string[], tag: string) => [
      ...new Set(ids.map((id) => tagsAt(world, id)[tag])),
    ];
    expect(values(tenants, "team")).toEqual(["blue"]);
    expect(values(platforms, "team")).toEqual([undefined]);
    expect(values(tenants, "paid")).toEqual([undefined]);
    expect(values(platforms, "paid")).toEqual(["platform"]);

    // Somebody adds a tag, and a policy of Azure changes one: both stay.
    for (const id of tenants) changeTags(world, id, { ...tagsAt(world, id), x: "y", a: "policy" });
    await world.advance(10 * 60_000);
    expect([values(tenants, "x"), values(tenants, "a")]).toEqual([["y"], ["policy"]]);
    await world.patch(cluster, wanted("team=red"));
    await world.until("it is followed", () => values(tenants, "team").join() === "red", 30);
    expect(values(tenants, "a")).toEqual(["policy"]);
    const owners = tenants.map((id) =>
      Object.keys(tagsAt(world, id)).some((each) => /^postern_(owner|user_)/.test(each)),
    );
    expect(owners).toEqual(Array(5).fill(true));
    await world.patch(cluster, wanted(null));
    await world.until(
      "the tag is gone",
      () => values(tenants, "team").join() === "" && values(tenants, "postern_tags").join() === "",
      30,
    );
    expect(values(tenants, "x")).toEqual(["y"]);
    await world.mark();
    await world.advance(30 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
    expect(world.armRequests().filter(({ method }) => method !== "GET")).toEqual([]);
    expect(await isAvailable(world)).toBe(true);
  });

  test("tags nothing by an annotation that is wrong, says so, and goes on with the rest", async () => {
    const world = await start({ features: wholeChain });
    const annotations = { "postern.io/azure-tags": "team=blue,kubernetes.io_cluster_two=owned" };
    const cluster = await make(world, "one", { annotations });
    await world.until("it is not available", () => isAvailable(world));
    const condition = () => conditionOf(world, "one", "AzurePrivateEndpointAvailable");
    await world.until(
      "it is not reported",
      async () =>
        /postern.io\/azure-tags is not used.*reserved.*Correct it/.test(
          (await condition())?.message ?? "",
        ),
      30,
    );
    const ids = taggedIds(world, ["privateendpoints", "privatednszones", "virtualnetworklinks"]);
    expect(ids.filter((id) => "team" in tagsAt(world, id))).toEqual([]);
    await world.mark();
    await world.advance(30 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
    await world.patch(cluster, {
      metadata: { annotations: { "postern.io/azure-tags": "team=blue" } },
    });
    await world.until(
      "it is used",
      async () =>
        ids.every((id) => tagsAt(world, id).team === "blue") &&
        (await condition())?.message === "Connected.",
      30,
    );
  });

  test("has the link service send the PROXY protocol, in place, and says which link id is which endpoint", async () => {
    const world = await start({ features: wholeChain });
    const cluster = await make(world, "one");
    await world.until("it is not available", () => isAvailable(world));
    const [id = ""] = world.azure
      .ids("/privatelinkservices/")
      .filter((each) => !/connections/.test(each));
    const alias = () => propertiesAt(world, id).alias;
    const before = alias();
    await world.patch(cluster, {
      metadata: { annotations: { "postern.io/proxy-protocol": "true" } },
    });
    await world.until("it sends none", () => propertiesAt(world, id).enableProxyProtocol === true);
    await world.advance(60_000);
    expect(alias()).toBe(before);
    expect((await conditionOf(world, "one", "AzurePLSCreated"))?.message).toMatch(
      /sends the PROXY protocol; link id \d+ is private-router-pe/,
    );
    await world.mark();
    await world.advance(10 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
  });
});

describeHosted("a NAT subnet in another resource group", (start) => {
  test("is used once the operator's identity has the permissions that the condition names with their scope", async () => {
    const rights = { operator: ["Microsoft.Network/*"], guest: ["Microsoft.Network/*"] };
    const world = await start({ features: onlyLink(), rights });
    const { simulator } = world.azure;
    const group = managementGroup.replace(/[^/]+$/, "hub");
    const hub = `${group}/providers/Microsoft.Network/virtualNetworks/hub`;
    simulator.change(group, { location });
    simulator.change(hub, {
      location,
      properties: {
        addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
        subnets: [
          { name: "nodes", properties: { addressPrefix: "10.0.0.0/18" } },
          {
            name: "nat",
            properties: {
              addressPrefix: "10.0.200.0/24",
              privateLinkServiceNetworkPolicies: "Disabled",
            },
          },
        ],
      },
    });
    const link = await linkedCluster(world, "one", { spec: { natSubnetID: `${hub}/subnets/nat` } });
    simulator.change(balancer, {
      location,
      sku: { name: "Standard" },
      properties: {
        frontendIPConfigurations: [
          {
            name: frontendOf(link.service),
            properties: {
              subnet: { id: `${hub}/subnets/nodes` },
              privateIPAddress: link.address,
              privateIPAllocationMethod: "Static",
            },
          },
        ],
      },
    });
    const token = await world.azure.operator.token();
    const payload = Buffer.from(token.split(".")[1] ?? "", "base64url").toString();
    const { oid: principalId } = JSON.parse(payload) as { oid: string };
    const grant = (actions: string[]) => {
      const at = `${hub}/providers/Microsoft.Authorization`;
      const id = `${at}/roleDefinitions/${randomUUID()}`;
      const permissions = [{ actions, notActions: [] }];
      simulator.change(id, { properties: { roleName: id, assignableScopes: [hub], permissions } });
      const properties = { roleDefinitionId: id, principalId };
      simulator.change(`${at}/roleAssignments/${randomUUID()}`, { properties });
    };
    const failed = async () => {
      const found = await world.get("AzurePrivateLinkService", link.namespace, "private-router");
      return found?.status?.conditions?.find(({ type }) => type === "AzurePLSCreated");
    };
    await world.advance(60_000);
    expect(await failed()).toMatchObject({ reason: "NATSubnetCreationFailed" });
    expect((await failed())?.message).toContain(`subnets/join/action at the scope ${hub}`);

    grant([
      "Microsoft.Network/virtualNetworks/read",
      "Microsoft.Network/virtualNetworks/subnets/read",
    ]);
    await world.until(
      "the join is not refused",
      async () => (await failed())?.reason === "PLSCreationFailed",
      30,
    );
    expect((await failed())?.message).toMatch(
      /LinkedAuthorizationFailed.*subnets\/join\/action at the scope/,
    );

    grant(["Microsoft.Network/virtualNetworks/subnets/join/action"]);
    await world.until("there is none", async () => (await failed())?.status === "True", 30);
  });
});

describeHosted("a load balancer", (start) => {
  test("gets no ninth link service, and the cluster gets one when there is room", async () => {
    const world = await start({
      features: onlyLink(),
      simulator: { operationMs: { "*": 30_000 } },
    });
    const { azure } = world;
    const add = azure.addFrontend;
    azure.addFrontend = (name, address) => add(name, address, false);
    const clusters = await Promise.all(
      Array.from({ length: 11 }, (_, at) => linkedCluster(world, `c${at}`)),
    );
    const reasons = async () => {
      const links = await world.list("AzurePrivateLinkService");
      return links.map((each) => world.condition(each, "AzurePLSCreated")).sort();
    };
    await world.until(
      "eight are not ready",
      async () => (await reasons()).filter((each) => each === "True AzureSuccess").length === 8,
    );
    await world.advance(5 * 60_000);
    expect((await reasons()).slice(0, 3)).toEqual(Array(3).fill("False ILBFull"));
    const written = world
      .armRequests()
      .filter(({ method, path }) => method === "PUT" && /privateLinkServices/i.test(path));
    expect(written).toHaveLength(8);
    await world.mark();
    await world.advance(30 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);

    const states = await Promise.all(
      clusters.map(async ({ namespace, link }) => ({
        link,
        at: await world.get("AzurePrivateLinkService", namespace, "private-router"),
      })),
    );
    const ready = states.find(({ at }) =>
      world.condition(at, "AzurePLSCreated")?.startsWith("True"),
    );
    if (ready) await world.remove(ready.link);
    await world.until(
      "another is not ready",
      async () =>
        (await reasons()).filter((each) => each === "True AzureSuccess").length === 8 &&
        (await reasons()).length === 10,
      30,
    );
  });
});
