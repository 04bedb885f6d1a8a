import { ManualClock } from "@postern/azure-simulator/control/manual-clock.ts";
import { startImds } from "@postern/azure-simulator/imds/imds.ts";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { expect, onTestFinished, test } from "vitest";
import { group, identityWorld, type Parsed, subscription, tenant } from "./identity-world.ts";

const machine = `${group}/providers/Microsoft.Compute/virtualMachines/vm`;
const nic = `${group}/providers/Microsoft.Network/networkInterfaces/nic1`;
const network = `${group}/providers/Microsoft.Network/virtualNetworks/v`;
const balancer = `${group}/providers/Microsoft.Network/loadBalancers/lb`;
const identity = `${group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/agent`;
const management = "resource=https://management.azure.com/";
const fixed = { privateIPAllocationMethod: "Static" };

test("the instance document tells the machine and its addresses, every value a text", async () => {
  const { get } = await world();
  const { status, body } = await get("/metadata/instance?api-version=2023-07-01");
  expect(status).toBe(200);
  expect(body.compute).toMatchObject({
    azEnvironment: "AzurePublicCloud",
    location: "eastus",
    name: "vm",
    osType: "Linux",
    resourceGroupName: "rg",
    resourceId: machine,
    subscriptionId: subscription,
    tags: "role:gateway;tier:1",
    tagsList: [
      { name: "role", value: "gateway" },
      { name: "tier", value: "1" },
    ],
    vmId: "02aab8a4-74ef-476e-8182-f6d2ba4166a6",
    vmScaleSetName: "",
    virtualMachineScaleSet: { id: "" },
    vmSize: "Standard_D2s_v3",
    zone: "2",
    storageProfile: { osDisk: { diskSizeGB: "30", name: "disk1" } },
  });
  expect(body.network).toEqual({
    interface: [
      {
        ipv4: {
          ipAddress: [{ privateIpAddress: "10.0.0.4", publicIpAddress: "" }],
          subnet: [{ address: "10.0.0.0", prefix: "24" }],
        },
        ipv6: { ipAddress: [] },
        macAddress: "000D3AF806EC",
      },
    ],
  });
  expect(leaves(body).every((leaf) => typeof leaf === "string")).toBe(true);
});

test("older versions tell less", async () => {
  const { get } = await world();
  const { body } = await get("/metadata/instance/compute?api-version=2017-04-02");
  expect(body.vmId).toBeDefined();
  expect(body).not.toHaveProperty("resourceId");
});

test("a path goes down the document, and a leaf is shown as text only", async () => {
  const { get } = await world();
  const at = (path: string, more = "") =>
    get(`/metadata/instance${path}?api-version=2021-02-01${more}`);
  expect((await at("/network/interface/0/ipv4/ipAddress/0")).body).toEqual({
    privateIpAddress: "10.0.0.4",
    publicIpAddress: "",
  });
  expect(await at("/compute/name", "&format=text")).toMatchObject({ status: 200, text: "vm" });
  expect((await at("/compute/name")).status).toBe(400);
  expect((await at("/compute/name", "&format=xml")).status).toBe(400);
  expect((await at("", "&format=text")).text).toBe("compute/\nnetwork/");
  expect((await at("/network/interface", "&format=text")).text).toBe("0/");
});

test("what is not there is 404, by any path", async () => {
  const { get } = await world();
  for (const path of [
    "/metadata/instance/compute/nothing",
    "/metadata/instance/network/interface/7",
    "/metadata/nothing",
    "/elsewhere",
  ])
    expect([path, (await get(`${path}?api-version=2021-02-01`)).status]).toEqual([path, 404]);
});

