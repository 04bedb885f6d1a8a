import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Priority } from "@postern/core/priority.ts";
import { describe, expect, test } from "vitest";
import { ManualClock, settle } from "../../../../test/manual-clock.ts";
import { fc } from "../../../../test/setup/random.ts";
import { Bucket } from "./bucket.ts";
import { Budget, Budgets, remainingIn } from "./budget.ts";
import { AzureError } from "./errors.ts";
import { azureLimits, type Provider, providerOf } from "./limits.ts";
import { Scheduler } from "./scheduler.ts";

const limit = { burst: 5, perSecond: 2 };
const priorities = ["change", "retry", "drift"] as const;

/** A budget of one bucket, and a record of who was sent when. */
function bucket(over: Partial<typeof limit> = {}) {
  const clock = new ManualClock(0);
  const only = new Bucket({ ...limit, ...over }, clock);
  const scheduler = new Scheduler(clock);
  const budget = new Budget(scheduler, [only]);
  const sent: { name: string; atMs: number }[] = [];
  const failed: { name: string; code: string; retryAfterMs?: number }[] = [];
  const take = (priority: Priority, name: string = priority, signal?: AbortSignal, tenant = "") => {
    budget.take({ priority, tenant, signal, what: "read x" }).then(
      () => sent.push({ name, atMs: clock.now() }),
      (error) => failed.push({ name, code: error.code, retryAfterMs: error.retryAfterMs }),
    );
  };
  const names = () => sent.map(({ name }) => name);
  const made = {
    park: (ms: number) => scheduler.park(only, ms),
    lower: (remaining: number) => only.lower(remaining),
    state: () => budget.state(),
  };
  return { clock, made, take, sent, failed, names };
}

