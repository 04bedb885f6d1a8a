import { tenantPolicy } from "@postern/core/tenant-policy.ts";
import { externalLabel } from "postern/hosted/endpoint/cluster/services.ts";
import { externalDnsAnnotation } from "postern/hosted/hostnames.ts";
import {
  clusterAnnotation,
  conditions,
  endpointFinalizer,
  linkFinalizer,
} from "postern/hosted/names.ts";
import { topologyFeature } from "postern/hosted/topology/feature.ts";
import { expect, test } from "vitest";
import {
  guestGroup,
  guestNetwork,
  guestSubscription,
  location,
  managementGroup,
  managementNetwork,
} from "./azure.ts";
import {
  addressesAt,
  availableCluster,
  guestOnly,
  heldCluster,
  makeLink,
  network,
  startGuest,
} from "./endpoint-world.ts";
import { gone, linkedCluster, linkObject, natSubnets, now, onlyLink, ready } from "./link-world.ts";
import { hostedClusterObject, route, routerService } from "./objects.ts";
import { describeHosted, type HostedWorld, type Thing } from "./world.ts";

/** Each test is an attack by a tenant, named after it: it succeeded once. */

const simulator = { operationMs: { "*": 30_000 } };
const attackers = "eeeeeeee-eeee-4eee-8eee-eeeeeeeeeeee";
const evilSubnet = `/subscriptions/${attackers}/resourceGroups/evil/${network}/virtualNetworks/evil/subnets/nodes`;
const evilSpec = { subscriptionID: attackers, guestSubnetID: evilSubnet };

async function namespace(world: HostedWorld, name: string): Promise<void> {
  await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name } });
}

const linkServices = (world: HostedWorld) => world.azure.ids("/privatelinkservices/pls-");

