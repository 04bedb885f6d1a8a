import { readFile } from "node:fs/promises";
import { apiVersionOf } from "@postern/core/kind.ts";
import { azureAsoManagedCluster } from "@postern/core/kinds/azure-aso-managed.ts";
import { expect, test } from "vitest";
import { guestSubscription } from "../hosted/azure.ts";
import { describeHosted, type HostedWorld, type Thing } from "../hosted/world.ts";
import {
  baseZone,
  groupOf,
  makeCluster,
  makeReady,
  namesIn,
  publicZone,
  startDns,
  valuesAt,
} from "./dns-world.ts";
import { group, onVsphere, vsphere, vspherePath } from "./vsphere.ts";

const finalizer = "dns-operator-azure.giantswarm.io/azurecluster";
const settings = {
  subscription: guestSubscription,
  client: "client",
  tenant: "tenant",
  location: "northeurope",
};

describeHosted("the names of clusters on other infrastructure", (startWorld) => {
  const reported = async (world: HostedWorld, name: string) =>
    world.condition(await vsphere(world, name), "GSDNSZoneReady");

  /** The API server of the test stands for that of the workload cluster. */
  async function kubeconfigFor(world: HostedWorld, name: string) {
    const text = await readFile(world.cluster.kubeconfig, "utf8");
    await world.make({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "org", name: `${name}-kubeconfig` },
      data: { value: Buffer.from(text).toString("base64") },
    } as never);
  }

  async function ingress(world: HostedWorld, hostname: string, ip?: string) {
    const made = await world.make({
      apiVersion: "v1",
      kind: "Service",
      metadata: {
        namespace: "kube-system",
        name: "ingress",
        labels: { "app.kubernetes.io/name": "ingress-nginx" },
        annotations: {
          "giantswarm.io/external-dns": "managed",
          "external-dns.alpha.kubernetes.io/hostname": hostname,
        },
      },
      spec: { type: "LoadBalancer", ports: [{ port: 443 }] },
    } as never);
    const service = { ...made, kind: "Service" };
    if (ip) await withAddress(world, service, ip);
    return service;
  }

  const withAddress = (world: HostedWorld, service: Thing, ip: string) =>
    world.patch(service, { status: { loadBalancer: { ingress: [{ ip }] } } }, "status");

  test("a cluster on vSphere gets a resource group, a zone and its names, and leaves nothing but the empty group", async () => {
    const world = await startDns(startWorld, { settings });
    const before = world.azure.ids();
    await kubeconfigFor(world, "vs1");
    await ingress(world, "ingress.vs1.example.com", "20.0.0.1");
    const cluster = await onVsphere(world, "vs1", "192.0.2.10");
    await world.until(
      "it is ready",
      async () => (await reported(world, "vs1"))?.startsWith("True") ?? false,
    );
    expect(world.azure.at(groupOf("vs1"))).toMatchObject({
      top: { location: "northeurope", tags: { team: "a" } },
    });
    const zone = publicZone(groupOf("vs1"), "vs1");
    expect(valuesAt(world, zone, "A", "api")).toEqual(["192.0.2.10"]);
    await world.until("the ingress is found", () => namesIn(world, zone).length === 4);
    expect(valuesAt(world, zone, "A", "ingress")).toEqual(["20.0.0.1"]);
    expect(valuesAt(world, zone, "CNAME", "*")).toEqual(["ingress.vs1.example.com"]);
    expect(valuesAt(world, baseZone, "NS", "vs1")).toBeDefined();
    expect((await vsphere(world, "vs1")).metadata.finalizers).toEqual([finalizer]);

    await world.mark();
    // In small steps: the workload cluster answers in its own time, and no reconcile may wait long for it.
    for (let step = 0; step < 180; step++) await world.advance(5_000);
    expect(await world.kubeWrites()).toEqual([]);
    expect(world.armRequests().filter(({ method }) => method !== "GET")).toEqual([]);

    await world.remove(cluster);
    await world.cluster.request("DELETE", `${vspherePath}/vs1`);
    await world.until("it is let go", async () => (await vsphere(world, "vs1")).kind === "Status");
    const left = world.azure.ids().filter((id) => !before.includes(id));
    expect(left).toEqual([groupOf("vs1").toLowerCase()]);
    const events = (await world.list("Event", "org")) as unknown as { reason: string }[];
    expect(events.map(({ reason }) => reason)).toContain("ResourceGroupLeft");
  }, 60_000);

  test("a Cluster that is deleted alone waits for its names, and removes the finalizer from its infrastructure object", async () => {
    const world = await startDns(startWorld, { settings });
    const before = world.azure.ids();
    const cluster = await onVsphere(world, "vs9", "192.0.2.19");
    await world.until(
      "it is ready",
      async () => (await reported(world, "vs9"))?.startsWith("True") ?? false,
    );
    await world.stop();
    const current = (await world.get("Cluster", "org", "vs9"))?.metadata.finalizers ?? [];
    const finalizers = current.filter((each) => each !== "cluster.cluster.x-k8s.io");
    await world.patch(cluster, { metadata: { finalizers } });
    await world.remove(cluster);
    await world.start();
    await world.until(
      "it is let go",
      async () => (await world.get("Cluster", "org", "vs9")) === undefined,
    );
    expect((await vsphere(world, "vs9")).metadata.finalizers ?? []).toEqual([]);
    const left = world.azure.ids().filter((id) => !before.includes(id));
    expect(left).toEqual([groupOf("vs9").toLowerCase()]);
  });

  test("an ingress without an address does not hold up api, and comes when it has one", async () => {
    const world = await startDns(startWorld, { settings });
    await kubeconfigFor(world, "vs2");
    const service = await ingress(world, "ingress.vs2.example.com");
    await onVsphere(world, "vs2", "192.0.2.10");
    const zone = publicZone(groupOf("vs2"), "vs2");
    await world.until("api is there", () => valuesAt(world, zone, "A", "api") !== undefined);
    expect(valuesAt(world, zone, "A", "ingress")).toBeUndefined();
    await withAddress(world, service, "20.0.0.2");
    await world.until(
      "ingress is there",
      () => valuesAt(world, zone, "A", "ingress") !== undefined,
    );
  });

  test("a cluster that has no kubeconfig yet has its zone and its api", async () => {
    const world = await startDns(startWorld, { settings });
    await onVsphere(world, "vs3", "192.0.2.10");
    const zone = publicZone(groupOf("vs3"), "vs3");
    await world.until("api is there", () => valuesAt(world, zone, "A", "api") !== undefined);
    expect(await reported(world, "vs3")).toBe("True GSDNSZonesCreated");
  });

  test("an endpoint that is a name is never written as an address, and is reported", async () => {
    const world = await startDns(startWorld, { settings });
    await onVsphere(world, "vs4", "api.elsewhere.example.net");
    await world.until(
      "it is told",
      async () => (await reported(world, "vs4")) === "False EndpointNotAnAddress",
    );
    expect(namesIn(world, publicZone(groupOf("vs4"), "vs4"))).toEqual([]);
    expect(valuesAt(world, baseZone, "NS", "vs4")).toBeDefined();
  });

  test("without settings of its own a cluster has its zone with the management cluster", async () => {
    const world = await startDns(startWorld, {
      settings: { subscription: guestSubscription },
      viewsOf: (clients) => ({
        ...clients,
        forReference: (_, reconcile) => clients.management(reconcile),
      }),
    });
    await onVsphere(world, "vs5", "192.0.2.10");
    await world.until(
      "it is ready",
      async () => (await reported(world, "vs5"))?.startsWith("True") ?? false,
    );
    expect(world.azure.ids("resourcegroups/vs5/")[0]).toContain(
      "11111111-1111-4111-8111-111111111111",
    );
    expect(world.azure.at(groupOf("vs5"))).toBeUndefined();
  });

  test("a cluster of AKS has a zone without an address, in the subscription that is annotated", async () => {
    const world = await startDns(startWorld, { settings: { location: "northeurope" } });
    const identity = "azure.giantswarm.io/azure-cluster-identity";
    const infrastructure = await world.make({
      apiVersion: apiVersionOf(azureAsoManagedCluster),
      kind: azureAsoManagedCluster.kind,
      metadata: { namespace: "org", name: "aks1", annotations: { [identity]: "one" } },
      spec: {},
    } as never);
    const cluster = await makeCluster(world, "aks1", {
      annotations: { "giantswarm.io/azure-subscription-id": guestSubscription },
      spec: {
        infrastructureRef: { apiGroup: group, kind: azureAsoManagedCluster.kind, name: "aks1" },
      },
    });
    await makeReady(world, { cluster });
    await world.until(
      "it is delegated",
      () => valuesAt(world, baseZone, "NS", "aks1") !== undefined,
    );
    expect(namesIn(world, publicZone(groupOf("aks1"), "aks1"))).toEqual([]);
    const now = () => world.get(azureAsoManagedCluster.kind, "org", "aks1");
    expect((await now())?.metadata.finalizers).toEqual([finalizer]);
    expect((await now())?.status).toBeUndefined();
    await world.remove(cluster);
    await world.remove({ ...infrastructure, kind: azureAsoManagedCluster.kind });
    await world.until("it is let go", async () => (await now()) === undefined);
    expect(world.azure.at(publicZone(groupOf("aks1"), "aks1"))).toBeUndefined();
    expect(valuesAt(world, baseZone, "NS", "aks1")).toBeUndefined();
  });
});