describe("a bucket", () => {
  test("lets the burst through at once, and then as many as it fills", async () => {
    const { clock, take, sent } = bucket();
    for (let i = 0; i < 9; i++) take("change");
    await settle();
    expect(sent).toHaveLength(5);
    await clock.move(2_000);
    expect(sent.map(({ atMs }) => atMs)).toEqual([0, 0, 0, 0, 0, 500, 1000, 1500, 2000]);
  });

  test("keeps a program alive that waits for nothing else", async () => {
    const program = `
      import { realClock } from "@postern/core/clock.ts";
      import { Budgets } from ${JSON.stringify(new URL("./budget.ts", import.meta.url).href)};
      const budgets = new Budgets({ clock: realClock, limits: { reads: { burst: 1, perSecond: 20 } } });
      const budget = budgets.of({ identity: "a", subscription: "s", region: "", kind: "reads", provider: "none" });
      for (let i = 0; i < 3; i++) await budget.take({ priority: "change", tenant: "", what: "read x" });
      process.stdout.write("sent");
    `;
    const words = ["--input-type=module", "--eval", program];
    const { stdout } = await promisify(execFile)(process.execPath, words, {
      cwd: import.meta.dirname,
    });
    expect(stdout).toBe("sent");
  });

  test("serves changes before retries before drift, and each line in its order", async () => {
    const { clock, take, names } = bucket({ burst: 1 });
    take("drift", "first");
    for (const name of ["d1", "d2"]) take("drift", name);
    for (const name of ["r1", "r2"]) take("retry", name);
    for (const name of ["c1", "c2"]) take("change", name);
    await clock.move(60_000);
    expect(names()).toEqual(["first", "c1", "c2", "r1", "r2", "d1", "d2"]);
  });

  test("gives one turn in ten to whoever waits longest, so that drift is never starved", async () => {
    const { clock, take, names } = bucket({ burst: 1 });
    take("change");
    take("drift");
    for (let i = 0; i < 40; i++) take("change");
    await clock.move(6_000);
    expect(names().indexOf("drift")).toBe(10);
  });

  test("holds everything back while it is parked, and is empty afterwards", async () => {
    const { clock, made, take, sent } = bucket();
    made.park(4_000);
    take("change");
    take("change");
    await clock.move(3_999);
    expect(sent).toEqual([]);
    expect(made.state()).toMatchObject({ parkedForMs: 1, waiting: { change: 2 } });
    await clock.move(10_000);
    expect(sent.map(({ atMs }) => atMs)).toEqual([4_500, 5_000]);
  });

  test("sends away whoever would wait long, with the time to come back", async () => {
    const { clock, made, take, failed } = bucket({ burst: 1 });
    take("change", "sent");
    take("drift", "waiting");
    await settle();
    made.park(60_000);
    take("change", "late");
    await settle();
    expect(failed).toEqual([
      { name: "waiting", code: "Throttled", retryAfterMs: 60_000 },
      { name: "late", code: "Throttled", retryAfterMs: 60_000 },
    ]);
    expect(clock.timers).toBe(0);
  });

  test("is not parked for less by a second, shorter wait", async () => {
    const { made } = bucket();
    made.park(60_000);
    made.park(1_000);
    expect(made.state().parkedForMs).toBe(60_000);
  });

  test("believes Azure when it says that less is left, and not when it says more", async () => {
    const { made, take, sent } = bucket();
    made.lower(11_999);
    expect(made.state().remaining).toBe(5);
    made.lower(2);
    for (let i = 0; i < 4; i++) take("change");
    await settle();
    expect(sent).toHaveLength(2);
  });

  test("forgets who stopped waiting, and serves the others", async () => {
    const { clock, made, take, names, failed } = bucket({ burst: 1 });
    const stop = new AbortController();
    take("change", "now");
    take("change", "stopped", stop.signal);
    take("change", "next");
    stop.abort();
    await clock.move(500);
    expect(names()).toEqual(["now", "next"]);
    expect(failed).toMatchObject([{ name: "stopped", code: "Cancelled" }]);
    expect(made.state().waiting).toEqual({ change: 0, retry: 0, drift: 0 });
  });

  test("has no timer at rest, and none after the last who waited gave up", async () => {
    const { clock, take } = bucket({ burst: 1 });
    const stop = new AbortController();
    take("drift");
    expect(clock.timers).toBe(0);
    take("drift", "b", stop.signal);
    expect(clock.timers).toBe(1);
    stop.abort();
    expect(clock.timers).toBe(0);
  });

  test("refuses one whose signal was aborted before it asked", async () => {
    const { take, failed } = bucket();
    take("change", "late", AbortSignal.abort());
    await settle();
    expect(failed).toMatchObject([{ code: "Cancelled" }]);
  });

  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ take: fc.constantFrom(...priorities) }) },
    { weight: 3, arbitrary: fc.record({ moveMs: fc.integer({ min: 0, max: 3_000 }) }) },
    { weight: 1, arbitrary: fc.record({ parkMs: fc.integer({ min: 0, max: 9_000 }) }) },
    { weight: 1, arbitrary: fc.record({ lower: fc.integer({ min: 0, max: 6 }) }) },
  );
  test("whatever happens, no window of time sees more than burst and filling, and all is sent", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { clock, made, take, sent, failed } = bucket();
        let asked = 0;
        for (const each of steps) {
          if ("take" in each) take(each.take, String(asked++));
          else if ("moveMs" in each) await clock.move(each.moveMs);
          else if ("parkMs" in each) made.park(each.parkMs);
          else made.lower(each.lower);
        }
        await clock.move(600_000);
        expect(failed).toEqual([]);
        expect(new Set(sent.map(({ name }) => name)).size).toBe(asked);
        expect(clock.timers).toBe(0);
        const times = sent.map(({ atMs }) => atMs);
        for (let from = 0; from < times.length; from++)
          for (let to = from; to < times.length; to++) {
            const seconds = ((times[to] ?? 0) - (times[from] ?? 0)) / 1000;
            expect(to - from + 1).toBeLessThanOrEqual(
              limit.burst + limit.perSecond * seconds + 1e-6,
            );
          }
      }),
      { numRuns: 60 },
    );
  });

  test("a change never waits behind more than every tenth of the others", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...priorities), { minLength: 2, maxLength: 80 }),
        async (asked) => {
          const { clock, take, names } = bucket({ burst: 1 });
          take("change", "first");
          asked.forEach((priority) => {
            take(priority);
          });
          await clock.move(60_000);
          const order = names().slice(1);
          const changes = asked.filter((priority) => priority === "change").length;
          const until = order.lastIndexOf("change") + 1;
          expect(until - changes).toBeLessThanOrEqual(Math.floor(until / 10));
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("fairness", () => {
  test("one tenant's burst does not delay another's change by more than its turn", async () => {
    const { clock, take, names } = bucket({ burst: 1 });
    for (let i = 0; i < 50; i++) take("change", `loud-${i}`, undefined, "loud");
    take("change", "quiet", undefined, "quiet");
    take("change", "quiet-too", undefined, "quiet too");
    await clock.move(2_000);
    expect(names().slice(0, 4)).toEqual(["loud-0", "quiet", "quiet-too", "loud-1"]);
  });

  test("tenants take turns whatever the number of their requests, and each in its order", async () => {
    const { clock, take, names } = bucket({ burst: 1 });
    for (const name of ["a1", "a2", "a3", "a4", "b1", "b2"])
      take("change", name, undefined, name.charAt(0));
    await clock.move(60_000);
    expect(names()).toEqual(["a1", "b1", "a2", "b2", "a3", "a4"]);
  });

  test("a tenant's change goes before another tenant's drift check", async () => {
    const { clock, take, names } = bucket({ burst: 1 });
    take("change", "first", undefined, "a");
    take("drift", "drift", undefined, "b");
    take("change", "change", undefined, "a");
    await clock.move(60_000);
    expect(names()).toEqual(["first", "change", "drift"]);
  });
});

describe("the budgets of a process", () => {
  const key = { identity: "a", subscription: "S-1", region: "" };
  const counted = { ...key, kind: "reads", provider: "none" } as const;
  const wanted = { priority: "change", tenant: "", what: "ask" } as const;
  const throttledBy = (code: string) => new AzureError({ code, what: "ask", status: 429 });
  const remaining = (budgets: Budgets, provider: Provider, identity = "a") =>
    budgets.of({ ...counted, identity, provider }).state().remaining;

  test("are one for each identity, subscription and region, whatever the case", () => {
    const budgets = new Budgets({ clock: new ManualClock() });
    expect(budgets.of(counted)).toBe(budgets.of({ ...counted, subscription: "s-1" }));
    expect(budgets.of(counted)).not.toBe(budgets.of({ ...counted, identity: "b" }));
    expect(budgets.states().map(({ identity }) => identity)).toEqual(["a", "b"]);
  });

  test("start with what Azure gives, unless told otherwise", () => {
    const clock = new ManualClock();
    const usual = new Budgets({ clock });
    expect(remaining(usual, "none")).toBe(azureLimits.reads.burst);
    const limits = { "dns-reads": { burst: 3, perSecond: 1 } };
    const less = new Budgets({ clock, limits });
    expect(remaining(less, "dns")).toBe(3);
    expect(remaining(less, "network")).toBe(250);
  });

  test("identities of a subscription share the limits of the network provider, and other subscriptions do not", async () => {
    const limits = { "network-writes": { burst: 3, perSecond: 1 } };
    const budgets = new Budgets({ clock: new ManualClock(), limits });
    const writes = (identity: string, subscription: string) =>
      budgets.of({ identity, subscription, region: "", kind: "writes", provider: "network" });
    await writes("a", "s").take(wanted);
    await writes("b", "s").take(wanted);
    // Deletes count with the writes.
    const deletes = { identity: "b", subscription: "s", region: "", kind: "deletes" } as const;
    await budgets.of({ ...deletes, provider: "dns" }).take(wanted);
    expect(writes("a", "s").state().remaining).toBe(0);
    expect(writes("a", "other").state().remaining).toBe(3);
    budgets.forget("a");
    budgets.forget("b");
    expect(writes("c", "s").state().remaining).toBe(0);
  });

  test("requests that wait for DNS do not hold up those that need something else", async () => {
    const clock = new ManualClock();
    const limits = { "dns-reads": { burst: 1, perSecond: 0.001 } };
    const budgets = new Budgets({ clock, limits });
    const dns = budgets.of({ ...counted, provider: "dns" });
    await dns.take(wanted);
    let isSent = false;
    void dns.take(wanted).then(() => {
      isSent = true;
    });
    await budgets.of({ ...counted, provider: "network" }).take(wanted);
    expect(isSent).toBe(false);
    await clock.move(1_000_000);
    expect(isSent).toBe(true);
  });

  test("a header lowers the limit that it is about", () => {
    const budgets = new Budgets({ clock: new ManualClock() });
    const dns = budgets.of({ ...counted, provider: "dns" });
    dns.learn({ "x-ms-ratelimit-remaining-subscription-resource-requests": "17" });
    expect([remaining(budgets, "dns"), remaining(budgets, "dns", "b")]).toEqual([17, 17]);
    expect(remaining(budgets, "network")).toBe(250);
    dns.learn({ "x-ms-ratelimit-remaining-subscription-reads": "40" });
    expect([remaining(budgets, "network"), remaining(budgets, "network", "b")]).toEqual([40, 250]);
    dns.learn({ "x-ms-ratelimit-remaining-subscription-global-reads": "30" });
    expect(remaining(budgets, "network", "b")).toBe(30);
  });

  test.each([
    ["TooManyRequests", true, { mine: 60_000, others: 0, network: 60_000 }],
    ["SubscriptionRequestsThrottled", true, { mine: 60_000, others: 60_000, network: 60_000 }],
    ["ResourceRequestsThrottled", true, { mine: 60_000, others: 60_000, network: 0 }],
    ["Throttled", false, { mine: 60_000, others: 60_000, network: 0 }],
  ])(
    "a 429 %s on a DNS read parks what counts towards the same limit",
    (code, isByGateway, parked) => {
      const budgets = new Budgets({ clock: new ManualClock() });
      budgets.of({ ...counted, provider: "dns" }).park(throttledBy(code), isByGateway, 60_000);
      const parkedFor = (provider: Provider, identity: string) =>
        budgets.of({ ...counted, identity, provider }).state().parkedForMs;
      expect({
        mine: parkedFor("dns", "a"),
        others: parkedFor("dns", "b"),
        network: parkedFor("network", "a"),
      }).toEqual(parked);
    },
  );

  test.each([
    ["Microsoft.Network/privateDnsZones/virtualNetworkLinks", "dns"],
    ["Microsoft.Network/privateDnsOperationStatuses", "dns"],
    ["microsoft.network/dnszones/A", "dns"],
    ["Microsoft.Network/locations/operations", "network"],
    ["Microsoft.Network/privateEndpoints/privateDnsZoneGroups", "network"],
    ["Microsoft.Compute/virtualMachines", "none"],
    ["Microsoft.Resources/resourceGroups", "none"],
  ])("%s is answered by %s", (resource, provider) => {
    expect(providerOf(resource)).toBe(provider);
  });

  test("what is left is the least of the counters of an answer", () => {
    expect(
      remainingIn({
        "x-ms-ratelimit-remaining-subscription-reads": "249",
        "x-ms-ratelimit-remaining-subscription-global-reads": "3749",
        "x-ms-ratelimit-remaining-resource": "Microsoft.Compute/HighCostGet;107",
        "x-ms-ratelimit-remaining-subscription-resource-requests": "oops",
      }),
    ).toBe(249);
    expect(remainingIn({ "content-type": "text/html" })).toBeUndefined();
  });
});