describeHosted("a tenant who writes link objects", (start) => {
  test("attack: a bare AzurePrivateLinkService exposes another tenant's load balancer", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const victim = await linkedCluster(world, "one");
    await ready(world, victim);
    const before = world.azure.at(victim.id);
    await namespace(world, "evil");
    const bare = linkObject(
      { ...victim, namespace: "evil" },
      { spec: evilSpec, metadata: { ownerReferences: [] } },
    );
    const link = await world.make(bare);
    await world.advance(10 * 60_000);
    expect(world.condition(await now(world, { link }), conditions.link)).toBe(
      "False ControlPlaneNotVerified",
    );
    await gone(world, { link });
    expect(linkServices(world)).toEqual([victim.id.toLowerCase()]);
    expect(world.azure.at(victim.id)).toEqual(before);
  });

  test("attack: a control plane of one's own stands in for another's", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const victim = await linkedCluster(world, "one");
    await ready(world, victim);
    const before = world.azure.at(victim.id);
    await namespace(world, "evil");
    const { spec } = victim.controlPlane;
    const annotations = { [clusterAnnotation]: "clusters/one" };
    const controlPlane = await world.make({
      apiVersion: "hypershift.openshift.io/v1beta1",
      kind: "HostedControlPlane",
      metadata: { namespace: "evil", name: "one", annotations },
      spec,
    } as Parameters<HostedWorld["make"]>[0]);
    const service = await world.make(routerService(controlPlane));
    await world.giveAddress(service, victim.address);
    const link = await world.make(
      linkObject({ ...victim, namespace: "evil", controlPlane }, { spec: evilSpec }),
    );
    await world.advance(10 * 60_000);
    expect(world.condition(await now(world, { link }), conditions.link)).toBe(
      "False ControlPlaneNotVerified",
    );
    expect(world.azure.at(victim.id)).toEqual(before);
    expect(linkServices(world)).toEqual([victim.id.toLowerCase()]);
  });

  test("attack: a Service claims the address of another tenant's load balancer", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const victim = await linkedCluster(world, "one");
    await ready(world, victim);
    const evil = await world.hostedCluster("evil");
    await world.giveAddress(evil.service, victim.address);
    const link = await world.make(linkObject({ ...evil, address: victim.address }));
    await world.advance(10 * 60_000);
    const found = await now(world, { link });
    expect(world.condition(found, conditions.link)).toBe("False ILBOfAnotherService");
    expect(found?.status?.internalLoadBalancerID).toBeUndefined();
    expect(linkServices(world)).toEqual([victim.id.toLowerCase()]);
  });

  test("attack: a cluster takes the clusterID of another, before and after it", async () => {
    const clusterID = "dddddddd-dddd-4ddd-8ddd-dddddddddddd";
    const world = await start({ features: onlyLink(), simulator });
    const evil = await linkedCluster(world, "evil", { shape: { clusterID } });
    await ready(world, evil);
    const victim = await linkedCluster(world, "one", { shape: { clusterID } });
    await ready(world, victim);
    const own = (await now(world, victim))?.status?.privateLinkServiceID as string;
    expect(own).not.toBe(evil.id);
    const before = world.azure.at(own);
    await gone(world, evil);
    await world.remove(evil.cluster);
    await world.advance(10 * 60_000);
    expect(world.azure.at(own)).toEqual(before);
    expect(linkServices(world)).toEqual([own.toLowerCase()]);
    await gone(world, victim);
    expect(linkServices(world)).toEqual([]);
  });

  test("attack: a cluster that was deleted by force keeps the clusterID of another", async () => {
    const clusterID = "dddddddd-dddd-4ddd-8ddd-dddddddddddd";
    const world = await start({ features: onlyLink(), simulator });
    const evil = await linkedCluster(world, "evil", { shape: { clusterID } });
    await ready(world, evil);
    // Its control plane and its link stay, and nobody says any more that it has this clusterID.
    await world.remove(evil.cluster);
    const victim = await linkedCluster(world, "one", { shape: { clusterID } });
    const { status } = await ready(world, victim);
    expect(status?.privateLinkServiceID).not.toBe(evil.id);
  });

  test("attack: a cluster takes the clusterID of a cluster of another management cluster", async () => {
    const clusterID = "dddddddd-dddd-4ddd-8ddd-dddddddddddd";
    const world = await start({ features: onlyLink({ installation: "ffffffff" }), simulator });
    const victim = await linkedCluster(world, "one", { shape: { clusterID } });
    await ready(world, victim);
    const before = world.azure.at(victim.id);
    // As it looks from a second management cluster: the link service is there, and its object is not.
    await world.stop();
    await world.patch(victim.link, { metadata: { finalizers: null } });
    for (const each of [victim.link, victim.controlPlane, victim.cluster]) await world.remove(each);
    await world.run({ features: onlyLink() });
    const evil = await linkedCluster(world, "evil", { shape: { clusterID } });
    const { status } = await ready(world, evil);
    expect(status?.privateLinkServiceID).not.toBe(victim.id);
    await gone(world, evil);
    expect(world.azure.at(victim.id)).toEqual(before);
  });

  test("attack: a forged status has another cluster's link service deleted", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const victim = await linkedCluster(world, "one");
    await ready(world, victim);
    // As HyperShift leaves it: its own tags, and none of ours.
    const held = world.azure.at(victim.id) as { top: object; properties: object };
    const tags = {
      "kubernetes.io_cluster_one": "owned",
      "hypershift.openshift.io_resource-type": "private-link-service",
    };
    await world.stop();
    world.azure.simulator.change(victim.id, {
      ...held.top,
      tags,
      properties: held.properties,
    } as never);
    // So that nobody puts the tags right before the attacker's object is reconciled.
    await world.patch(victim.cluster, { spec: { pausedUntil: "true" } });
    await namespace(world, "evil");
    const bare = linkObject({ ...victim, namespace: "evil" }, { spec: evilSpec });
    const link = await world.make({
      ...bare,
      metadata: { ...bare.metadata, finalizers: [linkFinalizer], ownerReferences: [] },
    });
    await world.patch(link, { status: { privateLinkServiceID: victim.id } }, "status");
    await world.remove(link);
    await world.start();
    await world.until("the attacker's object is gone", async () => !(await now(world, { link })));
    expect(world.azure.at(victim.id)).toBeDefined();
    await world.patch(victim.cluster, { spec: { pausedUntil: null } });
    await ready(world, victim);
  });

  test("attack: an annotation has a subnet deleted that Postern did not create", async () => {
    const world = await start({ features: onlyLink({ natSubnets: "per-cluster" }), simulator });
    const subnet = `${managementNetwork}/subnets/theirs-pls-nat`;
    world.azure.simulator.change(subnet, { properties: { addressPrefix: "10.0.200.0/24" } });
    await namespace(world, "evil");
    const victim = await world.hostedCluster("one");
    const bare = linkObject({ ...victim, namespace: "evil" }, { spec: evilSpec });
    const link = await world.make({
      ...bare,
      metadata: {
        ...bare.metadata,
        annotations: {
          [clusterAnnotation]: "clusters/nobody",
          "postern.io/nat-subnet-id": subnet,
        },
        finalizers: [linkFinalizer],
        ownerReferences: [],
      },
    } as Parameters<HostedWorld["make"]>[0]);
    await gone(world, { link });
    expect(natSubnets(world)).toEqual(["theirs-pls-nat"]);
  });

  test("attack: a cluster with the infraID of another uses up its NAT subnet", async () => {
    const world = await start({ features: onlyLink({ natSubnets: "per-cluster" }), simulator });
    const victim = await linkedCluster(world, "one");
    await ready(world, victim);
    const shape = { infraID: "one-infra" };
    const evil = await linkedCluster(world, "evil", { shape });
    await ready(world, evil);
    const { clusterID } = evil.cluster.spec as { clusterID: string };
    expect(natSubnets(world)).toEqual([`one-infra-${clusterID}-pls-nat`, "one-infra-pls-nat"]);
    await gone(world, evil);
    expect(natSubnets(world)).toEqual(["one-infra-pls-nat"]);
  });

  const hyperShiftsSubnet = (world: HostedWorld) => {
    const id = `${managementNetwork}/subnets/one-infra-pls-nat`;
    world.azure.simulator.change(id, {
      properties: {
        addressPrefix: "10.0.200.0/24",
        privateLinkServiceNetworkPolicies: "Disabled",
      },
    });
    return id;
  };

  test("attack: a cluster with the infraID of another uses up the NAT subnet that HyperShift created", async () => {
    const world = await start({ features: onlyLink({ natSubnets: "per-cluster" }), simulator });
    hyperShiftsSubnet(world);
    await ready(world, await linkedCluster(world, "one"));
    expect(natSubnets(world)).toEqual(["one-infra-pls-nat"]);
    const evil = await linkedCluster(world, "evil", { shape: { infraID: "one-infra" } });
    await ready(world, evil);
    expect(natSubnets(world)).toHaveLength(2);
    await gone(world, evil);
    expect(natSubnets(world)).toEqual(["one-infra-pls-nat"]);
  });

  test("attack: a cluster names the NAT subnet that HyperShift created for another", async () => {
    const world = await start({ features: onlyLink({ natSubnets: "per-cluster" }), simulator });
    const natSubnetID = hyperShiftsSubnet(world);
    await ready(world, await linkedCluster(world, "one"));
    const evil = await linkedCluster(world, "evil", { spec: { natSubnetID } });
    await world.advance(60_000);
    expect(world.condition(await now(world, evil), conditions.link)).toBe("False NATSubnetUnfit");
  });

  test("attack: a cluster lets subscriptions in that its namespace may not have", async () => {
    const policy = tenantPolicy([
      { namespace: "clusters", subscriptions: [guestSubscription], domains: ["*"] },
    ]);
    const world = await start({ features: onlyLink({ policy }), simulator });
    const one = await linkedCluster(world, "one", {
      spec: { additionalAllowedSubscriptions: [attackers] },
    });
    await world.advance(60_000);
    expect(world.condition(await now(world, one), conditions.link)).toBe(
      "False NotAllowedByPolicy",
    );
    expect(linkServices(world)).toEqual([]);
  });
});

