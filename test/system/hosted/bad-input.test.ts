import { openPolicy } from "@postern/core/tenant-policy.ts";
import { cloudProviderFeature } from "@postern/local/cloud-provider/feature.ts";
import type { ArmClients } from "postern/hosted/arm-clients.ts";
import { endpointFeature } from "postern/hosted/endpoint/feature.ts";
import { linkFeature } from "postern/hosted/link/feature.ts";
import { servicesFeature } from "postern/hosted/services/feature.ts";
import { topologyFeature } from "postern/hosted/topology/feature.ts";
import type { MakeFeature } from "postern/kube/runtime.ts";
import { expect, test } from "vitest";
import {
  frontendOf,
  guestGroup,
  guestNetwork,
  guestSubnet,
  location,
  managementGroup,
  managementNetwork,
} from "./azure.ts";
import { hostedClusterObject, route } from "./objects.ts";
import { describeHosted, type HostedWorld, type Thing } from "./world.ts";

const available = "AzurePrivateLinkServiceAvailable";
const operationMs = { "*": 5_000 };

function withoutCloud(armClients: ArmClients): readonly MakeFeature[] {
  return [
    topologyFeature({ policy: openPolicy }),
    servicesFeature(),
    linkFeature({
      armClients,
      natSubnets: "shared",
      natPrefixLength: 24,
      installation: "0f0f0f0f",
    }),
    endpointFeature({ armClients }),
  ];
}

function wholeChain(armClients: ArmClients): readonly MakeFeature[] {
  const subnetId = `${managementNetwork}/subnets/nodes`;
  const arm: Parameters<typeof cloudProviderFeature>[0]["arm"] = (reconcile) =>
    armClients.management(reconcile);
  return [
    ...withoutCloud(armClients),
    cloudProviderFeature({ arm, managementGroup, subnetId, location }),
  ];
}

type Cluster = ReturnType<typeof hostedClusterObject>;
/** Anything may be wrong: the types are what these tests break. */
type Wrong = (spec: Record<string, unknown>, azure: Record<string, unknown>) => void;

async function make(
  world: HostedWorld,
  name: string,
  { wrong = () => {}, home = "clusters", annotations = {} } = {} as {
    wrong?: Wrong;
    home?: string;
    annotations?: Record<string, string>;
  },
): Promise<Thing> {
  await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: home } });
  const object: Cluster = hostedClusterObject(home, name, { annotations });
  wrong(object.spec, object.spec.platform.azure as Record<string, unknown>);
  return world.make(object);
}

const said = async (world: HostedWorld, name: string, home = "clusters", type = available) =>
  world.condition(await world.get("HostedCluster", home, name), type);

async function message(world: HostedWorld, name: string, type = available): Promise<string> {
  const cluster = await world.get("HostedCluster", "clusters", name);
  return cluster?.status?.conditions?.find((each) => each.type === type)?.message ?? "";
}

async function up(world: HostedWorld, name: string, minutes?: number): Promise<void> {
  const isUp = async () => (await said(world, name)) === "True AzureSuccess";
  await world.until(`${name} is not available`, isUp, minutes);
}

async function down(world: HostedWorld, cluster: Thing, minutes = 20): Promise<void> {
  const { namespace, name } = cluster.metadata;
  await world.remove(cluster);
  const gone = async () => (await world.get("HostedCluster", namespace, name)) === undefined;
  await world.until(`${name} is still there`, gone, minutes);
  await world.advance(60_000);
}

/** What goes on for ten minutes where nothing can: a look now and then, and no words twice. */
async function rests(world: HostedWorld, afterMinutes = 5): Promise<void> {
  await world.advance(afterMinutes * 60_000);
  await world.mark();
  await world.advance(10 * 60_000);
  const writes = await world.kubeWrites();
  const told = writes.filter(
    ({ verb, objectRef }) => verb === "patch" && objectRef?.resource !== "events",
  );
  expect(told).toEqual([]);
  expect(world.armRequests().length).toBeLessThan(100);
}

const subnets = `${guestNetwork}/subnets`;
const privateLink = (settings: object) => ({ private: { type: "PrivateLink", ...settings } });
const [odd, longest] = ["ü".repeat(9), "n".repeat(64)];

