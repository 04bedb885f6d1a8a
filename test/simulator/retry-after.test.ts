import { ManualClock } from "@postern/azure-simulator/control/manual-clock.ts";
import { expect, test } from "vitest";
import { group, network, networkBody, smallWorld } from "./small-world.ts";

const start = Date.UTC(2026, 0, 1);
const zone = `${group}/providers/Microsoft.Network/privateDnsZones/corp.example`;

test.each([
  ["as Azure says where nothing is said", {}, ["10", "30"]],
  ["as Azure says where operations are long", { operationMs: { "*": 60_000 } }, ["10", "30"]],
  ["short where operations are", { operationMs: { "*": 2_500 } }, ["3", "3"]],
  ["by the speed", { operationMs: { "*": 60_000 }, speed: 60 }, ["1", "1"]],
  ["as long as they are told", { operationMs: { "*": 100 }, retryAfterSeconds: 7 }, ["7", "7"]],
])("clients are asked to wait %s", async (_how, options, wait) => {
  const { ask } = await smallWorld({ clock: new ManualClock(start), ...options });
  await ask("PUT", group, { location: "westeurope" });
  const answers = [
    await ask("PUT", network, networkBody()),
    await ask("PUT", zone, { location: "global" }),
  ];
  expect(answers.map(({ headers }) => headers.get("retry-after"))).toEqual(wait);
});

test("a poll of private DNS that comes too early is told the address again, and when", async () => {
  const clock = new ManualClock(start);
  const { ask } = await smallWorld({ clock, operationMs: { "*": 60_000 } });
  await ask("PUT", group, { location: "westeurope" });
  const { headers } = await ask("PUT", zone, { location: "global" });
  const address = headers.get("azure-asyncoperation") ?? "";
  const early = await ask("GET", address);
  expect(early.status).toBe(202);
  expect(early.body).toMatchObject({ status: "InProgress" });
  expect(early.headers.get("azure-asyncoperation")).toBe(address);
  expect(early.headers.get("retry-after")).toBe("30");
  clock.moveTo(start + 60_000);
  const done = await ask("GET", address);
  expect([done.status, done.body.status]).toEqual([200, "Succeeded"]);
  expect(done.headers.get("azure-asyncoperation")).toBeNull();
});