describeHosted("a link service whose tags somebody has replaced", (start) => {
  const replaceTags = (world: HostedWorld, id: string) => {
    const { top, properties } = world.azure.at(id) as { top: object; properties: object };
    world.azure.simulator.change(id, { ...top, tags: { x: "y" }, properties } as never);
  };

  test("is still the cluster's, gets its tags back, and goes with it", async () => {
    const world = await start({ features: onlyLink(), simulator });
    const one = await linkedCluster(world, "one");
    const { status } = await ready(world, one);
    replaceTags(world, one.id);
    const tagsOf = () => (world.azure.at(one.id) as { top: { tags: object } }).top.tags;
    await world.until("the tag is back", () => "postern_owner" in tagsOf(), 15);
    expect(tagsOf()).toMatchObject({ x: "y" });
    const after = await ready(world, one);
    expect(after.status?.privateLinkServiceAlias).toBe(status?.privateLinkServiceAlias);
    await world.stop();
    replaceTags(world, one.id);
    await world.remove(one.link);
    await world.start();
    await world.until("the link is gone", async () => (await now(world, one)) === undefined);
    expect(linkServices(world)).toEqual([]);
    expect(natSubnets(world)).toEqual([]);
  });
});

describeHosted("a tenant beside another in one network", (start) => {
  const baseDomain = "shared.test";

  test("attack: an older bare object moves another tenant's zone into the attacker's group", async () => {
    const world = await startGuest(start);
    await namespace(world, "evil");
    await world.make({
      apiVersion: "hypershift.openshift.io/v1beta1",
      kind: "AzurePrivateLinkService",
      metadata: { namespace: "evil", name: "private-router", finalizers: [endpointFinalizer] },
      spec: {
        loadBalancerIP: "10.0.0.99",
        subscriptionID: attackers,
        resourceGroupName: "evil",
        location,
        guestSubnetID: evilSubnet,
        guestVNetID: guestNetwork,
        baseDomain,
      },
    } as Parameters<HostedWorld["make"]>[0]);
    const victim = await availableCluster(world, "one", { baseDomain });
    const zone = `${guestGroup}/${network}/privateDnsZones/${baseDomain}`;
    const { status } = (await victim.now()) as Thing;
    expect(status?.baseDomainDNSZoneID).toBe(zone);
    expect(addressesAt(world, zone, "api-one")).toEqual([status?.privateEndpointIP]);
  });

  const tagsAt = (world: HostedWorld, id: string) =>
    (world.azure.at(id) as { top: { tags: Record<string, string> } }).top.tags;
  const asking = (text: string) => ({ annotations: { "postern.io/azure-tags": text } });

  test("attack: the tags that a cluster asks for claim the zone and the link service of another", async () => {
    const world = await startGuest(start);
    const victim = await availableCluster(world, "one", { baseDomain });
    const { clusterID } = victim.hosted.cluster.spec as { clusterID: string };
    const { uid } = victim.thing.metadata;
    const zone = `${guestGroup}/${network}/privateDnsZones/${baseDomain}`;
    const ids = [zone, victim.endpointId, victim.serviceId];
    const owners = () =>
      ids.map((id) =>
        Object.entries(tagsAt(world, id) ?? {}).filter(
          ([name]) => /postern_|hypershift|kubernetes/i.test(name) && !/_user_/.test(name),
        ),
      );
    const before = owners();
    const claims = [`Postern_Owner=${clusterID}/${uid}`, `postern_user_${clusterID}=${uid}`];
    const evil = await availableCluster(world, "two", {
      baseDomain,
      ...asking([...claims, "team=evil"].join()),
    });
    expect(await evil.message(conditions.endpoint)).toContain("postern.io/azure-tags is not used");
    const written = world.azure
      .ids("/providers/")
      .flatMap((id) => Object.entries(tagsAt(world, id) ?? {}));
    expect(written.filter(([name]) => name === "team")).toEqual([]);
    expect(written.filter(([, value]) => value === `${clusterID}/${uid}`)).toHaveLength(1);
    expect(written.filter(([name, value]) => /_user_/.test(name) && value === uid)).toEqual([]);
    await gone(world, { link: evil.thing });
    expect(owners()).toEqual(before);
    expect(await victim.isAvailable()).toBe(true);
  });

  test("a zone that clusters share has the tags of its first user, and those of the next when that leaves", async () => {
    const world = await startGuest(start);
    const one = await availableCluster(world, "one", { baseDomain, ...asking("team=blue") });
    const two = await availableCluster(world, "two", { baseDomain, ...asking("team=red") });
    const zone = `${guestGroup}/${network}/privateDnsZones/${baseDomain}`;
    await world.mark();
    await world.advance(30 * 60_000);
    expect(world.armRequests().filter(({ method }) => method === "PUT")).toEqual([]);
    expect(tagsAt(world, zone).team).toBe("blue");
    await gone(world, { link: one.thing });
    await world.until(
      "the tags are those of the next",
      () => tagsAt(world, zone).team === "red",
      30,
    );
    expect(await two.isAvailable()).toBe(true);
  });

  test("an endpoint, its zones and their links whose tags somebody has replaced are still the cluster's", async () => {
    const world = await startGuest(start);
    const one = await availableCluster(world, "one", { baseDomain });
    const tagged = () =>
      world.azure
        .ids(`${guestSubscription}/`)
        .filter((id) => /\/(privateendpoints|privatednszones|virtualnetworklinks)\/[^/]+$/.test(id))
        .filter((id) => !/networkinterfaces/.test(id));
    const ids = tagged();
    expect(ids).toHaveLength(5);
    const replaceAll = () => {
      for (const id of ids) {
        const { top, properties } = world.azure.at(id) as { top: object; properties: object };
        world.azure.simulator.change(id, { ...top, tags: { x: "y" }, properties } as never);
      }
    };
    const marked = () =>
      ids.every((id) => {
        const { tags } = (world.azure.at(id) as { top: { tags: object } }).top;
        return Object.keys(tags).some((each) => /^postern_/.test(each));
      });
    replaceAll();
    await world.until("the tags are back", marked, 30);
    expect(tagged()).toEqual(ids);
    expect(await one.isAvailable()).toBe(true);
    await world.stop();
    replaceAll();
    await world.remove(one.thing);
    await world.start();
    await world.until("the object is gone", async () => (await one.now()) === undefined, 15);
    expect(tagged()).toEqual([]);
  });
});