test("the header rules hold", async () => {
  const { get } = await world();
  const path = "/metadata/instance?api-version=2021-02-01";
  expect(await get(path, { headers: {} })).toMatchObject({
    status: 400,
    body: { error: "Bad request. Required metadata header not specified" },
  });
  expect((await get(path, { headers: { metadata: "false" } })).status).toBe(400);
  expect((await get(path, { headers: { Metadata: "True" } })).status).toBe(200);
  const forwarded = { metadata: "true", "x-forwarded-for": "10.0.0.1" };
  expect((await get(path, { headers: forwarded })).status).toBe(400);
  expect((await get("/metadata/versions", { headers: {} })).status).toBe(400);
});

test("a version must be given, known and alone; only the list of versions needs none", async () => {
  const { get } = await world();
  const refused = {
    status: 400,
    body: {
      error:
        "Bad request. api-version is invalid or was not specified in the request. For more information refer to aka.ms/azureimds",
      "newest-versions": ["2025-04-07", "2024-07-17", "2024-03-15"],
    },
  };
  expect(await get("/metadata/instance")).toMatchObject(refused);
  expect(await get("/metadata/instance?api-version=2020-13-01")).toMatchObject(refused);
  const twice = "/metadata/instance?api-version=2021-02-01&API-version=2021-02-01";
  expect((await get(twice)).status).toBe(400);
  expect((await get("/metadata/versions")).body.apiVersions).toContain("2021-02-01");
});

test("methods other than those of the service are refused", async () => {
  const { get } = await world();
  const path = "/metadata/instance?api-version=2021-02-01";
  for (const method of ["POST", "PUT", "DELETE"])
    expect((await get(path, { method })).status).toBe(405);
});

test("more than five requests in a second are too many, and twenty for tokens; a second later there are more", async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const { get } = await world({ clock, still: true });
  const times = async (n: number, path: string) => {
    const found: number[] = [];
    for (let i = 0; i < n; i++) found.push((await get(path)).status);
    return found;
  };
  const instance = "/metadata/instance?api-version=2021-02-01";
  expect(await times(6, instance)).toEqual([200, 200, 200, 200, 200, 429]);
  const token = `/metadata/identity/oauth2/token?api-version=2018-02-01&${management}`;
  expect((await times(21, token)).filter((status) => status === 200)).toHaveLength(20);
  clock.moveTo(clock.now() + 1000);
  expect(await times(6, instance)).toEqual([200, 200, 200, 200, 200, 429]);
});

test("a token is of the machine's own identity unless another of its own is named", async () => {
  const { get, own, assigned, simulator } = await world();
  const token = (more: string, slash = "") =>
    get(`/metadata/identity/oauth2/token${slash}?api-version=2018-02-01&${management}${more}`);
  const who = async (more: string, slash?: string) => {
    const { body } = await token(more, slash);
    return simulator.directory.authenticate(`Bearer ${body.access_token}`).objectId;
  };
  const got = await token("");
  expect(got.body).toMatchObject({
    client_id: own.appId,
    resource: "https://management.azure.com/",
    token_type: "Bearer",
    expires_in: "86399",
    expires_on: expect.stringMatching(/^\d+$/),
  });
  expect(await who("")).toBe(own.objectId);
  expect(await who("", "/")).toBe(own.objectId);
  expect(await who(`&client_id=${assigned.clientId}`)).toBe(assigned.principalId);
  expect(await who(`&object_id=${assigned.principalId}`)).toBe(assigned.principalId);
  expect(await who(`&msi_res_id=${identity.toUpperCase()}`)).toBe(assigned.principalId);
  const refused = (description: string) => ({
    status: 400,
    body: { error: "invalid_request", error_description: description },
  });
  expect(await token(`&client_id=${subscription}`)).toMatchObject(refused("Identity not found"));
  const unknown = await get(
    "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https://nothing.example",
  );
  expect(unknown.body).toMatchObject({
    error: "invalid_resource",
    error_description: expect.stringContaining("AADSTS500011"),
  });
  const bare = await get("/metadata/identity/oauth2/token?api-version=2018-02-01");
  expect(bare).toMatchObject(refused("Required audience parameter not specified"));
  const path = `/metadata/identity/oauth2/token?api-version=2018-02-01&${management}`;
  const headless = await get(path, { headers: {} });
  expect(headless).toMatchObject(refused("Required metadata header not specified"));
});

