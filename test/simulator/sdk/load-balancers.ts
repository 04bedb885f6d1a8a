import { expect, test } from "vitest";
import type { Clients } from "./clients.ts";
import { headers, inNetwork, location, names, rg, sdkWorld, soon, withNetwork } from "./clients.ts";

const subnet = { id: `${inNetwork}/virtualNetworks/v/subnets/a` };
const balancer = `${inNetwork}/loadBalancers/lb`;
const pool = { id: `${balancer}/backendAddressPools/p` };
const frontend = { id: `${balancer}/frontendIPConfigurations/f` };

/** A load balancer with one of everything that it can have. */
const balancerBody = {
  location,
  sku: { name: "Standard" },
  frontendIPConfigurations: [
    { name: "f", publicIPAddress: { id: `${inNetwork}/publicIPAddresses/ip` } },
  ],
  backendAddressPools: [{ name: "p" }],
  probes: [{ name: "alive", protocol: "Tcp", port: 6443, intervalInSeconds: 5 }],
  loadBalancingRules: [
    {
      name: "api",
      frontendIPConfiguration: frontend,
      backendAddressPool: pool,
      probe: { id: `${balancer}/probes/alive` },
      protocol: "Tcp",
      frontendPort: 443,
      backendPort: 6443,
      disableOutboundSnat: true,
    },
  ],
  inboundNatRules: [
    {
      name: "ssh",
      frontendIPConfiguration: frontend,
      protocol: "Tcp",
      frontendPort: 2222,
      backendPort: 22,
    },
  ],
  outboundRules: [
    {
      name: "out",
      frontendIPConfigurations: [frontend],
      backendAddressPool: pool,
      protocol: "All",
    },
  ],
};

async function withBalancer(clients: Clients) {
  const { network } = clients;
  await withNetwork(clients);
  const address = { location, sku: { name: "Standard" }, publicIPAllocationMethod: "Static" };
  await network.publicIPAddresses.createOrUpdate(rg, "ip", address, soon);
  return network.loadBalancers.createOrUpdate(rg, "lb", balancerBody, soon);
}

test("a load balancer is made with its parts, and each can be read", async () => {
  const { clients } = await sdkWorld();
  const { network } = clients;
  const made = await withBalancer(clients);
  expect(made).toMatchObject({
    provisioningState: "Succeeded",
    sku: { name: "Standard", tier: "Regional" },
    backendAddressPools: [
      { name: "p", loadBalancingRules: [{ id: `${balancer}/loadBalancingRules/api` }] },
    ],
  });
  expect(await network.loadBalancers.get(rg, "lb")).toEqual(made);
  expect(await network.loadBalancerFrontendIPConfigurations.get(rg, "lb", "f")).toMatchObject(
    frontend,
  );
  expect(await network.loadBalancerProbes.get(rg, "lb", "alive")).toMatchObject({ port: 6443 });
  expect(await network.loadBalancerLoadBalancingRules.get(rg, "lb", "api")).toMatchObject({
    frontendPort: 443,
    backendAddressPool: pool,
  });
  expect(await network.loadBalancerOutboundRules.get(rg, "lb", "out")).toMatchObject({
    protocol: "All",
  });
  expect(await network.inboundNatRules.get(rg, "lb", "ssh")).toMatchObject({ backendPort: 22 });
  const listed = await Promise.all([
    names(network.loadBalancerFrontendIPConfigurations.list(rg, "lb")),
    names(network.loadBalancerBackendAddressPools.list(rg, "lb")),
    names(network.loadBalancerProbes.list(rg, "lb")),
    names(network.loadBalancerLoadBalancingRules.list(rg, "lb")),
    names(network.loadBalancerOutboundRules.list(rg, "lb")),
    names(network.inboundNatRules.list(rg, "lb")),
  ]);
  expect(listed).toEqual([["f"], ["p"], ["alive"], ["api"], ["out"], ["ssh"]]);
});

test("load balancers are tagged, listed and deleted", async () => {
  const { clients, simulator } = await sdkWorld();
  const { loadBalancers } = clients.network;
  await withBalancer(clients);
  for (const name of ["lb2", "lb3"])
    await loadBalancers.createOrUpdate(rg, name, { location, sku: { name: "Standard" } }, soon);
  const tagged = await loadBalancers.updateTags(rg, "lb", { tags: { a: "b" } });
  expect(tagged.tags).toEqual({ a: "b" });
  await loadBalancers.delete(rg, "lb2", soon);
  expect(await names(loadBalancers.list(rg))).toEqual(["lb", "lb3"]);
  expect(await names(loadBalancers.listAll())).toEqual(["lb", "lb3"]);
  await loadBalancers.delete(rg, "lb", soon);
  expect(simulator.store.get(pool.id)).toBeUndefined();
});