describeHosted("a tenant whose control planes HyperShift creates", (start) => {
  const services = (apiServer: string) => [route("APIServer", apiServer), route("OAuthServer")];

  const published = async (world: HostedWorld) =>
    (await world.list("Service")).flatMap(({ metadata }) => {
      const hostname = metadata.annotations?.[externalDnsAnnotation];
      return hostname === undefined ? [] : [`${metadata.namespace} ${hostname}`];
    });

  test("attack: without a policy, a hostname of the platform's own domain is published for external-dns", async () => {
    const world = await startGuest(start, {}, { features: guestOnly() });
    const hostname = "console.mgmt.internal.test";
    const evil = await availableCluster(world, "evil", { services: services(hostname) });
    expect(await published(world)).toEqual([]);
    expect(await evil.message(conditions.dns)).toContain(`hostname ${hostname} is not allowed`);
  });

  test("attack: a cluster publishes the hostname of another for external-dns", async () => {
    const world = await startGuest(start);
    const hostname = "api.shared.example.com";
    await availableCluster(world, "one", { services: services(hostname) });
    const evil = await availableCluster(world, "evil", { services: services(hostname) });
    expect(await published(world)).toEqual([`clusters-one ${hostname}`]);
    expect(await evil.message(conditions.dns)).toContain("Another HostedCluster has it");
  });

  test("a hostname that HyperShift published before stays published, at the address of the endpoint", async () => {
    const world = await startGuest(start, {}, { features: guestOnly() });
    const hostname = "api.one.example.com";
    const hosted = await heldCluster(world, "one", { services: services(hostname) });
    await world.make({
      apiVersion: "v1",
      kind: "Service",
      metadata: {
        namespace: hosted.namespace,
        name: "kube-apiserver-private-external",
        labels: { [externalLabel]: "true" },
        annotations: { [externalDnsAnnotation]: hostname },
      },
      spec: { type: "ExternalName", externalName: "192.0.2.1" },
    } as Parameters<HostedWorld["make"]>[0]);
    const link = await makeLink(world, hosted);
    await link.publish();
    await world.until("it is available", () => link.isAvailable(), 10);
    const [service] = (await world.list("Service", hosted.namespace)).filter(
      ({ metadata }) => metadata.annotations?.[externalDnsAnnotation] === hostname,
    );
    const { status } = (await link.now()) as Thing;
    expect(service?.spec.externalName).toBe(status?.privateEndpointIP);
  });
});

