import { resourceGroupId } from "@postern/core/resource-id.ts";
import { Registry } from "@prometheus-io/client";
import { Arm } from "postern/azure/arm.ts";
import { customCloud } from "postern/azure/clouds.ts";
import { clusterArmClients } from "postern/cluster-api/identities.ts";
import { clusterApiControllers } from "postern/operator/controllers.ts";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { guestSubscription, location, managementSubscription, tenant } from "../hosted/azure.ts";
import { describeHosted, type HostedWorld, type Thing } from "../hosted/world.ts";
import {
  azureClusterObject,
  clusterObject,
  conditionsOf,
  identityObject,
  management,
  namespaces,
} from "./objects.ts";

const provider = "providers/Microsoft.Network";
const baseGroup = resourceGroupId(managementSubscription, "base");
const otherTenant = "99999999-9999-4999-8999-999999999999";

describeHosted("bad input, with everything at work", (startWorld) => {
  // It takes a quarter of a second of real time, in which a clock that is moved goes far.
  beforeAll(async () => void (await import("@azure/identity")));

  async function start(): Promise<HostedWorld> {
    let world: HostedWorld | undefined;
    world = await startWorld({
      features: () => controllers(() => world as HostedWorld),
      simulator: { https: true, operationMs: { "*": 30_000 } },
      stopped: true,
    });
    const { simulator } = world.azure;
    await namespaces(world, "org", "org-mc", "org-other");
    simulator.change(baseGroup, { location });
    simulator.change(`${baseGroup}/${provider}/dnsZones/example.com`, { location: "global" });
    const { appId, objectId } = simulator.directory.addApplication({
      tenant,
      secrets: [{ value: "hush" }],
    });
    simulator.roles.makeOwner({ tenant, objectId, appId });
    for (const namespace of ["org", "org-mc", "org-other"]) {
      await secret(world, namespace, "one", { clientSecret: "hush" });
      await identity(world, namespace, "one", appId);
    }
    await world.start();
    return world;
  }

  /** The controllers of the program, each cluster by its own identity. */
  function controllers(world: () => HostedWorld) {
    const { azure, clock } = world();
    const { simulator, operator } = azure;
    const authorityHost = simulator.httpsUrl ?? "";
    const cloud = customCloud({ resourceManager: simulator.url, authorityHost });
    const arm = new Arm({ cloud, credential: operator, clock });
    const clients = clusterArmClients({
      arm,
      armClientFor: () => arm,
      managementCluster: management,
      entra: { clock, ca: simulator.ca ?? "" },
    });
    const settings = {
      managementCluster: management,
      gates: [],
      managementLinks: ["gateway"] as const,
      dns: { baseDomain: "example.com", baseZoneGroup: baseGroup },
      others: {},
    };
    return clusterApiControllers(clients, settings, new Registry());
  }

  type Made = Parameters<HostedWorld["make"]>[0];
  async function secret(world: HostedWorld, namespace: string, name: string, stringData: object) {
    const metadata = { namespace, name };
    const object = { apiVersion: "v1", kind: "Secret", metadata, stringData } as Made;
    const made = { ...(await world.make(object)), kind: "Secret" };
    onTestFinished(() => world.remove(made).catch(() => undefined));
  }

  const identity = (
    world: HostedWorld,
    namespace: string,
    name: string,
    clientID: string,
    over: object = {},
  ) => {
    const clientSecret = { name, namespace };
    const spec = { type: "ServicePrincipal", tenantID: tenant, clientID, clientSecret, ...over };
    return world.make(identityObject(namespace, name, spec));
  };

  /** What CAPZ has made of a cluster: a group, a network and the load balancer of its API server. */
  function inAzure({ azure }: HostedWorld, group: string): void {
    const { simulator } = azure;
    const vnet = `${group}/${provider}/virtualNetworks/vnet`;
    const properties = { addressPrefix: "10.0.0.0/20" };
    simulator.change(group, { location });
    simulator.change(vnet, {
      location,
      properties: {
        addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
        subnets: [{ name: "nodes", properties }],
      },
    });
    simulator.change(`${group}/${provider}/loadBalancers/lb`, {
      location,
      sku: { name: "Standard" },
      properties: {
        frontendIPConfigurations: [
          { name: "front", properties: { subnet: { id: `${vnet}/subnets/nodes` } } },
        ],
      },
    });
  }

  const link = (name: string, subscription: string) => ({
    name,
    natIPConfigurations: [{ allocationMethod: "Dynamic", subnet: "nodes" }],
    lbFrontendIPConfigNames: ["front"],
    allowedSubscriptions: [subscription],
    autoApprovedSubscriptions: [subscription],
  });

  /** A cluster as it should be, where nothing else is said of its network or of itself. */
  async function cluster(
    world: HostedWorld,
    name: string,
    over: {
      namespace?: string;
      subscription?: string;
      spec?: object;
      network?: object;
      annotations?: object;
    } = {},
  ): Promise<Thing> {
    const { namespace = "org", subscription = guestSubscription } = over;
    const isManagement = name === management.name;
    const subscriptionID = isManagement ? managementSubscription : subscription;
    const resourceGroup = namespace === "org-other" ? `${name}-other` : name;
    inAzure(world, resourceGroupId(subscriptionID, resourceGroup));
    const links = isManagement
      ? link("mc-gateway-privatelink", guestSubscription)
      : link(`${name}-api-privatelink`, managementSubscription);
    const object = azureClusterObject(namespace, name, {
      subscriptionID,
      resourceGroup,
      networkSpec: {
        vnet: { name: "vnet" },
        apiServerLB: {
          name: "lb",
          type: "Internal",
          frontendIPs: [{ name: "front", privateIP: "10.0.0.100" }],
          privateLinks: [links],
        },
        subnets: [{ name: "nodes", role: "node" }],
        ...over.network,
      },
      ...over.spec,
    });
    const metadata = { ...object.metadata, annotations: over.annotations ?? {} };
    const made = { ...(await world.make({ ...object, metadata } as Made)), kind: "AzureCluster" };
    const owner = { ...(await world.make(clusterObject(namespace, name))), kind: "Cluster" };
    await world.patch(owner, { status: { phase: "Provisioned" } }, "status");
    const current = (await world.get("AzureCluster", namespace, name))?.status?.conditions ?? [];
    const ready = conditionsOf({ LoadBalancersReady: "True" }).status.conditions;
    await world.patch(made, { status: { conditions: [...current, ...ready] } }, "status");
    return made;
  }

  const now = (world: HostedWorld, { metadata }: Thing) =>
    world.get("AzureCluster", metadata.namespace, metadata.name);

  /** Until a condition has a reason: then it says what, why and what to do, and an event says the same. */
  async function isTold(world: HostedWorld, thing: Thing, type: string, reason: string) {
    let message = "";
    await world.until(`${thing.metadata.name}: ${type} is not False ${reason}`, async () => {
      const conditions = (await now(world, thing))?.status?.conditions ?? [];
      const said = conditions.find((each) => each.type === type);
      message = said?.message ?? "";
      return said?.status === "False" && said.reason === reason;
    });
    expect(message.match(/[.:](?: |$)/g)?.length, message).toBeGreaterThanOrEqual(3);
    expect(message).not.toContain("hush");
    await world.advance(5_000);
    const events = (await world.list("Event", thing.metadata.namespace ?? "")) as unknown as {
      reason: string;
      type: string;
      regarding: { name: string };
    }[];
    const reported = events.filter((each) => each.regarding.name === thing.metadata.name);
    expect(reported.map((each) => `${each.type} ${each.reason}`)).toContain(`Warning ${reason}`);
    return message;
  }

  const isConnected = (world: HostedWorld, thing: Thing) =>
    world.until(`${thing.metadata.name} is connected and named`, async () => {
      const observed = await now(world, thing);
      return ["GSPrivateLinksReady", "GSDNSZoneReady"].every((type) =>
        world.condition(observed, type)?.startsWith("True"),
      );
    });

  test("a cluster of another tenant, whose identity works, is told that Azure does not connect the two", async () => {
    const world = await start();
    const { directory, roles } = world.azure.simulator;
    const subscription = "44444444-4444-4444-8444-444444444444";
    directory.addSubscription(subscription, otherTenant);
    const secrets = [{ value: "hush" }];
    const { appId, objectId } = directory.addApplication({ tenant: otherTenant, secrets });
    roles.makeOwner({ tenant: otherTenant, objectId, appId });
    await secret(world, "org", "far", { clientSecret: "hush" });
    await identity(world, "org", "far", appId, { tenantID: otherTenant });
    await cluster(world, "mc", { namespace: "org-mc" });
    const good = await cluster(world, "good");
    // The API server takes an empty namespace for none.
    const identityRef = { kind: "AzureClusterIdentity", name: "far", namespace: "" };
    const far = await cluster(world, "far", { subscription, spec: { identityRef } });

    await world.until("the link of the far one is made", async () => {
      const reported = world.condition(await now(world, far), "PrivateLinksReady");
      return reported === "True Realised";
    });
    const message = await isTold(world, far, "GSPrivateLinksReady", "LinkInAnotherTenant");
    expect(message).toContain("of different tenants");
    expect(message).toContain("Put both clusters into one tenant");
    await isConnected(world, good);
  }, 120_000);

  test("each is told what is wrong and what to do, by a condition and an event, and the others go on", async () => {
    const world = await start();
    await cluster(world, "mc", { namespace: "org-mc" });
    const good = await cluster(world, "good");
    await isConnected(world, good);

    const named = (name: string) => ({ identityRef: { kind: "AzureClusterIdentity", name } });
    const bare = await cluster(world, "bare", { network: { subnets: [] } });
    const unbalanced = await cluster(world, "unbalanced", { network: { apiServerLB: null } });
    const garbled = await cluster(world, "garbled", {
      network: { apiServerLB: { name: "lb", type: "Internal", frontendIPs: [{ name: "front" }] } },
      annotations: { "postern.io/private-links": "[{" },
    });
    await identity(world, "org", "nosecret", "client");
    const secretless = await cluster(world, "secretless", { spec: named("nosecret") });
    await secret(world, "org", "half", { clientsecret: "hush" });
    await identity(world, "org", "half", "client");
    const halved = await cluster(world, "halved", { spec: named("half") });
    const nameless = await cluster(world, "nameless", { spec: named("nobody") });
    await secret(world, "org", "far", { clientSecret: "hush" });
    await identity(world, "org", "far", "client", { tenantID: otherTenant });
    const far = await cluster(world, "far", { spec: named("far") });
    const twin = await cluster(world, "good", { namespace: "org-other" });
    const late = await cluster(world, "late");

    const [links, names] = ["GSPrivateLinksReady", "GSDNSZoneReady"] as const;
    await isTold(world, bare, links, "SubnetsNotSet");
    await isTold(world, unbalanced, links, "LoadBalancerMissing");
    await isTold(world, garbled, links, "InvalidPrivateLinks");
    await isTold(world, secretless, names, "SecretMissing");
    await isTold(world, halved, names, "SecretIncomplete");
    await isTold(world, nameless, names, "ClusterIdentityMissing");
    await isTold(world, far, "PrivateLinksReady", "NotRealised");
    await isTold(world, twin, links, "PrivateEndpointNameTaken");
    await isTold(world, twin, names, "NameTaken");
    for (const thing of [good, late]) await isConnected(world, thing);
  }, 120_000);
});
