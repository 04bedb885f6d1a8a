import { overlaps, parseCidr } from "@postern/core/cidr.ts";
import { conditions } from "postern/hosted/names.ts";
import { expect, test } from "vitest";
import { frontendOf, managementGroup, managementNetwork } from "./azure.ts";
import {
  gone,
  installation,
  linkedCluster,
  linkObject,
  natSubnets,
  now,
  onlyLink,
  properties,
  ready,
} from "./link-world.ts";
import { routerService } from "./objects.ts";
import { describeHosted, type HostedWorld } from "./world.ts";

const simulator = { operationMs: { "*": 30_000 } };
const shared = (n: number) => `postern-nat-${installation}-${n}`;
const subnetId = (name: string) => `${managementNetwork}/subnets/${name}`;

/** How many link services take their address from each subnet. */
function users(world: HostedWorld): Record<string, number> {
  const counted: Record<string, number> = {};
  for (const id of world.azure.ids("/privatelinkservices/")) {
    if (id.includes("/privateendpointconnections/")) continue;
    const { ipConfigurations } = properties(world, id) as {
      ipConfigurations: { properties: { subnet: { id: string } } }[];
    };
    const name = ipConfigurations[0]?.properties.subnet.id.split("/").at(-1) ?? "";
    counted[name] = (counted[name] ?? 0) + 1;
  }
  return counted;
}

function put(world: HostedWorld, name: string, addressPrefix: string, over: object = {}) {
  const policies = { privateLinkServiceNetworkPolicies: "Disabled" };
  world.azure.simulator.change(subnetId(name), {
    properties: { addressPrefix, ...policies, ...over },
  });
}

const names = (count: number) => Array.from({ length: count }, (_, n) => `c${n}`);

