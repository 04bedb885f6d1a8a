import { cloudProviderFeature } from "@postern/local/cloud-provider/feature.ts";
import { expect, test } from "vitest";
import { location, managementGroup, managementNetwork } from "./azure.ts";
import { describeHosted, type HostedWorld, type Thing, type WorldOptions } from "./world.ts";

const subnetId = `${managementNetwork}/subnets/nodes`;
const network = `${managementGroup}/providers/Microsoft.Network`;
const internal = `${network}/loadBalancers/kubernetes-internal`;
const cleanup = "service.kubernetes.io/load-balancer-cleanup";

describeHosted("the stand-in for the cloud provider", (startWorld) => {
  const start = (options: { internalFrontendsEach?: number } & Partial<WorldOptions> = {}) =>
    startWorld({
      features: (armClients) => [
        cloudProviderFeature({
          arm: (reconcile) => armClients.management(reconcile),
          managementGroup,
          subnetId,
          location,
          ...(options.internalFrontendsEach && {
            internalFrontendsEach: options.internalFrontendsEach,
          }),
        }),
      ],
      ...options,
    });

  async function service(
    world: HostedWorld,
    name: string,
    over: { public?: boolean; spec?: object } = {},
  ) {
    const namespace = "services";
    await world.cluster.request("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    const annotations = { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" };
    return world.make({
      apiVersion: "v1",
      kind: "Service",
      metadata: { namespace, name, ...(!over.public && { annotations }) },
      spec: { type: "LoadBalancer", ports: [{ name: "https", port: 443 }], ...over.spec },
    } as Parameters<HostedWorld["make"]>[0]);
  }

  const addressOf = async (world: HostedWorld, { metadata }: Thing) => {
    const now = await world.get("Service", metadata.namespace, metadata.name);
    const { ingress } = (now?.status?.loadBalancer ?? {}) as { ingress?: { ip?: string }[] };
    return ingress?.[0]?.ip;
  };
  const isGone = async (world: HostedWorld, { metadata }: Thing) =>
    (await world.get("Service", metadata.namespace, metadata.name)) === undefined;
  const names = (world: HostedWorld, part: string) =>
    world.azure.ids(part).map((id) => id.slice(id.lastIndexOf("/") + 1));
  const frontends = (world: HostedWorld, id = internal) =>
    names(world, `${id}/frontendIPConfigurations/`);

  test("an internal Service gets the address of a frontend, and is gone without a trace", async () => {
    const world = await start();
    const made = await service(world, "one");
    await world.until("an address", async () => (await addressOf(world, made)) !== undefined);
    const name = `a${made.metadata.uid.replaceAll("-", "")}`.slice(0, 32);
    expect(frontends(world)).toEqual([name]);
    expect(world.azure.at(`${internal}/frontendIPConfigurations/${name}`)).toMatchObject({
      properties: { privateIPAddress: await addressOf(world, made) },
    });
    await world.remove(made);
    await world.until("gone", () => isGone(world, made));
    expect(world.azure.ids("loadBalancers")).toEqual([]);
  });

  test("a public Service gets a public address, and gives it back", async () => {
    const world = await start();
    const made = await service(world, "outside", { public: true });
    await world.until("an address", async () => (await addressOf(world, made)) !== undefined);
    const [id = ""] = world.azure.ids("publicIPAddresses");
    expect(world.azure.at(id)).toMatchObject({
      properties: { ipAddress: await addressOf(world, made) },
    });
    expect(frontends(world, `${network}/loadBalancers/kubernetes`)).toHaveLength(1);
    await world.remove(made);
    await world.until("gone", () => isGone(world, made));
    expect(
      world.azure
        .ids("/providers/Microsoft.Network/")
        .filter((each) => !each.includes("virtualnetworks")),
    ).toEqual([]);
  });

  test("many Services at once are one write for each load balancer, and at rest nothing is written", async () => {
    const world = await start();
    const made: Thing[] = [];
    for (let at = 0; at < 60; at++) made.push(await service(world, `many-${at}`));
    const addresses = async () =>
      new Set((await Promise.all(made.map((each) => addressOf(world, each)))).filter(Boolean));
    await world.until("addresses", async () => (await addresses()).size === made.length);
    const puts = world.armRequests().filter(({ method }) => method === "PUT");
    expect(puts).toHaveLength(8);
    await world.mark();
    await world.advance(10 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
    expect(world.armRequests().filter(({ method }) => method !== "GET")).toEqual([]);
    expect(world.armRequests().length).toBeLessThanOrEqual(12);
    for (const each of made) await world.remove(each);
    await world.until("gone", async () => (await world.list("Service", "services")).length === 0);
    expect(world.azure.ids("loadBalancers")).toEqual([]);
  });

  test("a load balancer that is full of other things is followed by another", async () => {
    const world = await start({ internalFrontendsEach: 1 });
    world.azure.addFrontend("not-of-a-service");
    const made = await service(world, "late");
    await world.until("an address", async () => (await addressOf(world, made)) !== undefined);
    expect(frontends(world)).toEqual(["not-of-a-service"]);
    expect(frontends(world, `${internal}-2`)).toHaveLength(1);
  });

  test("a full load balancer is followed by another", async () => {
    const world = await start({ internalFrontendsEach: 2 });
    const made: Thing[] = [];
    for (let at = 0; at < 5; at++) made.push(await service(world, `full-${at}`));
    await world.until("addresses", async () => {
      const all = await Promise.all(made.map((each) => addressOf(world, each)));
      return all.every((each) => each !== undefined);
    });
    const counts = ["", "-2", "-3"].map((end) => frontends(world, internal + end).length);
    expect(counts).toEqual([2, 2, 1]);
  });

  test("a frontend that a link service uses stays until that is gone, and others come and go meanwhile", async () => {
    const world = await start();
    const used = await service(world, "used");
    await world.until("an address", async () => (await addressOf(world, used)) !== undefined);
    const [frontend] = frontends(world);
    const { simulator } = world.azure;
    const link = `${network}/privateLinkServices/pls`;
    const nat = `${managementNetwork}/subnets/nat`;
    simulator.change(nat, {
      properties: { addressPrefix: "10.0.200.0/24", privateLinkServiceNetworkPolicies: "Disabled" },
    });
    simulator.change(link, {
      location,
      properties: {
        loadBalancerFrontendIpConfigurations: [
          { id: `${internal}/frontendIPConfigurations/${frontend}` },
        ],
        ipConfigurations: [{ name: "nat", properties: { primary: true, subnet: { id: nat } } }],
      },
    });
    await world.remove(used);
    const other = await service(world, "other");
    await world.until("an address", async () => (await addressOf(world, other)) !== undefined);
    expect(frontends(world)).toHaveLength(2);
    expect(await isGone(world, used)).toBe(false);
    simulator.drop(link);
    await world.until("gone", () => isGone(world, used));
    expect(frontends(world)).toHaveLength(1);
  });

  test("a Service that needs no load balancer any more loses its address and its frontend", async () => {
    const world = await start();
    const made = await service(world, "changing");
    await world.until("an address", async () => (await addressOf(world, made)) !== undefined);
    await world.patch(made, { spec: { type: "ClusterIP" } });
    const now = () => world.get("Service", "services", "changing");
    await world.until("let go", async () => !(await now())?.metadata.finalizers?.includes(cleanup));
    expect((await now())?.status?.loadBalancer).toEqual({});
    expect(world.azure.ids("loadBalancers")).toEqual([]);
  });

  test("other ports are served by other rules, at the same address", async () => {
    const world = await start();
    const made = await service(world, "ports");
    await world.until("an address", async () => (await addressOf(world, made)) !== undefined);
    const before = await addressOf(world, made);
    await world.patch(made, { spec: { ports: [{ name: "https", port: 8443 }] } });
    const rules = () => names(world, `${internal}/loadBalancingRules/`);
    await world.until("another rule", () => rules().some((name) => name.endsWith("-tcp-8443")));
    expect(rules()).toHaveLength(1);
    expect(await addressOf(world, made)).toBe(before);
  });

  test("what others see to is not touched", async () => {
    const world = await start();
    const spec = { loadBalancerClass: "example.com/other" };
    const made = await service(world, "another", { spec });
    const status = { loadBalancer: { ingress: [{ hostname: "lb.example.com" }] } };
    await world.patch(made, { status }, "status");
    await world.mark();
    await world.advance(6 * 60_000);
    expect(await world.kubeWrites()).toEqual([]);
    expect(world.azure.ids("loadBalancers")).toEqual([]);
  });

  test("killed when the answer to its write is lost, it ends as if it had not been", async () => {
    const world = await start();
    world.azure.simulator.addFault({
      match: { method: "PUT", path: "*/kubernetes-internal" },
      effect: { kind: "lost", when: "after" },
      count: 1,
    });
    const made = await service(world, "killed");
    await world.advance(2_000);
    await world.stop();
    expect(frontends(world)).toHaveLength(1);
    expect(await addressOf(world, made)).toBeUndefined();
    await world.start();
    await world.until("an address", async () => (await addressOf(world, made)) !== undefined);
    expect(frontends(world)).toHaveLength(1);
  });
});
