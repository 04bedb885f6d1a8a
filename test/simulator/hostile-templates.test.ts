import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { expect, test } from "vitest";
import { codeOf } from "./link-world.ts";
import { type Came, group, type SmallWorld, smallWorld, tenant } from "./small-world.ts";

const deployment = `${group}/providers/Microsoft.Resources/deployments/d`;
const address: JsonObject = {
  type: "Microsoft.Network/publicIPAddresses",
  name: "ip",
  apiVersion: "2024-05-01",
  location: "westeurope",
  sku: { name: "Standard" },
  properties: { publicIPAllocationMethod: "Static" },
};

async function world(): Promise<SmallWorld> {
  const small = await smallWorld();
  await small.ask("PUT", group, { location: "westeurope" });
  return small;
}

function deploy({ ask }: SmallWorld, template: JsonObject | string): Promise<Came> {
  const text = typeof template === "string" ? template : JSON.stringify(template);
  return ask("PUT", deployment, `{"properties":{"mode":"Incremental","template":${text}}}`);
}

const output = (expression: string): JsonObject => ({
  resources: [],
  outputs: { o: { type: "string", value: `[${expression}]` } },
});

/** How a deployment ended, whether it was refused or accepted. */
async function ending(small: SmallWorld, came: Came): Promise<unknown> {
  if (came.status >= 400) return codeOf(came);
  const poll = String(came.headers.get("azure-asyncoperation"));
  const { status, error } = (await small.ask("GET", poll)).body;
  if (status !== "Failed") return status;
  return ((error as JsonObject).details as JsonObject[])[0]?.code;
}

const doubled = (first: unknown, many: number) => {
  const variables: Record<string, unknown> = { v0: first };
  for (let i = 1; i <= many; i++)
    variables[`v${i}`] = `[concat(variables('v${i - 1}'), variables('v${i - 1}'))]`;
  return variables as JsonObject;
};
const wrapped = (first: string, many: number, wrap: (inner: string) => unknown) => {
  const variables: Record<string, unknown> = { v0: first };
  for (let i = 1; i <= many; i++) variables[`v${i}`] = wrap(`[variables('v${i - 1}')]`);
  return variables as JsonObject;
};

test.each([
  ["a text doubled 30 times", { variables: doubled("x".repeat(1000), 30), resources: [] }],
  ["a list doubled 30 times", { variables: doubled([1, 2, 3, 4], 30), resources: [] }],
  [
    "an object that has another twice, 30 times",
    { variables: wrapped("x", 30, (inner) => ({ a: inner, b: inner })), resources: [] },
  ],
  ["objects in each other", { variables: wrapped("x", 250, (a) => ({ a })), resources: [] }],
  [
    "a format with many places",
    {
      variables: {
        a: "x".repeat(100_000),
        b: `[format('${"{0}".repeat(10_000)}', variables('a'))]`,
      },
      resources: [],
    },
  ],
  ["too many variables", { variables: wrapped("x", 300, (a) => a), resources: [] }],
] as const)("a small template that would become large is refused: %s", async (_what, template) => {
  const small = await world();
  const came = await deploy(small, template as unknown as JsonObject);
  expect([came.status, codeOf(came)]).toEqual([400, "InvalidTemplate"]);
});

test("eight hundred resources that wait for each other are put in order by few comparisons", async () => {
  const small = await world();
  // Each waits for what is not in the template, and for the one that is written after it.
  const others = Array.from({ length: 400 }, (_, i) => `other${i}`);
  const resources = Array.from({ length: 800 }, (_, i) => ({
    ...address,
    name: `ip${i}`,
    dependsOn: i === 799 ? [] : [...others, `ip${i + 1}`],
  }));
  // With every one compared with every other one this took a minute: longer than a test may take.
  const came = await deploy(small, { resources });
  expect(await ending(small, came)).toBe("Succeeded");
});

test.each([
  ["constructor('a')", "NotSupportedBySimulator"],
  ["__proto__()", "NotSupportedBySimulator"],
  ["parameters('constructor')", "InvalidTemplate"],
  ["parameters('__proto__')", "InvalidTemplate"],
  ["variables('__proto__')", "InvalidTemplate"],
  ["variables('toString')", "InvalidTemplate"],
  ["concat('a')[0].constructor", "InvalidTemplate"],
  ["resourceGroup().__proto__", "InvalidTemplate"],
])(
  "no expression reaches what belongs to the simulator's language: %s",
  async (expression, code) => {
    const small = await world();
    expect(await ending(small, await deploy(small, output(expression)))).toBe(code);
    const variables = { a: `[${expression}]` };
    expect(await ending(small, await deploy(small, { variables, resources: [] }))).toBe(code);
  },
);

test.each(["constructor", "__proto__", "toString", "wibble", 7])(
  "a parameter of type %s is refused",
  async (type) => {
    const small = await world();
    const parameters = { a: { type, defaultValue: 1 } } as JsonObject;
    const came = await deploy(small, { parameters, resources: [] });
    expect([came.status, codeOf(came)]).toEqual([400, "InvalidTemplate"]);
  },
);