describeHosted("a HostedCluster with something wrong", (start) => {
  const refused: [string, RegExp, Wrong][] = [
    [
      "a network for a subnet",
      /must be an id of type .*subnets: \/subscriptions/,
      (_, azure) => Object.assign(azure, { subnetID: `${guestNetwork}` }),
    ],
    [
      "a group in other letters",
      /must be the name of a resource group: letters/,
      (_, azure) => Object.assign(azure, { resourceGroup: odd }),
    ],
    [
      "a group for a NAT subnet",
      /must be an id of type .*subnets/,
      (_, azure) =>
        Object.assign(azure, privateLink({ privateLink: { natSubnetID: `${guestGroup}` } })),
    ],
    [
      "everybody for subscriptions",
      /must be a UUID, such as/,
      (_, azure) =>
        Object.assign(
          azure,
          privateLink({ privateLink: { additionalAllowedSubscriptions: ["*"] } }),
        ),
    ],
    [
      "a word for its number",
      /must be a UUID, such as/,
      (spec) => Object.assign(spec, { clusterID: "x".repeat(36) }),
    ],
    [
      "a private topology alone",
      /private is required with topology/,
      (_, azure) => {
        delete azure.private;
      },
    ],
    [
      "a list for a text",
      /must be of type string/,
      (_, azure) => Object.assign(azure, { location: ["westeurope"] }),
    ],
    [
      "no Azure at all",
      /azure is required with type Azure: add it/,
      (spec) => Object.assign(spec, { platform: { type: "Azure" } }),
    ],
  ];

  test.each(refused)("%s is refused at once, with the remedy", async (_, remedy, wrong) => {
    const world = await start({ features: wholeChain });
    await expect(make(world, "one", { wrong })).rejects.toThrow(remedy);
  });

  const told: [string, string, RegExp, Wrong][] = [
    [
      "a subnet that is not there",
      "PrivateEndpointCreationFailed",
      /nowhere.*Check the ids/,
      (_, azure) => Object.assign(azure, { subnetID: `${subnets}/nowhere` }),
    ],
    [
      "a subnet with rubbish in its name",
      "InvalidGuestSubnet",
      /Correct subnetID/,
      (_, azure) => Object.assign(azure, { subnetID: `${subnets}/a?b#c` }),
    ],
    [
      "a NAT subnet in the guest's network",
      "NATSubnetUnfit",
      /Specify a subnet of that network/,
      (_, azure) =>
        Object.assign(azure, privateLink({ privateLink: { natSubnetID: `${guestSubnet}` } })),
    ],
    [
      "a word for a network",
      "LinkNotWritten",
      /must be an id of type .*virtualNetworks/,
      (_, azure) => Object.assign(azure, { vnetID: "rubbish" }),
    ],
    [
      "a way out of a path for a subscription",
      "LinkNotWritten",
      /must be a UUID/,
      (_, azure) => Object.assign(azure, { subscriptionID: "../../other" }),
    ],
    [
      "a place that is none",
      "LinkNotWritten",
      /short name of an Azure region/,
      (_, azure) => Object.assign(azure, { location: "the moon!" }),
    ],
    [
      "a domain with a slash",
      "LinkNotWritten",
      /must be a DNS name/,
      (spec) => Object.assign(spec, { dns: { baseDomain: "a/b.example" }, services: undefined }),
    ],
    [
      "a group that is not there",
      "PrivateEndpointCreationFailed",
      /Create the resource group/,
      (_, azure) => Object.assign(azure, { resourceGroup: "nowhere" }),
    ],
    [
      "the OAuth server without a name",
      "BaseDomainMissing",
      /set spec.dns.baseDomain/,
      (spec) => {
        const servicePublishingStrategy = { type: "LoadBalancer" };
        const services = [
          route("APIServer"),
          { service: "OAuthServer", servicePublishingStrategy },
        ];
        Object.assign(spec, { dns: undefined, services });
      },
    ],
  ];

  test.each(told)(
    "%s is told by a condition (%s), comes to rest and goes without a trace",
    async (_, reason, remedy, wrong) => {
      const world = await start({ features: wholeChain, simulator: { operationMs } });
      const before = world.azure.ids();
      const cluster = await make(world, "one", { wrong });
      await world.until(reason, async () => (await said(world, "one")) === `False ${reason}`);
      expect(await message(world, "one")).toMatch(remedy);
      await rests(world);
      await down(world, cluster);
      expect(world.azure.ids()).toEqual(before);
    },
    60_000,
  );

  test.each([
    ["postern.io/private-dns", "rubbish", "InvalidAnnotation"],
    ["postern.io/private-dns", "existing", "ZoneMissing"],
    ["postern.io/private-dns-virtual-network-ids", ",, x", "InvalidAnnotation"],
  ])("the annotation %s: %s is told (%s)", async (key, value, reason) => {
    const world = await start({ features: wholeChain, simulator: { operationMs } });
    const before = world.azure.ids();
    const cluster = await make(world, "one", { annotations: { [key]: value } });
    await world.until(reason, async () => (await said(world, "one")) === `False ${reason}`);
    expect(await message(world, "one")).toContain("postern.io/private-dns");
    await rests(world);
    await down(world, cluster);
    expect(world.azure.ids()).toEqual(before);
  });

  test("a name that no namespace takes is reported", async () => {
    const world = await start({ features: wholeChain });
    const cluster = await make(world, longest);
    await world.advance(60_000);
    expect(await said(world, longest, "clusters", "TopologyApplied")).toBe("False NameUnusable");
    await rests(world);
    await down(world, cluster);
  });

  test("a hostname in a domain of one label is rejected before anything is created", async () => {
    const world = await start({ features: wholeChain });
    const before = world.azure.ids();
    const wrong: Wrong = (spec) => {
      const services = JSON.stringify(spec.services).replace(/(oauth-[^.]+)[^"]+/, "$1.local");
      Object.assign(spec, { services: JSON.parse(services) });
    };
    const cluster = await make(world, "one", { wrong });
    await world.advance(60_000);
    expect(await said(world, "one", "clusters", "TopologyApplied")).toBe("False NameUnusable");
    expect(await message(world, "one", "TopologyApplied")).toMatch(/2 to 34 labels/);
    await rests(world);
    expect(world.azure.ids()).toEqual(before);
    await down(world, cluster);
  });

  test("a dot in the name becomes a dash in the namespace", async () => {
    const world = await start({ features: wholeChain });
    const cluster = await make(world, "one.two");
    await up(world, "one.two");
    expect(await world.get("HostedControlPlane", "clusters-one-two", "one.two")).toBeDefined();
    await down(world, cluster);
  });

  test("50 subscriptions in mixed case, each there twice, are taken as 25", async () => {
    const world = await start({ features: wholeChain });
    const additionalAllowedSubscriptions = Array.from({ length: 50 }, (_, n) => {
      const id = `aaaaaaaa-bbbb-4000-8000-${String(n >> 1).padStart(12, "a")}`;
      return n % 2 ? id.toUpperCase() : id;
    });
    const wrong: Wrong = (_, azure) =>
      Object.assign(azure, privateLink({ privateLink: { additionalAllowedSubscriptions } }));
    await make(world, "one", { wrong });
    await up(world, "one");
    const [link] = await world.list("AzurePrivateLinkService");
    expect(link?.spec.additionalAllowedSubscriptions).toHaveLength(25);
    await rests(world);
  });

  test("a Service with a name for an address is told on the cluster, until it has an address", async () => {
    const world = await start({ features: withoutCloud });
    await make(world, "one");
    await world.advance(10_000);
    expect(await said(world, "one")).toBe("Unknown StatusUnknown");
    expect(await message(world, "one")).toContain("Service private-router has no address");
    const service = (await world.get("Service", "clusters-one", "private-router")) as Thing;
    const give = (ingress: object) =>
      world.patch(service, { status: { loadBalancer: { ingress: [ingress] } } }, "status");
    await give({ hostname: "balancer.example.com" });
    await world.advance(10_000);
    expect(await said(world, "one")).toBe("False ServiceHasNoIP");
    expect(await message(world, "one")).toContain("Use a load balancer of Azure");
    await rests(world);
    await give({ ip: world.azure.addFrontend(frontendOf(service)) });
    await up(world, "one");
    await rests(world);
  });
});

describeHosted("HostedClusters in each other's way", (start) => {
  test("two that want one namespace: the second says so, and is nothing to the first", async () => {
    const world = await start({ features: wholeChain });
    const first = await make(world, "b-c", { home: "a" });
    const isUp = async () => (await said(world, "b-c", "a")) === "True AzureSuccess";
    await world.until("the first is not available", isUp);
    const ids = world.azure.ids();
    const second = await make(world, "c", { home: "a-b" });
    await world.advance(60_000);
    expect(await said(world, "c", "a-b", "TopologyApplied")).toBe("False OwnedByAnother");
    expect(await said(world, "c", "a-b")).toBeUndefined();
    await rests(world);
    await world.mark();
    await down(world, second);
    expect((await world.kubeWrites()).filter(({ verb }) => verb === "delete")).toEqual([]);
    expect(await isUp()).toBe(true);
    expect(world.azure.ids()).toEqual(ids);
    await down(world, first);
  });

  test("two of one number: each has a link service of its own, and the second goes without the first", async () => {
    const world = await start({ features: wholeChain });
    const clusterID = crypto.randomUUID();
    const wrong: Wrong = (spec) => Object.assign(spec, { clusterID });
    await make(world, "one", { wrong });
    await up(world, "one");
    const ids = world.azure.ids("/privatelinkservices/");
    const second = await make(world, "two", { wrong });
    await up(world, "two");
    expect(world.azure.ids("/privatelinkservices/").length).toBeGreaterThan(ids.length);
    await rests(world);
    await down(world, second);
    expect(world.azure.ids("/privatelinkservices/")).toEqual(ids);
    await up(world, "one");
  });
});

describeHosted("a HostedCluster that somebody meddles with", (start) => {
  test("keeps its number, though a file without it is applied", async () => {
    const world = await start({ features: wholeChain });
    const cluster = await make(world, "one");
    await up(world, "one");
    await world.patch(cluster, { spec: { clusterID: null } });
    await world.advance(60_000);
    const now = await world.get("HostedCluster", "clusters", "one");
    expect(now?.spec.clusterID).toBe(cluster.spec.clusterID);
    await rests(world);
    expect(await said(world, "one")).toBe("True AzureSuccess");
  });

  test("gets its finalizers, its status and whose it is back", async () => {
    const world = await start({ features: wholeChain, simulator: { operationMs } });
    const before = world.azure.ids();
    const cluster = await make(world, "one");
    await up(world, "one");
    const link = (await world.get(
      "AzurePrivateLinkService",
      "clusters-one",
      "private-router",
    )) as Thing;
    const plane = (await world.get("HostedControlPlane", "clusters-one", "one")) as Thing;
    const annotations = { "hypershift.openshift.io/cluster": "rubbish" };
    await world.patch(link, { metadata: { finalizers: null, annotations } });
    await world.patch(plane, { metadata: { finalizers: null, annotations } });
    const lie = { type: available, status: "False", reason: "Lie", message: "x" };
    const lastTransitionTime = new Date().toISOString();
    await world.patch(link, { status: { conditions: [{ ...lie, lastTransitionTime }] } }, "status");
    await world.advance(11 * 60_000);
    await up(world, "one");
    const now = await world.get("AzurePrivateLinkService", "clusters-one", "private-router");
    // Two controllers put them back, each its own.
    expect(now?.metadata.finalizers?.toSorted()).toEqual(link.metadata.finalizers?.toSorted());
    await rests(world);
    await down(world, cluster);
    expect(world.azure.ids()).toEqual(before);
  });

  test.each([
    ["the guest's group", `${guestGroup}`, "PrivateEndpointCreationFailed"],
    ["the management group", `${managementGroup}`, "ILBNotFound"],
  ])("says what is missing when %s is deleted, and can go", async (_, group, reason) => {
    const world = await start({ features: wholeChain, simulator: { operationMs } });
    const cluster = await make(world, "one");
    await up(world, "one");
    world.azure.simulator.drop(group);
    await world.until(reason, async () => (await said(world, "one")) === `False ${reason}`);
    // After 15 minutes the endpoint's condition says once more what to do.
    await rests(world, 30);
    await down(world, cluster);
    expect(world.azure.ids(group)).toEqual([]);
  });
});

describeHosted("a HostedCluster on a bad day of Azure", (start) => {
  test.each([
    "privateLinkServices",
    "virtualNetworks/subnets",
    "privateEndpoints",
    "privateDnsZones",
    "privateDnsZones/virtualNetworkLinks",
  ])("comes and goes though the operations on %s fail once", async (type) => {
    const world = await start({ features: wholeChain, simulator: { operationMs } });
    const before = world.azure.ids();
    const error = { code: "InternalServerError", message: "An error occurred." };
    for (const method of ["PUT", "DELETE"])
      world.azure.simulator.addFault({
        match: { method, type: `Microsoft.Network/${type}` },
        effect: { kind: "operation", error },
        count: 1,
      });
    const cluster = await make(world, "one");
    await up(world, "one");
    await down(world, cluster);
    expect(world.azure.ids()).toEqual(before);
  });

  test("comes and goes though a part of all answers is lost, late, old or no answer at all", async () => {
    const world = await start({ features: wholeChain, simulator: { operationMs } });
    const before = world.azure.ids();
    const body = { error: { code: "InternalServerError", message: "An error occurred." } };
    const faults = [
      { effect: { kind: "answer", status: 500, body }, probability: 0.2 },
      { effect: { kind: "lost", when: "after" }, probability: 0.2 },
      { effect: { kind: "stale", ms: 60_000 }, probability: 0.3 },
      { effect: { kind: "throttled", retryAfterSeconds: 5 }, probability: 0.1 },
      { effect: { kind: "html" }, probability: 0.1 },
    ] as const;
    for (const fault of faults) world.azure.simulator.addFault({ match: {}, ...fault });
    const cluster = await make(world, "one");
    await up(world, "one", 90);
    // A read a minute old must not be from before the cluster.
    await world.advance(5 * 60_000);
    await down(world, cluster, 90);
    expect(world.azure.ids()).toEqual(before);
  }, 60_000);
});
