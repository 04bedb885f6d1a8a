import { expect, test } from "vitest";
import { smallWorld, tenant } from "./small-world.ts";

test("anyone is told where the parts of the cloud are, in Azure's form", async () => {
  const { simulator } = await smallWorld();
  const response = await fetch(`${simulator.url}/metadata/endpoints?api-version=2022-09-01`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  expect(await response.json()).toMatchObject({
    name: "AzureCloud",
    authentication: {
      loginEndpoint: simulator.url,
      audiences: [`${simulator.url}/`, simulator.url],
      tenant: "common",
    },
    resourceManager: `${simulator.url}/`,
  });
});

test("a token does no harm there, and a version is needed as everywhere", async () => {
  const { ask, simulator } = await smallWorld();
  expect((await ask("GET", "/metadata/endpoints")).status).toBe(200);
  const without = await fetch(`${simulator.url}/metadata/endpoints`);
  expect(without.status).toBe(400);
  expect(await without.json()).toMatchObject({ error: { code: "MissingApiVersionParameter" } });
});

test("older versions give a list of clouds", async () => {
  const { ask, simulator } = await smallWorld();
  const older = await ask("GET", "/metadata/endpoints?api-version=2019-05-01");
  expect(older.body).toMatchObject([{ name: "AzureCloud", resourceManager: `${simulator.url}/` }]);
});

test.each([
  "/metadata/endpoints?api-version=2019-05-01",
  "/metadata/endpoints?api-version=2022-09-01",
  `/${tenant}/v2.0/.well-known/openid-configuration`,
  "/common/v2.0/.well-known/openid-configuration",
  "/common/discovery/instance?authorization_endpoint=https://x/common/oauth2/v2.0/authorize",
])("%s names no host of Microsoft", async (path) => {
  const { simulator } = await smallWorld();
  const response = await fetch(simulator.url + path);
  expect(response.status).toBe(200);
  expect(await response.text()).not.toMatch(
    /windows\.net|azure\.(com|net)|microsoft(online)?\.(com|us)/i,
  );
});
