import { DriftInterval } from "postern/azure/drift-interval.ts";
import { hostedClusterOf } from "postern/cli/hosted-cluster.ts";
import { expect, test } from "vitest";
import { guestNetwork, guestSubnet, guestSubscription, location, tenant } from "./azure.ts";
import { type ClusterShape, clientID, hostedClusterObject } from "./objects.ts";
import { wholeChain } from "./whole-chain.ts";
import { describeHosted, type HostedWorld, type Thing } from "./world.ts";

const available = "AzurePrivateLinkServiceAvailable";
const operationMs = { "*": 30_000 };

async function make(world: HostedWorld, name: string, shape: ClusterShape = {}): Promise<Thing> {
  await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
  return world.make(hostedClusterObject("clusters", name, shape));
}

async function allAvailable(world: HostedWorld, count: number): Promise<boolean> {
  const clusters = await world.list("HostedCluster");
  const good = clusters.filter((each) => world.condition(each, available) === "True AzureSuccess");
  return clusters.length === count && good.length === count;
}

/** All ids, without the numbers that Azure and Kubernetes give anew to what is made anew. */
function forms(world: HostedWorld): string[] {
  const guid = /[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}/g;
  return world.azure.ids().map((id) => id.replace(guid, "*").replace(/\ba[0-9a-f]{31}\b/g, "*"));
}

const gone = async (world: HostedWorld) => (await world.list("HostedCluster")).length === 0;

/** What `kubectl get` prints in the column ENDPOINT. */
async function endpointColumn(world: HostedWorld, kind: string): Promise<unknown[]> {
  interface Table {
    columnDefinitions: { name: string }[];
    rows: { cells: unknown[] }[];
  }
  const path = `/apis/hypershift.openshift.io/v1beta1/${kind.toLowerCase()}s`;
  const { body } = await world.cluster.request<Table>("GET", path, undefined, {
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
  });
  const at = body.columnDefinitions.findIndex(({ name }) => name === "Endpoint");
  return body.rows.map(({ cells }) => cells[at]);
}

