import { randomUUID } from "node:crypto";
import { ClientSecretCredential } from "@azure/identity";
import { expect, test } from "vitest";
import { owner, subscription, tenant } from "../small-world.ts";
import { all, Clients, inGroup, location, names, rg, sdkWorld, soon, tokenOf } from "./clients.ts";

const here = `/subscriptions/${subscription}`;
const group = `${here}/resourceGroups/${rg}`;
const reader = "acdd72a7-3385-48ef-bd42-f606fba81ae7";
const roles = `${here}/providers/Microsoft.Authorization/roleDefinitions`;

test("resource groups are made, tagged, listed and deleted with all that is in them", async () => {
  const { clients, simulator } = await sdkWorld();
  const { resourceGroups } = clients.resources;
  for (const name of ["rg2", "rg3"]) await resourceGroups.createOrUpdate(name, { location });
  expect(await resourceGroups.get("rg2")).toMatchObject({
    id: `${here}/resourceGroups/rg2`,
    properties: { provisioningState: "Succeeded" },
  });
  expect(await resourceGroups.update("rg2", { tags: { a: "b" } })).toMatchObject({
    tags: { a: "b" },
  });
  expect(await names(resourceGroups.list())).toEqual([rg, "rg2", "rg3"]);
  expect(await resourceGroups.checkExistence("rg2")).toMatchObject({ body: true });
  const addressSpace = { addressPrefixes: ["10.0.0.0/16"] };
  await clients.network.virtualNetworks.createOrUpdate(
    "rg2",
    "v",
    { location, addressSpace },
    soon,
  );
  await resourceGroups.beginDeleteAndWait("rg2", soon);
  expect(await resourceGroups.checkExistence("rg2")).toMatchObject({ body: false });
  expect([...simulator.store.all()].map(({ id }) => id)).toEqual([
    `${here}/resourceGroups/rg`,
    `${here}/resourceGroups/rg3`,
  ]);
  await expect(resourceGroups.get("rg2")).rejects.toMatchObject({
    name: "RestError",
    statusCode: 404,
    code: "ResourceGroupNotFound",
  });
});

test("people see their subscriptions and their tenant", async () => {
  const { clients, simulator } = await sdkWorld();
  const { subscriptions, tenants } = clients.subscriptions;
  expect(await all(subscriptions.list())).toMatchObject([
    { subscriptionId: subscription, displayName: "Payments", state: "Enabled" },
  ]);
  expect(await subscriptions.get(subscription)).toMatchObject({ tenantId: tenant });
  expect(await all(tenants.list())).toMatchObject([{ tenantId: tenant }]);
  const nobody = { ...owner, objectId: randomUUID() };
  const theirs = new Clients(simulator, tokenOf(simulator, nobody));
  expect(await all(theirs.subscriptions.subscriptions.list())).toEqual([]);
});

test("a role is what lets someone in, at its scope and no other", async () => {
  const { clients, simulator } = await sdkWorld();
  const { roleAssignments } = clients.authorization;
  const application = simulator.directory.addApplication({ tenant });
  const theirs = new Clients(simulator, tokenOf(simulator, application)).resources.resourceGroups;
  await clients.resources.resourceGroups.createOrUpdate("rg2", { location });
  const refused = { name: "RestError", statusCode: 403, code: "AuthorizationFailed" };
  await expect(theirs.get(rg)).rejects.toMatchObject(refused);
  const name = randomUUID();
  const made = await roleAssignments.create(group, name, {
    roleDefinitionId: `${roles}/${reader}`,
    principalId: application.objectId,
    principalType: "ServicePrincipal",
  });
  expect(made).toMatchObject({ scope: group, principalId: application.objectId });
  expect((await theirs.get(rg)).name).toBe(rg);
  await expect(theirs.get("rg2")).rejects.toMatchObject(refused);
  await expect(theirs.update(rg, { tags: {} })).rejects.toMatchObject(refused);
  expect(await roleAssignments.get(group, name)).toMatchObject({ name });
  expect(await roleAssignments.getById(made.id ?? "")).toMatchObject({ name });
  const mine = { filter: `principalId eq '${application.objectId}'` };
  expect(await names(roleAssignments.listForSubscription(mine))).toEqual([name]);
  expect(await names(roleAssignments.listForResourceGroup(rg, mine))).toEqual([name]);
  expect(await names(roleAssignments.listForScope(group, mine))).toEqual([name]);
  await roleAssignments.delete(group, name);
  await expect(theirs.get(rg)).rejects.toMatchObject(refused);
});

