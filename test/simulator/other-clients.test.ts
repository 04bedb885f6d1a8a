import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { describe, expect, test } from "vitest";
import { codeOf, done, idsIn, linkWorld, sibling } from "./link-world.ts";
import { group, owner, smallWorld, subscription, tenant } from "./small-world.ts";

const here = `/subscriptions/${subscription}`;
const provider = `${group}/providers/Microsoft.Network`;
const location = "westeurope";
const near = idsIn(sibling);

async function world() {
  const small = await smallWorld();
  await small.ask("PUT", group, { location });
  return small;
}

describe("what stands below a subscription or a group", () => {
  test.each([
    `${here}/tagNames`,
    `${here}/wibble`,
    `${here}/tagNames/a`,
    `${group}/wibble`,
    `${group}/wibble/a`,
    `${here}/providers/Microsoft.Resources/deployments`,
    `${here}/providers/Microsoft.Web`,
    `/tenants/${tenant}`,
  ])("is refused by its name where it is not done: %s", async (path) => {
    const { ask } = await world();
    const came = await ask("GET", path);
    expect([came.status, codeOf(came)]).toEqual([501, "NotSupportedBySimulator"]);
  });

  test("shows people only what they may read", async () => {
    const { ask, simulator } = await world();
    await ask("PUT", `${provider}/dnsZones/corp.example`, { location: "global" });
    const stranger = { ...owner, objectId: "stranger-object", appId: "stranger-app" };
    const token = simulator.directory.tokenFor(stranger);
    const headers = { authorization: `Bearer ${token}` };
    const came = await ask("GET", `${here}/resources`, undefined, headers);
    expect(came.body.value ?? []).toEqual([]);
  });
});

test("a provider says which api-version there is of each of its types", async () => {
  const { ask } = await world();
  const { resourceTypes } = (await ask("GET", `${here}/providers/Microsoft.Network`)).body;
  expect(resourceTypes).toContainEqual(
    expect.objectContaining({ resourceType: "privateDnsZones", apiVersions: ["2024-06-01"] }),
  );
});

const template = (resources: JsonObject[], more: JsonObject = {}) => ({
  properties: {
    mode: "Incremental",
    template: { contentVersion: "1.0.0.0", resources, ...more },
    ...(more.given !== undefined && { parameters: more.given }),
  },
});

describe("a deployment", () => {
  const deployment = `${group}/providers/Microsoft.Resources/deployments/d`;
  const address = {
    type: "Microsoft.Network/publicIPAddresses",
    name: "[concat(parameters('name'), '-ip')]",
    apiVersion: "2022-11-01",
    location: "[parameters('location')]",
    sku: { name: "Standard" },
    properties: { publicIPAllocationMethod: "Static" },
  };
  const balancer = {
    type: "Microsoft.Network/loadBalancers",
    name: "[variables('balancer')]",
    apiVersion: "2023-04-01",
    location,
    sku: { name: "Standard" },
    dependsOn: ["[concat('Microsoft.Network/publicIPAddresses/', parameters('name'), '-ip')]"],
    properties: {
      frontendIPConfigurations: [
        {
          name: "front",
          properties: {
            publicIPAddress: {
              id: "[resourceId('Microsoft.Network/publicIPAddresses', concat(parameters('name'), '-ip'))]",
            },
          },
        },
      ],
    },
  };
  const body = template([balancer, address], {
    parameters: {
      name: { type: "string" },
      location: { type: "string", defaultValue: "[resourceGroup().location]" },
      secret: { type: "securestring", defaultValue: "x" },
    },
    variables: { balancer: "[toLower(concat(parameters('name'), '-LB'))]" },
    outputs: {
      made: { type: "object", value: "[reference('web-lb')]" },
      secret: { type: "securestring", value: "[parameters('secret')]" },
    },
    given: { name: { value: "web" } },
  });

  test("writes the resources of its template in their order, and shows its outputs", async () => {
    const { ask } = await world();
    const taken = await ask("PUT", deployment, body);
    expect([taken.status, (taken.body.properties as JsonObject).provisioningState]).toEqual([
      201,
      "Accepted",
    ]);
    const poll = String(taken.headers.get("azure-asyncoperation"));
    expect(poll).toContain("/deployments/d/operationStatuses/");
    expect((await ask("GET", poll)).body).toEqual({ status: "Succeeded" });
    const shown = (await ask("GET", deployment)).body.properties as JsonObject;
    expect(shown).toMatchObject({
      provisioningState: "Succeeded",
      parameters: { name: { type: "String", value: "web" }, secret: { type: "SecureString" } },
      outputs: {
        made: { type: "Object", value: { frontendIPConfigurations: [{ name: "front" }] } },
        secret: { type: "SecureString" },
      },
      outputResources: [
        { id: `${provider}/loadBalancers/web-lb` },
        { id: `${provider}/publicIPAddresses/web-ip` },
      ],
    });
    expect(JSON.stringify(shown)).not.toContain('"x"');
    expect((await ask("GET", `${provider}/loadBalancers/web-lb`)).status).toBe(200);
    const listed = await ask("GET", `${group}/providers/Microsoft.Resources/deployments`);
    expect((listed.body.value as JsonObject[]).map(({ name }) => name)).toEqual(["d"]);
    expect((await ask("POST", `${deployment}2/validate`, body)).body.properties).toMatchObject({
      provisioningState: "Succeeded",
    });
    expect((await done(ask, "DELETE", deployment)).body).toEqual({ status: "Succeeded" });
    expect((await ask("GET", `${provider}/loadBalancers/web-lb`)).status).toBe(200);
  });

  test("fails where Azure refuses one of its resources, and says which error that was", async () => {
    const { ask } = await world();
    const properties = { publicIPAllocationMethod: "Dynamic" };
    const wrong = { ...address, name: "ip", location, properties };
    const taken = await ask("PUT", deployment, template([wrong]));
    const ended = await ask("GET", String(taken.headers.get("azure-asyncoperation")));
    expect(ended.body).toMatchObject({
      status: "Failed",
      error: {
        code: "DeploymentFailed",
        details: [{ code: "StandardSkuPublicIPAddressMustBeStatic" }],
      },
    });
    expect((await ask("GET", deployment)).body.properties).toMatchObject({
      provisioningState: "Failed",
      error: { code: "DeploymentFailed" },
    });
  });

  test.each([
    ["an unknown function", template([{ ...address, name: "[newGuid()]" }]), 501],
    ["a loop", template([{ ...address, name: "a", copy: { count: 2, name: "c" } }]), 501],
    ["an expression that cannot be read", template([{ ...address, name: "[concat(]" }]), 400],
    ["a missing parameter", template([address], { parameters: { name: { type: "string" } } }), 400],
    [
      "a circle",
      template([
        { ...address, name: "a", dependsOn: ["b"] },
        { ...address, name: "b", dependsOn: ["a"] },
      ]),
      400,
    ],
    [
      "deep nesting",
      template([{ ...address, name: `[${"concat(".repeat(60)}'a'${")".repeat(60)}]` }]),
      400,
    ],
    ["no template", { properties: { mode: "Incremental" } }, 400],
  ])("is refused with %s", async (_why, given, status) => {
    const { ask, simulator } = await world();
    const size = simulator.store.size;
    expect((await ask("PUT", deployment, given)).status).toBe(status);
    expect(simulator.store.size).toBe(size);
  });
});

