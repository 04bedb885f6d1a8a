import { describe, expect, test } from "vitest";
import { fakeArm, group, linkId } from "../../../../../test/azure/fake-arm.ts";
import { json } from "../../../../../test/loopback.ts";
import type { ArmClient } from "../arm.ts";
import type { ArmResource, ResourceGateway } from "../gateway.ts";
import { backendPools } from "./backend-pools.ts";
import { decision, endpointConnections } from "./endpoint-connections.ts";
import { loadBalancers } from "./load-balancers.ts";
import { networkInterfaces } from "./network-interfaces.ts";
import { privateDnsZones, privateRecordSets, virtualNetworkLinks } from "./private-dns.ts";
import { privateEndpoints } from "./private-endpoints.ts";
import { checkVisibility, privateLinkServices } from "./private-link-services.ts";
import { dnsRecordSets, dnsZones } from "./public-dns.ts";
import { resourceGroups } from "./resource-groups.ts";
import { scaleSetInstances, scaleSetInterfaces } from "./scale-set-instances.ts";
import { subnets } from "./subnets.ts";
import { virtualMachines } from "./virtual-machines.ts";
import { virtualNetworks } from "./virtual-networks.ts";

const network = `${group}/providers/Microsoft.Network`;
const scaleSet = `${group}/providers/Microsoft.Compute/virtualMachineScaleSets/ss`;

type Listing = Pick<ResourceGateway<ArmResource>, "list">;

test.each<[string, (arm: ArmClient) => Listing, string, string, string]>([
  [
    "load balancers",
    loadBalancers,
    group,
    "providers/Microsoft.Network/loadBalancers",
    "2025-05-01",
  ],
  [
    "backend pools",
    backendPools,
    `${network}/loadBalancers/lb`,
    "backendAddressPools",
    "2025-05-01",
  ],
  ["networks", virtualNetworks, group, "providers/Microsoft.Network/virtualNetworks", "2025-05-01"],
  ["subnets", subnets, `${network}/virtualNetworks/v`, "subnets", "2025-05-01"],
  [
    "link services",
    privateLinkServices,
    group,
    "providers/Microsoft.Network/privateLinkServices",
    "2025-05-01",
  ],
  ["connections", endpointConnections, linkId, "privateEndpointConnections", "2025-05-01"],
  [
    "endpoints",
    privateEndpoints,
    group,
    "providers/Microsoft.Network/privateEndpoints",
    "2025-05-01",
  ],
  [
    "interfaces",
    networkInterfaces,
    group,
    "providers/Microsoft.Network/networkInterfaces",
    "2025-05-01",
  ],
  [
    "private zones",
    privateDnsZones,
    group,
    "providers/Microsoft.Network/privateDnsZones",
    "2024-06-01",
  ],
  [
    "links of a zone",
    virtualNetworkLinks,
    `${network}/privateDnsZones/z`,
    "virtualNetworkLinks",
    "2024-06-01",
  ],
  [
    "private records of all types",
    privateRecordSets,
    `${network}/privateDnsZones/z`,
    "ALL",
    "2024-06-01",
  ],
  ["public zones", dnsZones, group, "providers/Microsoft.Network/dnsZones", "2018-05-01"],
  [
    "public records of all types",
    dnsRecordSets,
    `${network}/dnsZones/z`,
    "recordsets",
    "2018-05-01",
  ],
  [
    "virtual machines",
    virtualMachines,
    group,
    "providers/Microsoft.Compute/virtualMachines",
    "2025-04-01",
  ],
  ["instances of a scale set", scaleSetInstances, scaleSet, "virtualMachines", "2025-04-01"],
  [
    "interfaces of an instance",
    scaleSetInterfaces,
    `${scaleSet}/virtualMachines/0`,
    "networkInterfaces",
    "2018-10-01",
  ],
  ["resource groups", resourceGroups, "/subscriptions/s", "resourceGroups", "2021-04-01"],
])("%s are listed where Azure keeps them", async (_name, gateway, scope, collection, version) => {
  const { arm, requests } = await fakeArm((_request, response) =>
    json(response, 200, { value: [{ id: "/x" }] }),
  );
  expect(await gateway(arm).list(scope)).toHaveLength(1);
  expect(requests[0]?.url).toBe(`${scope}/${collection}?api-version=${version}`);
});

test("one endpoint is read with the addresses of its interfaces", async () => {
  const address = { name: "ip", properties: { privateIPAddress: "10.0.0.4" } };
  const { arm, requests } = await fakeArm((_request, response) =>
    json(response, 200, {
      properties: {
        networkInterfaces: [{ id: "/nic", properties: { ipConfigurations: [address] } }],
      },
    }),
  );
  const endpoint = await privateEndpoints(arm).get(`${network}/privateEndpoints/api`);
  expect(endpoint?.properties.networkInterfaces?.[0]?.properties?.ipConfigurations).toEqual([
    address,
  ]);
  expect(requests[0]?.url).toContain("expand=networkInterfaces");
});

test("a connection is approved at once by writing its state", async () => {
  const { arm, requests } = await fakeArm((_request, response) =>
    json(response, 200, { name: "c", properties: { provisioningState: "Succeeded" } }),
  );
  const id = `${linkId}/privateEndpointConnections/c`;
  const write = await endpointConnections(arm).put(id, decision("c", "Approved", "by Postern"));
  expect(write.state).toBe("done");
  expect(JSON.parse(requests[0]?.body ?? "")).toEqual({
    name: "c",
    properties: {
      privateLinkServiceConnectionState: {
        status: "Approved",
        description: "by Postern",
        actionsRequired: "None",
      },
    },
  });
});

describe("whether a link service can be seen", () => {
  const alias = "api.0000.westeurope.azure.privatelinkservice";

  test("is answered at once", async () => {
    const { arm, requests } = await fakeArm((_request, response) =>
      json(response, 200, { visible: true }),
    );
    expect(await checkVisibility(arm, group, "westeurope", alias)).toEqual({
      state: "done",
      resource: { visible: true },
    });
    expect(requests[0]).toMatchObject({
      method: "POST",
      url: `${network}/locations/westeurope/checkPrivateLinkServiceVisibility?api-version=2025-05-01`,
      body: JSON.stringify({ privateLinkServiceAlias: alias }),
    });
  });

  test("or when Azure has looked", async () => {
    const { arm, clock } = await fakeArm(({ method }, response) => {
      if (method === "GET") return json(response, 200, { visible: false });
      response.writeHead(202, { "azure-asyncoperation": "/subscriptions/s/operationResults/1" });
      response.end();
    });
    const asked = await checkVisibility(arm, group, "westeurope", alias);
    clock.reconcile(60_000);
    expect(asked.state === "running" && (await arm.check(asked.id))).toEqual({
      state: "done",
      result: { visible: false },
    });
  });
});