test("roles of one's own are made, changed, listed and deleted", async () => {
  const { clients } = await sdkWorld();
  const { roleDefinitions } = clients.authorization;
  const name = randomUUID();
  const body = (actions: string[]) => ({
    roleName: "Link approver",
    description: "Decides on connections",
    roleType: "CustomRole",
    permissions: [{ actions }],
    assignableScopes: [here],
  });
  const made = await roleDefinitions.createOrUpdate(here, name, body(["*/read"]));
  expect(made).toMatchObject({ name, roleName: "Link approver", roleType: "CustomRole" });
  await roleDefinitions.createOrUpdate(here, name, body(["Microsoft.Network/*"]));
  expect(await roleDefinitions.get(here, name)).toMatchObject({
    permissions: [{ actions: ["Microsoft.Network/*"] }],
  });
  const custom = { filter: "type eq 'CustomRole'" };
  expect(await names(roleDefinitions.list(here, custom))).toEqual([name]);
  const listed = await all(roleDefinitions.list(here));
  expect(listed.map(({ roleName }) => roleName)).toContain("Network Contributor");
  expect(await roleDefinitions.getById(`${roles}/${reader}`)).toMatchObject({ roleName: "Reader" });
  await roleDefinitions.delete(here, name);
  await expect(roleDefinitions.get(here, name)).rejects.toMatchObject({
    statusCode: 404,
    code: "RoleDefinitionDoesNotExist",
  });
});

test("someone asks what they may do", async () => {
  const { clients } = await sdkWorld();
  const { permissions } = clients.authorization;
  expect(await all(permissions.listForResourceGroup(rg))).toMatchObject([{ actions: ["*"] }]);
});

test("managed identities are made, tagged, listed and deleted", async () => {
  const { clients, simulator } = await sdkWorld();
  const { userAssignedIdentities } = clients.identities;
  for (const name of ["id1", "id2", "id3"])
    await userAssignedIdentities.createOrUpdate(rg, name, { location });
  const made = await userAssignedIdentities.get(rg, "id1");
  expect(made).toMatchObject({
    id: `${inGroup}/Microsoft.ManagedIdentity/userAssignedIdentities/id1`,
    tenantId: tenant,
  });
  expect(simulator.directory.find(made.principalId ?? "")?.appId).toBe(made.clientId);
  const tagged = await userAssignedIdentities.update(rg, "id1", { tags: { a: "b" } });
  expect(tagged).toMatchObject({ tags: { a: "b" }, principalId: made.principalId });
  await userAssignedIdentities.delete(rg, "id1");
  expect(simulator.directory.find(made.principalId ?? "")).toBeUndefined();
  expect(await names(userAssignedIdentities.listByResourceGroup(rg))).toEqual(["id2", "id3"]);
  expect(await names(userAssignedIdentities.listBySubscription())).toEqual(["id2", "id3"]);
});

test("federated credentials of an identity are made, changed, listed and deleted", async () => {
  const { clients } = await sdkWorld();
  const { userAssignedIdentities, federatedIdentityCredentials: credentials } = clients.identities;
  await userAssignedIdentities.createOrUpdate(rg, "identity", { location });
  const body = (subject: string) => ({
    issuer: "https://issuer.example.com",
    subject,
    audiences: ["api://AzureADTokenExchange"],
  });
  for (const name of ["one", "two", "three"])
    await credentials.createOrUpdate(rg, "identity", name, body(`system:serviceaccount:a:${name}`));
  const changed = body("system:serviceaccount:b:one");
  await credentials.createOrUpdate(rg, "identity", "one", changed);
  expect(await credentials.get(rg, "identity", "one")).toMatchObject(changed);
  await credentials.delete(rg, "identity", "two");
  expect((await names(credentials.list(rg, "identity"))).sort()).toEqual(["one", "three"]);
});

test("a client signs in with its secret and does what its role lets it", async () => {
  const { clients, simulator } = await sdkWorld();
  const secret = { value: "a secret for this test" };
  const application = simulator.directory.addApplication({ tenant, secrets: [secret] });
  await clients.authorization.roleAssignments.create(group, randomUUID(), {
    roleDefinitionId: `${roles}/${reader}`,
    principalId: application.objectId,
  });
  const credential = new ClientSecretCredential(tenant, application.appId, secret.value, {
    authorityHost: simulator.httpsUrl ?? "",
    disableInstanceDiscovery: true,
    tlsOptions: { ca: simulator.ca ?? "" },
  });
  const theirs = new Clients(simulator, credential);
  expect((await theirs.resources.resourceGroups.get(rg)).name).toBe(rg);
  const addressSpace = { addressPrefixes: ["10.0.0.0/16"] };
  await expect(
    theirs.network.virtualNetworks.createOrUpdate(rg, "v", { location, addressSpace }, soon),
  ).rejects.toMatchObject({
    name: "RestError",
    statusCode: 403,
    code: "AuthorizationFailed",
    message: expect.stringContaining(
      `'${application.appId}' with object id '${application.objectId}' does not have authorization to perform action 'Microsoft.Network/virtualNetworks/write'`,
    ),
  });
  expect(await names(clients.network.virtualNetworks.list(rg))).toEqual([]);
});