describeHosted("one HostedCluster", (start) => {
  test("becomes a private control plane that its guest can reach, and goes without a trace", async () => {
    const world = await start({ features: wholeChain, simulator: { operationMs } });
    const before = world.azure.ids();
    const cluster = await make(world, "one");
    await world.until("the cluster is not available", () => allAvailable(world, 1));
    const [connection] = world.azure.ids("/privateendpointconnections/");
    expect(world.azure.at(connection ?? "")).toMatchObject({
      properties: { privateLinkServiceConnectionState: { status: "Approved" } },
    });
    const records = world.azure.ids("/privatednszones/").filter((id) => /\/a\//.test(id));
    expect(records.map((id) => id.split("/privatednszones/")[1])).toEqual([
      "one.example.com/a/api-one",
      "one.example.com/a/oauth-one",
      "one.hypershift.local/a/*.apps",
      "one.hypershift.local/a/api",
    ]);

    await world.remove(cluster);
    await world.until("the cluster is still there", () => gone(world));
    await world.advance(60_000);
    expect(world.azure.ids()).toEqual(before);
    expect(await world.list("AzurePrivateLinkService")).toEqual([]);
    expect(await world.list("HostedControlPlane")).toEqual([]);
  });

  test.each([
    ["Private", {}, /^10\./],
    [
      "Private",
      { externalDnsDomain: "example.com", oauthPublishingStrategy: "LoadBalancer" },
      /^api-one/,
    ],
    // Nobody serves its public Route here.
    ["PublicAndPrivate", {}, undefined],
    ["PublicAndPrivate", { externalDnsDomain: "example.com" }, /^api-one/],
  ] as const)(
    "as the command line creates it becomes available: %s %o",
    async (endpointAccess, over, host) => {
      const world = await start({ features: wholeChain, simulator: { operationMs } });
      await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: "clusters" } });
      const options = {
        namespace: "clusters",
        baseDomain: "example.com",
        location,
        tenantId: tenant,
        subscriptionId: guestSubscription,
        resourceGroup: "guest",
        vnetId: guestNetwork,
        subnetId: guestSubnet,
        controlPlaneClientId: clientID,
        endpointAccess,
        oauthPublishingStrategy: "Route",
      } as const;
      await world.make(hostedClusterOf("one", { ...options, ...over }));
      await world.until("the cluster is not available", () => allAvailable(world, 1));
      const names = world.azure
        .ids("/privatednszones/")
        .map((id) => id.split("/privatednszones/")[1] ?? "");
      expect(names.filter((each) => !each.includes("/"))).toEqual([
        "api-one.example.com",
        "oauth-one.example.com",
        "one.hypershift.local",
      ]);
      expect(names).toContain("api-one.example.com/a/@");
      for (const kind of ["HostedCluster", "HostedControlPlane"]) {
        const [column] = await endpointColumn(world, kind);
        if (host === undefined) expect(column).toBeNull();
        else expect(column).toMatch(host);
      }
    },
  );

  test("gets a deleted link service, endpoint, network link or record back within a minute", async () => {
    const world = await start({ features: wholeChain, drift: new DriftInterval() });
    await make(world, "one");
    await world.until("the cluster is not available", () => allAvailable(world, 1));
    // Its first drift checks.
    await world.advance(60_000);
    const form = forms(world);
    const types = ["virtualnetworklinks", "a", "privateendpoints", "privatelinkservices"];
    for (const type of types) {
      const [id = ""] = world.azure.ids(`/${type}/`);
      // Azure does not delete a link service that has connections.
      if (type === "privatelinkservices")
        for (const endpoint of world.azure.ids("/privateendpoints/"))
          world.azure.simulator.drop(endpoint);
      world.azure.simulator.drop(id);
      await world.advance(60_000);
      expect(forms(world), id).toEqual(form);
    }
    await world.mark();
    await world.advance(300_000);
    const requests = world.armRequests();
    expect(requests.filter(({ method }) => method !== "GET")).toEqual([]);
    const dns = requests.filter(({ path }) => /\/privateDns/i.test(path));
    expect(dns.length).toBeLessThanOrEqual(50);
  });

  test("gets back whatever is deleted behind its back, piece by piece", async () => {
    const world = await start({ features: wholeChain });
    await make(world, "one");
    await world.until("the cluster is not available", () => allAvailable(world, 1));
    const whole = world.azure.ids();
    const form = forms(world);
    const ours = whole.filter((id) =>
      /\/(privatelinkservices|privateendpoints|virtualnetworklinks|a)\/[^/]+$/.test(id),
    );
    expect(ours).toHaveLength(8);
    for (const id of ours) {
      // What was made anew meanwhile has another name in nothing but its alias.
      if (world.azure.at(id) === undefined) throw new Error(`${id} is not there`);
      try {
        world.azure.simulator.drop(id);
      } catch {
        // Azure does not delete a link service that has connections, whoever asks.
        continue;
      }
      await world.advance(9 * 60_000);
      await world.until(`not available after ${id} was lost`, () => allAvailable(world, 1));
      expect(forms(world)).toEqual(form);
    }
  }, 120_000);

  test("killed after any number of requests and started again, it ends as if it had not been", async () => {
    const seed = Number(process.env.SEED ?? 0);
    let normal: string[] = [];
    for (let after = 1; after < 60; after += 7) {
      const world = await start({ features: wholeChain, simulator: { operationMs } });
      const before = world.azure.ids();
      const cluster = await make(world, "one");
      const reached = () => world.armRequests().length >= after + seed;
      await world.until(
        "so many requests are not made",
        async () => reached() || allAvailable(world, 1),
      );
      await world.stop();
      await world.start();
      await world.until(`not available, killed after ${after + seed}`, () =>
        allAvailable(world, 1),
      );
      if (normal.length === 0) normal = forms(world);
      expect(forms(world)).toEqual(normal);
      await world.remove(cluster);
      await world.advance(20_000 + after * 1_000);
      await world.stop();
      await world.start();
      await world.until(`still there, killed after ${after + seed}`, () => gone(world));
      await world.advance(60_000);
      expect(world.azure.ids()).toEqual(before);
      await world.stop();
    }
  }, 180_000);
});

describeHosted("many HostedClusters", (start) => {
  test("at rest cost no write, and no more reads than a few (50 clusters)", async () => {
    const reads: number[] = [];
    for (const count of [20, 50]) {
      const world = await start({ features: wholeChain });
      for (let n = 0; n < count; n++) await make(world, `c${n}`);
      await world.until("not all are available", () => allAvailable(world, count), 60);
      // The first drift checks still learn what the resources look like.
      await world.advance(12 * 60_000);
      await world.mark();
      await world.advance(10 * 60_000);
      const requests = world.armRequests();
      expect(requests.filter(({ method }) => method !== "GET")).toEqual([]);
      expect(await world.kubeWrites()).toEqual([]);
      reads.push(requests.length);
      await world.stop();
    }
    const [few = 0, many = 0] = reads;
    // Drift checks fall a little differently each time, and use up to a tenth of the DNS reads where there are zones to read.
    expect(many).toBeLessThan(few * 1.3 + 2 * 50);
  }, 240_000);
});
