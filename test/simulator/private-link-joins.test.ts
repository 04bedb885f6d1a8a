import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { expect, test } from "vitest";
import {
  type Ask,
  codeOf,
  done,
  endpointBody,
  idsIn,
  type LinkWorld,
  linkWorld,
  openSubnet,
  service,
  serviceBody,
  sibling,
} from "./link-world.ts";
import { network, tenant } from "./small-world.ts";

const near = idsIn(sibling);
const provider = "providers/Microsoft.Network";
const zone = `${near.group}/${provider}/privateDnsZones/corp.example`;

/** Someone who may do everything with networks in the sibling's group, and nothing elsewhere. */
async function contributorWorld() {
  const world = await linkWorld();
  const { simulator, ask } = world;
  const objectId = "66666666-6666-4666-8666-666666666666";
  const role = [...simulator.roles.definitions()].find(
    (each) => each.roleName === "Network Contributor",
  );
  const properties = {
    principalId: objectId,
    principalType: "ServicePrincipal",
    roleDefinitionId: `/providers/Microsoft.Authorization/roleDefinitions/${role?.name}`,
  };
  const assignment = `${near.group}/providers/Microsoft.Authorization/roleAssignments`;
  const given = await ask("PUT", `${assignment}/77777777-7777-4777-8777-777777777777`, {
    properties,
  });
  expect(given.status).toBe(201);
  const token = simulator.directory.tokenFor({ tenant, objectId, appId: "contributor" });
  const contributor: typeof ask = (method, path, body) =>
    ask(method, path, body, { authorization: `Bearer ${token}` });
  await done(ask, "PUT", service, serviceBody({ visibility: { subscriptions: [sibling] } }));
  await done(contributor, "PUT", zone, { location: "global" });
  return { ...world, contributor };
}

/** A role with these actions in the sibling's group, given to someone who then asks. */
async function someoneWho(actions: string[], { simulator, ask }: LinkWorld): Promise<Ask> {
  const objectId = "88888888-8888-4888-8888-888888888888";
  const authorization = `${near.group}/providers/Microsoft.Authorization`;
  const roleDefinitionId = `${authorization}/roleDefinitions/99999999-9999-4999-8999-999999999999`;
  const role = await ask("PUT", roleDefinitionId, {
    properties: {
      roleName: "Some things",
      permissions: [{ actions, notActions: [] }],
      assignableScopes: [near.group],
    },
  });
  expect(role.status, role.text).toBe(201);
  const given = await ask("PUT", `${authorization}/roleAssignments/${objectId}`, {
    properties: { principalId: objectId, principalType: "ServicePrincipal", roleDefinitionId },
  });
  expect(given.status, given.text).toBe(201);
  const token = simulator.directory.tokenFor({ tenant, objectId, appId: "someone" });
  return (method, path, body) => ask(method, path, body, { authorization: `Bearer ${token}` });
}

const rows: [why: string, action: string, path: string, body: JsonObject][] = [
  [
    "an endpoint in a subnet of others",
    "virtualNetworks/subnets/join/action",
    near.endpoint("pe"),
    endpointBody(sibling, service, { manual: true, subnet: { id: openSubnet } }),
  ],
  [
    "an automatic connection to a service of others",
    "privateLinkServices/PrivateEndpointConnectionsApproval/action",
    near.endpoint("pe"),
    endpointBody(sibling, service),
  ],
  [
    "a service before a load balancer of others",
    "loadBalancers/frontendIPConfigurations/join/action",
    `${near.group}/${provider}/privateLinkServices/p`,
    serviceBody({}, [near.subnet]),
  ],
  [
    "a link to a network of others",
    "virtualNetworks/join/action",
    `${zone}/virtualNetworkLinks/l`,
    { location: "global", properties: { virtualNetwork: { id: network } } },
  ],
];

test.each(rows)("%s needs a right on it", async (_why, action, path, body) => {
  const { contributor } = await contributorWorld();
  const came = await contributor("PUT", path, body);
  expect([came.status, codeOf(came)]).toEqual([403, "LinkedAuthorizationFailed"]);
  expect(came.text).toContain(`Microsoft.Network/${action}`);
});

test("a manual connection asks for no right on the service that is visible", async () => {
  const { contributor } = await contributorWorld();
  const body = endpointBody(sibling, service, { manual: true });
  expect((await contributor("PUT", near.endpoint("pe"), body)).status).toBe(201);
});

test("who may read an endpoint sees its interface within it, and not by itself", async () => {
  const { contributor, ...world } = await contributorWorld();
  const body = endpointBody(sibling, service, { manual: true });
  await done(contributor, "PUT", near.endpoint("pe"), body);
  const reader = await someoneWho(["Microsoft.Network/privateEndpoints/read"], world);
  const seen = await reader("GET", `${near.endpoint("pe")}?$expand=networkInterfaces`);
  const { networkInterfaces } = seen.body.properties as { networkInterfaces: JsonObject[] };
  expect(networkInterfaces).toMatchObject([{ properties: { nicType: "Standard" } }]);
  expect((await reader("GET", String(networkInterfaces[0]?.id))).status).toBe(403);
});