test("a machine with several assigned identities must say which, and one without any is told so", async () => {
  const { get, ask, change } = await world();
  await ask("PUT", `${identity}2`, { location: "eastus" });
  const path = `/metadata/identity/oauth2/token?api-version=2018-02-01&${management}`;
  change({
    type: "UserAssigned",
    userAssignedIdentities: { [identity]: {}, [`${identity}2`]: {} },
  });
  expect((await get(path)).body.error_description).toContain(
    "Multiple user assigned identities exist",
  );
  change({ type: "UserAssigned", userAssignedIdentities: { [identity]: {} } });
  expect((await get(path)).status).toBe(200);
  await ask("DELETE", identity);
  expect((await get(path)).body.error_description).toBe("Identity not found");
});

test("an event is reported with its notice, begins when it is agreed to or when its time comes, and ends", async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const { get, imds } = await world({ clock, still: true });
  const path = "/metadata/scheduledevents?api-version=2020-07-01";
  const agree = (body: unknown) => get(path, { method: "POST", body: JSON.stringify(body) });
  const empty = (await get(path)).body;
  expect(empty).toEqual({ DocumentIncarnation: 1, Events: [] });
  const first = imds.schedule({ type: "Terminate" });
  const told = (await get(path)).body;
  expect(told).toEqual({
    DocumentIncarnation: 2,
    Events: [
      {
        EventId: first,
        EventStatus: "Scheduled",
        EventType: "Terminate",
        ResourceType: "VirtualMachine",
        Resources: ["vm"],
        NotBefore: "Thu, 01 Jan 2026 00:05:00 GMT",
        Description: "",
        EventSource: "Platform",
        DurationInSeconds: -1,
      },
    ],
  });
  clock.moveTo(clock.now() + 1000);
  expect((await agree({ StartRequests: [{ EventId: "nothing" }] })).status).toBe(400);
  expect((await agree("nonsense")).status).toBe(400);
  expect((await agree({ StartRequests: [{ EventId: first }] })).status).toBe(200);
  expect((await agree({ StartRequests: [{ EventId: first }] })).status).toBe(200);
  expect((await get(path)).body).toMatchObject({
    DocumentIncarnation: 3,
    Events: [{ EventStatus: "Started", NotBefore: "" }],
  });
  imds.events.end(first);
  const second = imds.schedule({ type: "Preempt" });
  expect(imds.events.started(second)).toBe(false);
  clock.moveTo(clock.now() + 30_000);
  expect(imds.events.started(second)).toBe(true);
  expect((await get("/metadata/scheduledevents?api-version=2021-02-01")).status).toBe(400);
});

test("the machines of a scale set are told of one another's events, by their names", async () => {
  const { simulator, get } = await world();
  const scaleSet = `${group}/providers/Microsoft.Compute/virtualMachineScaleSets/ss`;
  keep(
    simulator,
    scaleSet,
    "Microsoft.Compute/virtualMachineScaleSets",
    { location: "eastus" },
    {},
  );
  const [one, two] = await Promise.all(
    [0, 1].map(async (n) => {
      const id = `${scaleSet}/virtualMachines/${n}`;
      const type = "Microsoft.Compute/virtualMachineScaleSets/virtualMachines";
      keep(simulator, id, type, { location: "eastus" }, { vmId: `id-${n}` }, `ss_${n}`);
      const imds = await startImds(simulator, id);
      onTestFinished(() => imds.close());
      return imds;
    }),
  );
  one?.schedule({ type: "Terminate" });
  const seen = await get("/metadata/scheduledevents?api-version=2020-07-01", { at: two?.url });
  expect(seen.body.Events).toMatchObject([{ Resources: ["ss_0"] }]);
  const compute = await get("/metadata/instance/compute?api-version=2021-12-13", { at: two?.url });
  expect(compute.body).toMatchObject({ name: "ss_1", vmScaleSetName: "ss", vmId: "id-1" });
});