describeHosted("shared NAT subnets", (start) => {
  test("serve several clusters, and are deleted with the last of them", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    const two = await linkedCluster(world, "two");
    await ready(world, one);
    await ready(world, two);
    expect(users(world)).toEqual({ [shared(0)]: 2 });
    await gone(world, one);
    expect(natSubnets(world)).toEqual([shared(0)]);
    await gone(world, two);
    expect(natSubnets(world)).toEqual([]);
  });

  test("spread thirty clusters that come at once over as few as hold them, and leave nothing", async () => {
    const world = await start({
      features: onlyLink({ natPrefixLength: 28 }),
      simulator,
      stopped: true,
    });
    const all = [];
    for (const name of names(30)) all.push(await linkedCluster(world, name));
    await world.mark();
    await world.start();
    for (const each of all) await ready(world, each);
    // Each notes its subnet once: nobody is promised an address that another has.
    const notes = (await world.kubeWrites()).filter(
      ({ requestURI, verb }) => verb === "patch" && !requestURI.includes("/status"),
    );
    expect(notes.length).toBeLessThanOrEqual(2 * 30);
    const found = users(world);
    expect(Object.values(found).reduce((sum, count) => sum + count, 0)).toBe(30);
    for (const count of Object.values(found)) expect(count).toBeLessThanOrEqual(11);
    expect(Object.keys(found).sort()).toEqual([shared(0), shared(1), shared(2)]);
    const blocks = natSubnets(world).map((name) =>
      parseCidr(String(properties(world, subnetId(name)).addressPrefix)),
    );
    for (const [at, block] of blocks.entries())
      for (const other of blocks.slice(at + 1)) expect(overlaps(block, other)).toBe(false);

    for (const { link } of all) await world.remove(link);
    await world.until(
      "a link is left",
      async () => (await world.list("AzurePrivateLinkService")).length === 0,
    );
    expect(natSubnets(world)).toEqual([]);
    expect(world.azure.ids("/privatelinkservices/")).toEqual([]);
  }, 120_000);

  test("get a successor before the last address is given away", async () => {
    const world = await start({ features: onlyLink({ natPrefixLength: 28 }), simulator });
    for (const name of names(10)) await ready(world, await linkedCluster(world, name));
    await world.advance(60_000);
    expect(users(world)).toEqual({ [shared(0)]: 10 });
    expect(natSubnets(world)).toEqual([shared(0), shared(1)]);
  }, 60_000);

  test("of another block where somebody took it after we looked, and nobody is troubled", async () => {
    const world = await start({ features: onlyLink(), simulator, stopped: true });
    const one = await linkedCluster(world, "one");
    // Another operator makes its subnet; our first look at the network does not show it yet.
    world.azure.simulator.moveClock(60_000);
    put(world, "postern-nat-ffffffff-0", "10.0.64.0/24");
    const match = { method: "GET", path: managementNetwork };
    world.azure.simulator.addFault({ match, effect: { kind: "stale", ms: 30_000 }, count: 1 });
    await world.start();
    await ready(world, one);
    expect(properties(world, subnetId(shared(0))).addressPrefix).toBe("10.0.65.0/24");
    await gone(world, one);
    expect(natSubnets(world)).toEqual(["postern-nat-ffffffff-0"]);
  });

  test.each<[string, object]>([
    [
      "at once",
      {
        kind: "answer",
        status: 409,
        body: { error: { code: "AnotherOperationInProgress", message: "Another operation" } },
      },
    ],
    [
      "by the operation",
      { kind: "operation", error: { code: "AnotherOperationInProgress", message: "Another" } },
    ],
  ])("wait while another writes to the network and is refused %s", async (_name, effect) => {
    const world = await start({ features: onlyLink(), simulator, stopped: true });
    const match = { method: "PUT", type: "Microsoft.Network/virtualNetworks/subnets" };
    world.azure.simulator.addFault({ match, effect: effect as never, count: 2 });
    const one = await linkedCluster(world, "one");
    await world.start();
    const told = await now(world, one);
    expect(world.condition(told, conditions.link)).toBe("False NATSubnetCreating");
    await ready(world, one);
    expect(natSubnets(world)).toEqual([shared(0)]);
  });

  test("in which somebody else has an address stay when the last link goes, and nobody waits", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    await ready(world, one);
    const theirs = `${managementGroup}/providers/Microsoft.Network/networkInterfaces/theirs`;
    world.azure.simulator.change(theirs, {
      location: "westeurope",
      properties: {
        ipConfigurations: [{ name: "ip", properties: { subnet: { id: subnetId(shared(0)) } } }],
      },
    });
    await world.mark();
    await gone(world, one);
    expect(natSubnets(world)).toEqual([shared(0)]);
    const tried = world.armRequests().filter(({ path }) => path.endsWith("/subnets"));
    expect(tried).toEqual([]);
  });

  test("that Azure calls in use though nobody is seen in them are reported, and not asked for all the time", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    await ready(world, one);
    const match = { method: "DELETE", type: "Microsoft.Network/virtualNetworks/subnets" };
    const error = { code: "InUseSubnetCannotBeDeleted", message: "Subnet is in use by a service." };
    const effect = { kind: "answer", status: 400, body: { error } } as const;
    const fault = world.azure.simulator.addFault({ match, effect });
    await world.mark();
    await world.remove(one.link);
    await world.advance(4 * 60_000);
    const deletions = world.armRequests().filter(({ path }) => path.endsWith("/subnets"));
    // Thrice at once, because what was read may have been old, and then once in a minute.
    expect(deletions).toHaveLength(6);
    expect(world.condition(await now(world, one), conditions.link)).toBe(
      "False NATSubnetDeletionFailed",
    );
    // Nobody else is troubled by it.
    const two = await linkedCluster(world, "two");
    await ready(world, two);
    world.azure.simulator.faults.remove(fault);
    await gone(world, two);
    await world.until("the link is not gone", async () => (await now(world, one)) === undefined);
    expect(natSubnets(world)).toEqual([]);
  });

  test("that nobody may delete do not keep others from making one", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    await ready(world, one);
    const match = { method: "DELETE", type: "Microsoft.Network/virtualNetworks/subnets" };
    const error = { code: "AuthorizationFailed", message: "no right" };
    const effect = { kind: "answer", status: 403, body: { error } } as const;
    world.azure.simulator.addFault({ match, effect });
    await world.remove(one.link);
    await world.until("nothing is told", async () => {
      const told = world.condition(await now(world, one), conditions.link);
      return told === "False NATSubnetDeletionFailed";
    });
    // The one that could not be deleted is closed for a minute, so another is made.
    const two = await linkedCluster(world, "two");
    await ready(world, two);
    expect(natSubnets(world)).toEqual([shared(0), shared(1)]);
  });

  test("that nobody may make are asked for once, and each link that needs one says so", async () => {
    const world = await start({ features: onlyLink(), simulator, stopped: true });
    const match = { method: "PUT", type: "Microsoft.Network/virtualNetworks/subnets" };
    const error = { code: "AuthorizationFailed", message: "no right" };
    const effect = { kind: "answer", status: 403, body: { error } } as const;
    const fault = world.azure.simulator.addFault({ match, effect });
    const all = [];
    for (const name of names(5)) all.push(await linkedCluster(world, name));
    await world.start();
    await world.advance(60_000);
    for (const each of all)
      expect(world.condition(await now(world, each), conditions.link)).toBe(
        "False NATSubnetCreationFailed",
      );
    expect(world.armRequests().filter(({ method }) => method === "PUT")).toHaveLength(1);
    world.azure.simulator.faults.remove(fault);
    for (const each of all) await ready(world, each);
  });

  test("are not made where the network is full, which is told until somebody makes room", async () => {
    const world = await start({ features: onlyLink(), simulator, stopped: true });
    put(world, "all", "10.0.128.0/17");
    put(world, "rest", "10.0.64.0/18");
    const one = await linkedCluster(world, "one");
    await world.start();
    const told = await now(world, one);
    expect(world.condition(told, conditions.link)).toBe("False NATSubnetUnfit");
    world.azure.simulator.drop(subnetId("rest"));
    await ready(world, one);
  });
});