describeHosted("a tenant who chooses names", (start) => {
  const policy = tenantPolicy([
    { namespace: "clusters", domains: ["example.com"] },
    { namespace: "evil", domains: ["evil.test", "example.com"] },
    { namespace: "kube", domains: ["*"] },
  ]);
  const features = () => [topologyFeature({ policy })];

  async function create(
    world: HostedWorld,
    home: string,
    name: string,
    hostname: string,
  ): Promise<string | undefined> {
    await namespace(world, home);
    const services = [route("APIServer", hostname), route("OAuthServer")];
    // Kubernetes tells ages by the second: one of the same second is created again.
    let cluster: Thing;
    do {
      cluster = await world.make(hostedClusterObject(home, name, { services }));
      await world.settled();
    } while ((await isTwin(world, cluster)) && (await removed(world, cluster)));
    return world.condition(
      await world.get("HostedCluster", home, cluster.metadata.name),
      "TopologyApplied",
    );
  }

  async function isTwin(world: HostedWorld, { metadata }: Thing): Promise<boolean> {
    const born = ({ metadata: each }: Thing) =>
      (each as { creationTimestamp?: string }).creationTimestamp;
    const own = born({ metadata } as Thing);
    const all = await world.list("HostedCluster");
    return all.some((each) => each.metadata.uid !== metadata.uid && born(each) === own);
  }

  async function removed(world: HostedWorld, cluster: Thing): Promise<true> {
    await world.remove(cluster);
    const { namespace: home, name } = cluster.metadata;
    await world.until("it is gone", async () => !(await world.get("HostedCluster", home, name)));
    return true;
  }

  const hosts = async (world: HostedWorld) =>
    (await world.list("Route")).map(({ spec }) => spec.host).filter((host) => host !== undefined);

  test("attack: HostedCluster kube/system writes into kube-system", async () => {
    const world = await start({ features });
    const before = (await world.list("Service", "kube-system")).length;
    expect(await create(world, "kube", "system", "api.example.com")).toBe(
      "False NamespaceReserved",
    );
    expect(await world.list("HostedControlPlane", "kube-system")).toEqual([]);
    expect(await world.list("Service", "kube-system")).toHaveLength(before);
  });

  test("attack: a hostname of the platform's own domain is published", async () => {
    const world = await start({ features });
    expect(await create(world, "evil", "console", "console.mgmt.internal.test")).toBe(
      "False NotAllowedByPolicy",
    );
    expect(await hosts(world)).not.toContain("console.mgmt.internal.test");
  });

  test("attack: a cluster publishes the hostname of another", async () => {
    const world = await start({ features });
    const hostname = "api-blue.example.com";
    expect(await create(world, "clusters", "blue", hostname)).not.toContain("False N");
    expect(await create(world, "evil", "blue", hostname)).toBe("False HostnameTaken");
    const found = await world.list("Route");
    const own = found.filter(({ spec }) => spec.host === hostname);
    expect(own.map(({ metadata }) => metadata.namespace)).toEqual(["clusters-blue"]);
  });

  test("attack: an older cluster adds the hostname that another has published", async () => {
    const world = await start({ features });
    await create(world, "evil", "old", "api-old.example.com");
    await namespace(world, "clusters");
    let blue: Thing;
    let hostname: string;
    for (let n = 0; ; n++) {
      hostname = `api-blue-${n}.example.com`;
      const services = [route("APIServer", hostname), route("OAuthServer")];
      blue = await world.make(hostedClusterObject("clusters", `blue-${n}`, { services }));
      await world.settled();
      if (!(await isTwin(world, blue))) break;
    }
    const { name } = blue.metadata;
    const own = async () =>
      (await world.list("Route"))
        .filter(({ spec }) => spec.host === hostname)
        .map(({ metadata }) => metadata.namespace);
    expect(await own()).toEqual([`clusters-${name}`]);
    const old = (await world.get("HostedCluster", "evil", "old")) as Thing;
    // The services of an Azure cluster cannot change, those of another platform can.
    const change = (spec: object) => world.patch({ ...old, kind: "HostedCluster" }, { spec });
    await change({ platform: { type: "IBMCloud" } });
    await change({ services: [route("APIServer", hostname), route("OAuthServer")] });
    await change({ platform: { type: "Azure" } });
    const annotations = { "postern.io/private-dns": "none" };
    await world.patch({ ...blue, kind: "HostedCluster" }, { metadata: { annotations } });
    await world.advance(60_000);
    const applied = async (at: string, each: string) =>
      world.condition(await world.get("HostedCluster", at, each), "TopologyApplied");
    expect(await applied("clusters", name)).toBe("True AzureSuccess");
    expect(await applied("evil", "old")).toBe("False HostnameTaken");
    const plane = await world.get("HostedControlPlane", `clusters-${name}`, name);
    expect(plane?.metadata.annotations).toMatchObject(annotations);
    expect(await own()).toEqual([`clusters-${name}`]);
  });

  test("without a policy no hostname is published", async () => {
    const world = await start({ features: () => [topologyFeature()] });
    expect(await create(world, "clusters", "green", "api-green.example.com")).toBe(
      "False NotAllowedByPolicy",
    );
    expect(world.azure.ids(managementGroup)).toBeDefined();
  });
});