test("the load balancer in front of a machine is reported, and a machine behind none has no such data", async () => {
  const { get, ask } = await world();
  const path = "/metadata/loadbalancer?api-version=2020-10-01";
  expect((await get(path)).body.error).toContain("No load balancer metadata is found");
  const subnet = { id: `${network}/subnets/s` };
  const frontendIPConfiguration = { id: `${balancer}/frontendIPConfigurations/f` };
  const pool = { id: `${balancer}/backendAddressPools/p` };
  const balanced = await ask("PUT", balancer, {
    location: "eastus",
    sku: { name: "Standard" },
    properties: {
      frontendIPConfigurations: [
        { name: "f", properties: { subnet, privateIPAddress: "10.0.0.9", ...fixed } },
      ],
      backendAddressPools: [{ name: "p" }],
      loadBalancingRules: [
        {
          name: "r",
          properties: {
            frontendIPConfiguration,
            backendAddressPool: pool,
            protocol: "Tcp",
            frontendPort: 80,
            backendPort: 8080,
          },
        },
      ],
    },
  });
  expect(balanced.status).toBe(201);
  const joined = await ask("PUT", nic, {
    location: "eastus",
    properties: {
      ipConfigurations: [
        { name: "ipconfig1", properties: { subnet, loadBalancerBackendAddressPools: [pool] } },
      ],
    },
  });
  expect(joined.status).toBe(200);
  expect((await get(path)).body).toEqual({
    loadbalancer: {
      publicIpAddresses: [],
      inboundRules: [
        {
          frontendIpAddress: "10.0.0.9",
          protocol: "tcp",
          frontendPort: 80,
          backendPort: 8080,
          privateIpAddress: "10.0.0.4",
        },
      ],
      outboundRules: [],
    },
  });
});

test("the service can be away for a while, and the machine can be gone", async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const { get, imds, simulator } = await world({ clock, still: true });
  const path = "/metadata/instance?api-version=2021-02-01";
  imds.fail(410, 60_000);
  expect((await get(path)).status).toBe(410);
  clock.moveTo(clock.now() + 60_000);
  expect((await get(path)).status).toBe(200);
  simulator.store.remove(machine.toLowerCase());
  expect((await get(path)).status).toBe(404);
});

test("a machine that was made through Resource Manager has its data and signs in until it is deleted", async () => {
  const { simulator, ask, get } = await world();
  const made = `${group}/providers/Microsoft.Compute/virtualMachines/made`;
  const card = `${group}/providers/Microsoft.Network/networkInterfaces/made-nic`;
  const subnet = { id: `${network}/subnets/s` };
  const plugged = await ask("PUT", card, {
    location: "eastus",
    properties: { ipConfigurations: [{ name: "c", properties: { subnet } }] },
  });
  expect(plugged.status).toBe(201);
  const image = {
    publisher: "Canonical",
    offer: "0001-com-ubuntu-server-jammy",
    sku: "22_04-lts",
    version: "latest",
  };
  const written = await ask("PUT", made, {
    location: "eastus",
    identity: { type: "SystemAssigned, UserAssigned", userAssignedIdentities: { [identity]: {} } },
    properties: {
      hardwareProfile: { vmSize: "Standard_D2s_v3" },
      storageProfile: { imageReference: image, osDisk: { createOption: "FromImage" } },
      osProfile: { computerName: "made", adminUsername: "someone", adminPassword: "Hush-hush-1" },
      networkProfile: { networkInterfaces: [{ id: card }] },
    },
  });
  expect(written.status).toBe(201);
  const imds = await startImds(simulator, made);
  onTestFinished(() => imds.close());
  const at = imds.url;
  const document = await get("/metadata/instance?api-version=2023-07-01", { at });
  expect(document.body).toMatchObject({
    compute: { name: "made", vmId: written.body.properties.vmId, sku: "22_04-lts" },
    network: { interface: [{ ipv4: { subnet: [{ address: "10.0.0.0", prefix: "24" }] } }] },
  });
  const path = `/metadata/identity/oauth2/token?api-version=2018-02-01&${management}`;
  const { body } = await get(path, { at });
  const who = simulator.directory.authenticate(`Bearer ${body.access_token}`);
  expect(who.objectId).toBe(written.body.identity.principalId);
  await ask("DELETE", made);
  await ask("GET", group);
  expect(simulator.directory.find(who.objectId)).toBeUndefined();
});