describeHosted("a NAT subnet that was given", (start) => {
  test("is verified before it is used, and neither changed nor deleted", async () => {
    const world = await start({ features: onlyLink(), simulator, stopped: true });
    put(world, "given", "10.0.200.0/28", { privateLinkServiceNetworkPolicies: "Enabled" });
    const natSubnetID = subnetId("given");
    const one = await linkedCluster(world, "one", { spec: { natSubnetID } });
    await world.start();
    const told = await now(world, one);
    expect(world.condition(told, conditions.link)).toBe("False NATSubnetUnfit");
    put(world, "given", "10.0.200.0/28");
    await ready(world, one);
    expect(users(world)).toEqual({ given: 1 });
    await gone(world, one);
    expect(natSubnets(world)).toEqual(["given"]);
    expect(properties(world, natSubnetID).addressPrefix).toBe("10.0.200.0/28");
  });

  test.each([
    ["does not exist", `${managementNetwork}/subnets/nowhere`],
    ["is in another network", `${managementNetwork}2/subnets/given`],
  ])("and %s is reported with a remedy", async (_name, natSubnetID) => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one", { spec: { natSubnetID } });
    await world.settled();
    const told = await now(world, one);
    expect(world.condition(told, conditions.link)).toBe("False NATSubnetUnfit");
    expect(world.azure.ids("/privatelinkservices/")).toEqual([]);
    await gone(world, one);
  });
});

describeHosted("a NAT subnet for each cluster", (start) => {
  const features = onlyLink({ natSubnets: "per-cluster" });

  test("has HyperShift's name, serves both links of the cluster, and goes with the last", async () => {
    const world = await start({ features, simulator });
    const one = await linkedCluster(world, "one");
    const service = await world.make(routerService(one.controlPlane, "oauth-openshift"));
    const address = world.azure.addFrontend(frontendOf(service));
    await world.giveAddress(service, address);
    const object = linkObject({ ...one, address }, { name: "oauth-openshift" });
    const oauth = { link: await world.make(object) };
    const two = await linkedCluster(world, "two");
    for (const each of [one, oauth, two]) await ready(world, each);
    expect(users(world)).toEqual({ "one-infra-pls-nat": 2, "two-infra-pls-nat": 1 });
    await gone(world, one);
    expect(natSubnets(world)).toEqual(["one-infra-pls-nat", "two-infra-pls-nat"]);
    await gone(world, oauth);
    expect(natSubnets(world)).toEqual(["two-infra-pls-nat"]);
    await gone(world, two);
    expect(natSubnets(world)).toEqual([]);
  });

  test("that was there before us is used, and left behind", async () => {
    const world = await start({ features, simulator, stopped: true });
    put(world, "one-infra-pls-nat", "10.0.100.0/24");
    const one = await linkedCluster(world, "one");
    await world.start();
    await ready(world, one);
    expect(users(world)).toEqual({ "one-infra-pls-nat": 1 });
    await gone(world, one);
    expect(natSubnets(world)).toEqual(["one-infra-pls-nat"]);
  });
});
