import { expect, test } from "vitest";
import { group, network, networkBody, smallWorld } from "./small-world.ts";

test("a poll address tells when its operation began in whole units, as Azure's do", async () => {
  const clock = { now: () => Date.UTC(2026, 0, 1) + 0.375, after: () => () => undefined };
  const { ask } = await smallWorld({ clock, operationMs: { "*": 60_000 } });
  await ask("PUT", group, { location: "westeurope" });
  const begun = await ask("PUT", network, networkBody());
  const poll = new URL(begun.headers.get("azure-asyncoperation") ?? "");
  expect(poll.searchParams.get("t")).toBe(String(Date.UTC(2026, 0, 1)));
  expect((await ask("GET", poll.href)).body).toEqual({ status: "InProgress" });
});