test("an interface in a pool shows on the interface, the pool and the load balancer", async () => {
  const { clients } = await sdkWorld();
  const { network } = clients;
  await withBalancer(clients);
  const configuration = { name: "one", subnet, loadBalancerBackendAddressPools: [pool] };
  await network.networkInterfaces.createOrUpdate(
    rg,
    "n",
    { location, ipConfigurations: [configuration] },
    soon,
  );
  const held = await network.loadBalancerBackendAddressPools.get(rg, "lb", "p");
  expect(held.backendIPConfigurations).toMatchObject([
    { id: `${inNetwork}/networkInterfaces/n/ipConfigurations/one` },
  ]);
  expect(await names(network.networkInterfaceLoadBalancers.list(rg, "n"))).toEqual(["lb"]);
  expect(await names(network.loadBalancerNetworkInterfaces.list(rg, "lb"))).toEqual(["n"]);
});

test("a pool is written by itself, and an old etag is refused after any write to its balancer", async () => {
  const { clients } = await sdkWorld();
  const { loadBalancers, loadBalancerBackendAddressPools: pools } = clients.network;
  await withBalancer(clients);
  const virtualNetwork = { id: `${inNetwork}/virtualNetworks/v` };
  const member = (ipAddress: string) => ({ name: ipAddress, ipAddress, virtualNetwork });
  const write = (addresses: string[], options = {}) =>
    pools.createOrUpdate(
      rg,
      "lb",
      "q",
      { loadBalancerBackendAddresses: addresses.map(member) },
      { ...soon, ...options },
    );
  const made = await write(["10.0.0.10"]);
  expect(made.loadBalancerBackendAddresses).toMatchObject([{ ipAddress: "10.0.0.10" }]);
  await loadBalancers.updateTags(rg, "lb", { tags: { a: "b" } });
  const old = headers({ "If-Match": made.etag ?? "" });
  await expect(write(["10.0.0.11"], old)).rejects.toMatchObject({
    statusCode: 412,
    code: "PreconditionFailed",
  });
  const fresh = await pools.get(rg, "lb", "q");
  const changed = await write(["10.0.0.11"], headers({ "If-Match": fresh.etag ?? "" }));
  expect(changed.loadBalancerBackendAddresses).toMatchObject([{ ipAddress: "10.0.0.11" }]);
  await pools.delete(rg, "lb", "q", soon);
  expect(await names(pools.list(rg, "lb"))).toEqual(["p"]);
});

test("an inbound NAT rule is written by itself, and leaves the other rules as they are", async () => {
  const { clients } = await sdkWorld();
  const { inboundNatRules } = clients.network;
  await withBalancer(clients);
  const rule = (frontendPort: number) => ({
    frontendIPConfiguration: frontend,
    protocol: "Tcp",
    frontendPort,
    backendPort: 22,
  });
  await inboundNatRules.createOrUpdate(rg, "lb", "ssh2", rule(2223), soon);
  const changed = await inboundNatRules.createOrUpdate(rg, "lb", "ssh2", rule(2224), soon);
  expect(changed).toMatchObject({ frontendPort: 2224, provisioningState: "Succeeded" });
  expect(await names(inboundNatRules.list(rg, "lb"))).toEqual(["ssh", "ssh2"]);
  await inboundNatRules.delete(rg, "lb", "ssh2", soon);
  expect(await names(inboundNatRules.list(rg, "lb"))).toEqual(["ssh"]);
});

test("a Gateway load balancer has tunnel interfaces, and a public frontend is chained to it", async () => {
  const { clients } = await sdkWorld();
  const { loadBalancers } = clients.network;
  await withBalancer(clients);
  const gateway = await loadBalancers.createOrUpdate(
    rg,
    "gw",
    {
      location,
      sku: { name: "Gateway" },
      frontendIPConfigurations: [{ name: "f", subnet }],
      backendAddressPools: [
        {
          name: "p",
          tunnelInterfaces: [
            { port: 10800, identifier: 800, protocol: "VXLAN", type: "Internal" },
            { port: 10801, identifier: 801, protocol: "VXLAN", type: "External" },
          ],
        },
      ],
    },
    soon,
  );
  expect(gateway.backendAddressPools?.[0]?.tunnelInterfaces).toHaveLength(2);
  const gatewayLoadBalancer = { id: gateway.frontendIPConfigurations?.[0]?.id ?? "" };
  const [first] = balancerBody.frontendIPConfigurations;
  const chained = await loadBalancers.createOrUpdate(
    rg,
    "lb",
    { ...balancerBody, frontendIPConfigurations: [{ ...first, name: "f", gatewayLoadBalancer }] },
    soon,
  );
  expect(chained.frontendIPConfigurations?.[0]).toMatchObject({ gatewayLoadBalancer });
});
