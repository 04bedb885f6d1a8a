import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "@postern/azure-simulator/state/store.ts";
import { expect, onTestFinished, test } from "vitest";
import {
  type GatewayWorld,
  gatewayBody,
  location,
  networking,
  pool,
  subnet,
} from "./gateway-world.ts";
import { healthy, ran, realWorld, wordsFor } from "./run-agent.ts";

async function served(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A metadata service like that of a machine, which says other things of it. */
async function lyingIMDS(truth: string, change: (compute: JsonObject) => void): Promise<string> {
  return served(async (request, response) => {
    const answer = await fetch(new URL(request.url ?? "", truth), {
      headers: { metadata: "true" },
    });
    const body = (await answer.json()) as { compute?: JsonObject };
    if (body.compute) change(body.compute);
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  });
}

/** Runs the agent, which must fail in one line of JSON, exit with 1 and have written nothing. */
async function refused(
  { simulator }: GatewayWorld,
  words: readonly string[],
  subcommand = "run",
): Promise<string> {
  const run = subcommand === "run" ? [...healthy, "--tunnel", "none"] : [];
  const quiet = ["--patience", "0", "--log-level", "warn"];
  const { exitCode, stdout, stderr } = await ran([subcommand, ...words, ...run, ...quiet]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  const told = JSON.parse(stderr);
  expect(told).toMatchObject({
    level: "error",
    message: expect.stringMatching(/^cannot .+ · .+ · .+$/),
    code: expect.stringMatching(/^\w+$/),
  });
  expect(simulator.log.entries().filter(({ method }) => method !== "GET")).toEqual([]);
  expect(simulator.store.get(pool)?.properties.loadBalancerBackendAddresses ?? []).toEqual([]);
  return told.message;
}

/** A second value for an option stands for the first. */
const instead = (words: readonly string[], option: string, value: string) => [
  ...words,
  option,
  value,
];

test.each([200, 404])(
  "a metadata service that answers %i with HTML is told from a real one",
  async (status) => {
    const world = await realWorld();
    const html = await served((_request, response) =>
      response.writeHead(status, { "content-type": "text/html" }).end("<html>Sign in</html>"),
    );
    const words = instead(await wordsFor(world, world.machine("fw")), "--imds", html);
    expect(await refused(world, words)).toContain(
      `the response is not from the instance metadata service: it answers ${status} with text/html, which is not JSON (MetadataUnreadable)`,
    );
  },
);

test("the identity of another machine is refused", async () => {
  const world = await realWorld();
  const words = await wordsFor(world, world.machine("fw"));
  const truth = words[words.indexOf("--imds") + 1] ?? "";
  const other = "99999999-9999-4999-8999-999999999999";
  const imds = await lyingIMDS(truth, (compute) => Object.assign(compute, { vmId: other }));
  expect(await refused(world, instead(words, "--imds", imds))).toMatch(
    new RegExp(`has the id .+, and this machine was told ${other} \\(MachineDiffers\\)`),
  );
});

test("an empty pool name is refused before anybody is asked", async () => {
  const world = await realWorld();
  const words = instead(await wordsFor(world, world.machine("fw")), "--pool", "");
  expect(await refused(world, words)).toContain("no backend pool is configured (PoolNameMissing)");
  expect(world.simulator.log.entries()).toEqual([]);
});

test("a pool in another region is refused with both regions", async () => {
  const world = await realWorld();
  const words = await wordsFor(world, world.machine("fw"));
  const { change } = world.simulator;
  const far = `${networking}/virtualNetworks/far`;
  const addressSpace = { addressPrefixes: ["10.9.0.0/16"] };
  const subnets = [{ name: "s", properties: { addressPrefix: "10.9.0.0/24" } }];
  change(far, { location: "northeurope", properties: { addressSpace, subnets } });
  const balancer = `${networking}/loadBalancers/far`;
  const body = gatewayBody({ location: "northeurope" }, balancer);
  Object.assign(body.properties as object, {
    frontendIPConfigurations: [{ name: "fe", properties: { subnet: { id: `${far}/subnets/s` } } }],
    backendAddressPools: [{ name: "distant" }],
    loadBalancingRules: [],
  });
  change(balancer, body);
  expect(await refused(world, instead(words, "--pool", "distant"))).toContain(
    `far is in northeurope, this machine in ${location} (PoolInAnotherRegion)`,
  );
});

test("a token without rights is reported with the action that is missing, and on what", async () => {
  const world = await realWorld();
  const words = await wordsFor(world, world.machine("fw", { role: false }));
  const told = await refused(world, words, "discover");
  expect(told).toContain("Microsoft.Compute/virtualMachines/read");
  expect(told).toContain("virtualMachines/fw");
  expect(told).toContain("(403 AuthorizationFailed)");
});

test("an identity that the machine does not have is reported as that", async () => {
  const world = await realWorld();
  const words = await wordsFor(world, world.machine("fw"));
  const unknown = "12345678-1234-4234-8234-123456789012";
  expect(await refused(world, instead(words, "--client-id", unknown))).toContain(
    "(400 IdentityNotFound)",
  );
});

test("a load balancer in another subscription is found by its group or its id, and not without", async () => {
  const world = await realWorld();
  const id = world.machine("fw");
  const words = await wordsFor(world, id);
  const { directory, change, store } = world.simulator;
  const other = "55555555-5555-4555-8555-555555555555";
  directory.addSubscription(other, "22222222-2222-4222-8222-222222222222");
  const group = `/subscriptions/${other}/resourceGroups/security`;
  change(group, { location });
  const balancer = `${group}/providers/Microsoft.Network/loadBalancers/shared`;
  const body = gatewayBody({}, balancer);
  Object.assign(body.properties as object, {
    frontendIPConfigurations: [{ name: "fe", properties: { subnet } }],
    backendAddressPools: [{ name: "shared" }],
    loadBalancingRules: [],
  });
  change(balancer, body);
  const identity = store.get(id)?.top.identity as { principalId: string } | undefined;
  const reader = "acdd72a7-3385-48ef-bd42-f606fba81ae7";
  change(
    `${group}/providers/Microsoft.Authorization/roleAssignments/66666666-6666-4666-8666-666666666666`,
    {
      properties: {
        roleDefinitionId: `/subscriptions/${other}/providers/Microsoft.Authorization/roleDefinitions/${reader}`,
        principalId: identity?.principalId ?? "",
      },
    },
  );

  const shared = instead(words, "--pool", "shared");
  expect(await refused(world, shared, "discover")).toContain("gw has inspect (PoolNotFound)");
  const found = { exitCode: 0, stderr: "" };
  const there = ["--subscription", other, "--resource-group", "security"];
  for (const where of [there, ["--load-balancer", balancer]]) {
    const ended = await ran(["discover", ...shared, ...where]);
    expect(ended).toMatchObject(found);
    expect(JSON.parse(ended.stdout)).toMatchObject({ loadBalancerResourceId: balancer });
  }
});
