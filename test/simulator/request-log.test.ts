import { expect, test } from "vitest";
import { group, network, smallWorld } from "./small-world.ts";

test("an entry has its number, its query and what the client said of the request", async () => {
  const { simulator, ask } = await smallWorld();
  await ask("PUT", `${group}?api-version=2021-04-01`, { location: "westeurope" });
  await ask("GET", network, undefined, { "if-match": '"1"', "x-ms-client-request-id": "mine" });
  const [first, second] = simulator.log.entries();
  expect(first).toMatchObject({ sequence: 1, query: "api-version=2021-04-01" });
  expect(Object.keys(first ?? {})).not.toContain("ifMatch");
  expect(second).toMatchObject({
    sequence: 2,
    query: "api-version=2024-05-01",
    ifMatch: '"1"',
    clientRequestId: "mine",
  });
});

test("a sign-in has a number and a query too", async () => {
  const { simulator } = await smallWorld();
  await fetch(`${simulator.url}/nobody/v2.0/.well-known/openid-configuration?appid=1`, {
    headers: { "client-request-id": "signing in" },
  });
  expect(simulator.log.entries()).toMatchObject([
    { sequence: 1, query: "appid=1", clientRequestId: "signing in" },
  ]);
});

test("what came since an entry is found by its number, also after the log was emptied", async () => {
  const { simulator, ask, control } = await smallWorld();
  await ask("GET", group);
  const mark = simulator.log.last;
  await ask("GET", network);
  const paths = () => simulator.log.entries({ since: mark }).map(({ path }) => path);
  expect(paths()).toEqual([network]);
  simulator.log.clear();
  await ask("GET", group);
  expect(paths()).toEqual([group]);
  const { body } = await control("GET", "requests?since=2");
  expect(body).toMatchObject({ last: 3, value: [{ sequence: 3 }] });
  expect((await control("GET", "requests?since=3")).body.value).toEqual([]);
  expect((await control("GET", "requests?since=2000-01-01")).body.value).toHaveLength(1);
  expect((await control("GET", "requests?since=then")).status).toBe(400);
});

test("a list of entries stays as it was given, and a limit of none gives none", async () => {
  const { simulator, ask, control } = await smallWorld();
  await ask("GET", group);
  const before = simulator.log.entries();
  await ask("GET", group);
  expect(before).toHaveLength(1);
  expect(simulator.log.entries({ limit: 0 })).toEqual([]);
  expect(simulator.log.entries({ limit: 1 })).toMatchObject([{ sequence: 2 }]);
  expect(simulator.log.entries({ limit: 9 })).toHaveLength(2);
  expect((await control("GET", "requests?limit=0")).body.value).toEqual([]);
});