test("the word __proto__ is a name like any other", async () => {
  const small = await world();
  const came = await deploy(
    small,
    `{"parameters":{"__proto__":{"type":"object","defaultValue":{"polluted":"p"}}},
      "variables":{"__proto__":{"polluted":"v"}},
      "resources":[${JSON.stringify(address).replace("{", '{"tags":{"__proto__":"[parameters(\'__proto__\').polluted]","own":"[variables(\'__PROTO__\').polluted]"},')}],
      "outputs":{"__proto__":{"type":"string","value":"o"}}}`,
  );
  expect(await ending(small, came)).toBe("Succeeded");
  const shown = await small.ask("GET", `${group}/providers/Microsoft.Network/publicIPAddresses/ip`);
  expect(shown.text).toContain('"tags":{"__proto__":"p","own":"v"}');
  expect((await small.ask("GET", deployment)).text).toContain(
    '"outputs":{"__proto__":{"type":"String","value":"o"}}',
  );
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
});

test("a deployment shows nobody what he may not read", async () => {
  const small = await world();
  const zone = `${group}/providers/Microsoft.Network/privateDnsZones/secret.example`;
  await small.ask("PUT", zone, { location: "global" });
  const deployer = small.simulator.directory.addApplication({ tenant });
  const role = `/subscriptions/${group.split("/")[2]}/providers/Microsoft.Authorization/roleDefinitions/77777777-7777-4777-8777-777777777777`;
  await small.ask("PUT", role, {
    properties: {
      roleName: "deployer",
      permissions: [{ actions: ["Microsoft.Resources/deployments/*"], notActions: [] }],
      assignableScopes: [`/subscriptions/${group.split("/")[2]}`],
    },
  });
  const given = await small.ask(
    "PUT",
    `${group}/providers/Microsoft.Authorization/roleAssignments/88888888-8888-4888-8888-888888888888`,
    { properties: { roleDefinitionId: role, principalId: deployer.objectId } },
  );
  expect(given.status, given.text).toBe(201);
  const token = small.simulator.directory.tokenFor({ ...deployer, tenant });
  const headers = { authorization: `Bearer ${token}` };
  const asDeployer: SmallWorld = {
    ...small,
    ask: (method, path, body) => small.ask(method, path, body, headers),
  };
  const template = output(`reference('${zone}').maxNumberOfRecordSets`);
  expect(await ending(small, await deploy(small, template))).toBe("Succeeded");
  const came = await deploy(asDeployer, template);
  expect(came.status).toBe(201);
  expect(await ending(asDeployer, came)).toBe("AuthorizationFailed");
});

test("an output that cannot be evaluated fails the deployment, whose resources stay", async () => {
  const small = await world();
  const template = { ...output("reference('nothing').x"), resources: [address] };
  const came = await deploy(small, template);
  expect(came.status).toBe(201);
  expect(await ending(small, came)).toBe("InvalidTemplate");
  expect((await small.ask("GET", deployment)).body.properties).toMatchObject({
    provisioningState: "Failed",
    outputResources: [{ id: expect.stringContaining("/publicIPAddresses/ip") }],
  });
});

test("a resource that is declared twice, and a deployment in a deployment, are refused", async () => {
  const small = await world();
  const twice = await deploy(small, { resources: [address, { ...address, name: "IP" }] });
  expect([twice.status, codeOf(twice)]).toEqual([400, "InvalidTemplate"]);
  const inner = { ...address, type: "Microsoft.Resources/deployments", name: "d" };
  const nested = await deploy(small, { resources: [inner] });
  expect([nested.status, codeOf(nested)]).toEqual([501, "NotSupportedBySimulator"]);
});

test.each([
  `${group}/providers/Microsoft.Resources/resourceGroups/x`,
  `${group}/providers/Microsoft.Resources/resourceGroups`,
  `${group}/providers/Microsoft.Resources/subscriptions/x`,
  `${group}/providers/Microsoft.Resources/subscriptions`,
  `${group}/providers/Microsoft.Resources/tenants`,
  `${group}/providers/Microsoft.Resources/providers`,
  `${group}/providers/Microsoft.Network`,
])(
  "groups, subscriptions and providers are not reached as resources of a group: %s",
  async (path) => {
    const { ask } = await world();
    for (const method of ["PUT", "GET", "DELETE"]) {
      const body =
        method === "PUT" ? { location: "northeurope", tags: { wrong: "yes" } } : undefined;
      const came = await ask(method, path, body);
      expect([method, came.status, codeOf(came)]).toEqual([method, 404, "InvalidResourceType"]);
    }
    expect((await ask("GET", group)).body).toMatchObject({ name: "rg", location: "westeurope" });
  },
);

test.each(["%E2%80%AE", "a%20b", "x".repeat(65)])(
  "a deployment's name that Azure's schema does not allow is refused: %s",
  async (name) => {
    const { ask } = await world();
    const path = deployment.replace(/d$/, name);
    const came = await ask("PUT", path, { properties: { mode: "Incremental", template: {} } });
    expect([came.status, codeOf(came)]).toEqual([400, "InvalidDeploymentName"]);
  },
);