test("what is not done says so", async () => {
  const { get } = await world();
  expect((await get("/metadata/attested/document?api-version=2021-02-01")).status).toBe(501);
});

type World = Awaited<ReturnType<typeof identityWorld>>["simulator"];

async function world({ clock = new ManualClock(Date.UTC(2026, 0, 1)), still = false } = {}) {
  const { simulator, ask } = await identityWorld({ clock });
  const made = await ask("PUT", identity, { location: "eastus" });
  await ask("PUT", network, {
    location: "eastus",
    properties: {
      addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
      subnets: [{ name: "s", properties: { addressPrefix: "10.0.0.0/24" } }],
    },
  });
  keep(
    simulator,
    nic,
    "Microsoft.Network/networkInterfaces",
    { location: "eastus" },
    {
      macAddress: "00-0D-3A-F8-06-EC",
      ipConfigurations: [
        {
          name: "ipconfig1",
          properties: {
            privateIPAddress: "10.0.0.4",
            subnet: { id: `${network}/subnets/s` },
            primary: true,
          },
        },
      ],
    },
  );
  const own = simulator.directory.addSystemIdentity({
    tenant,
    objectId: "44444444-4444-4444-8444-444444444444",
    resourceId: machine,
  });
  const top = {
    location: "eastus",
    zones: ["2"],
    tags: { role: "gateway", tier: "1" },
    identity: {
      type: "SystemAssigned, UserAssigned",
      principalId: own.objectId,
      userAssignedIdentities: { [identity]: {} },
    },
  };
  // As recorded of a machine, with Linux in it.
  keep(simulator, machine, "Microsoft.Compute/virtualMachines", top, {
    vmId: "02aab8a4-74ef-476e-8182-f6d2ba4166a6",
    hardwareProfile: { vmSize: "Standard_D2s_v3" },
    storageProfile: { osDisk: { osType: "Linux", name: "disk1", diskSizeGB: 30 }, dataDisks: [] },
    osProfile: { computerName: "vm", adminUsername: "someone" },
    networkProfile: { networkInterfaces: [{ id: nic }] },
  });
  const imds = await startImds(simulator, machine);
  onTestFinished(() => imds.close());
  const get = async (
    path: string,
    { at = imds.url, ...more }: RequestInit & { at?: string | undefined } = {},
  ) => {
    // Five requests a second are all that the service takes.
    if (!still) clock.moveTo(clock.now() + 1000);
    const answer = await fetch(`${at}${path}`, { headers: { metadata: "true" }, ...more });
    const text = await answer.text();
    const body: Parsed = text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : {};
    return { status: answer.status, text, body };
  };
  const change = (changed: JsonObject) => {
    const held = simulator.store.get(machine);
    if (held) held.top = { ...held.top, identity: changed };
  };
  return { simulator, ask, imds, get, own, assigned: made.body.properties, change };
}

function keep(
  { store }: World,
  id: string,
  type: string,
  top: JsonObject,
  properties: JsonObject,
  name = id.slice(id.lastIndexOf("/") + 1),
): void {
  const rest = { state: "Succeeded" as const, version: 1, etag: "" };
  store.put({ id, key: id.toLowerCase(), type, name, top, properties, ...rest });
}

function leaves(value: unknown): unknown[] {
  return typeof value === "object" && value !== null
    ? Object.values(value).flatMap(leaves)
    : [value];
}