describe("a storage account", () => {
  const account = `${group}/providers/Microsoft.Storage/storageAccounts/acc1`;
  const accounts = account.slice(0, account.lastIndexOf("/"));

  test("is there, is listed, says what endpoints can lead to, and goes", async () => {
    const { ask } = await world();
    expect((await ask("PUT", account, { location })).body).toMatchObject({
      kind: "StorageV2",
      sku: { name: "Standard_LRS", tier: "Standard" },
    });
    for (const path of [accounts, `${here}/providers/Microsoft.Storage/storageAccounts`])
      expect((await ask("GET", path)).body.value).toHaveLength(1);
    const { value } = (await ask("GET", `${account}/privateLinkResources`)).body;
    expect(value).toContainEqual(expect.objectContaining({ name: "blob" }));
    expect((await ask("PUT", `${accounts}/Not-Valid`, { location })).status).toBe(400);
    expect((await ask("DELETE", account)).status).toBe(200);
    expect((await ask("GET", account)).status).toBe(404);
  });

  test("is connected to an endpoint by one of its parts, whose name it shows", async () => {
    const { ask } = await linkWorld();
    const account = `${near.group}/providers/Microsoft.Storage/storageAccounts/acc1`;
    await ask("PUT", account, { location });
    const body = (groupIds: string[]) => ({
      location,
      properties: {
        subnet: { id: near.subnet },
        privateLinkServiceConnections: [
          { name: "c", properties: { privateLinkServiceId: account, groupIds } },
        ],
      },
    });
    expect((await ask("PUT", near.endpoint("pe"), body([]))).status).toBe(400);
    const endpoint = await done(ask, "PUT", near.endpoint("pe"), body(["blob"]));
    expect(endpoint.body.properties).toMatchObject({
      customDnsConfigs: [{ fqdn: "acc1.blob.core.windows.net" }],
    });
    expect((await ask("GET", account)).body.properties).toMatchObject({
      privateEndpointConnections: [
        { properties: { privateLinkServiceConnectionState: { status: "Approved" } } },
      ],
    });
    await done(ask, "DELETE", near.endpoint("pe"));
    expect((await ask("GET", account)).body.properties).toMatchObject({
      privateEndpointConnections: [],
    });
  });
});

test.each([
  ["DS", "DSRecords", { keyTag: 1, algorithm: 13, digest: { algorithmType: 2, value: "AB" } }],
  [
    "NAPTR",
    "NAPTRRecords",
    { order: 1, preference: 2, flags: "U", services: "s", regexp: "", replacement: "." },
  ],
  ["TLSA", "TLSARecords", { usage: 3, selector: 1, matchingType: 1, certAssociationData: "ab" }],
])("a public zone takes %s records", async (type, field, record) => {
  const { ask } = await world();
  const zone = `${provider}/dnsZones/corp.example`;
  await ask("PUT", zone, { location: "global" });
  const set = `${zone}/${type}/x`;
  const put = await ask("PUT", set, { properties: { TTL: 60, [field]: [record] } });
  expect([put.status, put.headers.get("etag")]).toEqual([201, put.body.etag]);
  await ask("PATCH", set, { properties: { TTL: 30 } });
  expect((await ask("GET", set)).body.properties).toMatchObject({ TTL: 30, [field]: [record] });
  expect((await ask("GET", `${zone}/${type}`)).body.value).toHaveLength(1);
  expect((await ask("DELETE", set)).status).toBe(200);
});
