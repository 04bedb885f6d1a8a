import type { Priority } from "@postern/core/priority.ts";
import { expect, test, vi } from "vitest";
import { caller, fakeArm, group, refuse } from "../../../../test/azure/fake-arm.ts";
import { json } from "../../../../test/loopback.ts";
import { ManualClock } from "../../../../test/manual-clock.ts";
import { Budgets } from "./budget.ts";
import type { AzureError } from "./errors.ts";

const query = { "api-version": "2025-05-01" };
const path = (priority: Priority, at: number) =>
  `${group}/providers/Microsoft.Network/${priority}/${at}`;

test("in a storm changes go first, drift still goes, and no more is asked than Azure allows", async () => {
  const clock = new ManualClock();
  const limits = { reads: { burst: 2, perSecond: 1 } };
  const { client: made, requests } = await fakeArm(
    (_request, response) => json(response, 200, {}),
    {
      clock,
      budgets: new Budgets({ clock, limits }),
    },
  );
  const ask = (priority: Priority, at: number) =>
    made.for(caller({ priority })).request("GET", path(priority, at), { query });
  const asked = [
    ...Array.from({ length: 6 }, (_, at) => ask("drift", at)),
    ...Array.from({ length: 3 }, (_, at) => ask("retry", at)),
    ...Array.from({ length: 12 }, (_, at) => ask("change", at)),
  ];
  // Each is answered before the next may go, so that the order of arrival is the order of leaving.
  await vi.waitFor(() => expect(requests).toHaveLength(2));
  for (let arrived = 3; arrived <= asked.length; arrived++) {
    await clock.move(1_000);
    await vi.waitFor(() => expect(requests).toHaveLength(arrived));
  }
  await Promise.all(asked);
  const order = requests.map(({ url }) => /Network\/(\w+)/.exec(url)?.[1]);
  const repeat = (priority: Priority, times: number) => Array<string>(times).fill(priority);
  expect(order).toEqual([
    // The burst takes who comes first; then people's changes, but for every tenth.
    ...repeat("drift", 2),
    ...repeat("change", 9),
    "drift",
    ...repeat("change", 3),
    ...repeat("retry", 3),
    ...repeat("drift", 3),
  ]);
});

test("when Azure refuses one, those behind it are not sent into the same wall", async () => {
  const clock = new ManualClock();
  const limits = { reads: { burst: 1, perSecond: 1 } };
  const { client: made, requests } = await fakeArm(
    (_request, response) => refuse(response, 429, "TooManyRequests", { "retry-after": "120" }),
    { clock, budgets: new Budgets({ clock, limits }) },
  );
  const asked = Array.from({ length: 50 }, (_, at) =>
    made
      .for(caller({ priority: "change" }))
      .request("GET", path("change", at), { query })
      .catch((error: AzureError) => error.explain()),
  );
  const ended = await Promise.all(asked);
  expect(requests).toHaveLength(1);
  for (const failure of ended) expect(failure).toMatchObject({ requeueAfterMs: 120_000 });
  expect(clock.timers).toBe(0);
});
