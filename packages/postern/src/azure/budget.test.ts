import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Priority } from "@postern/core/priority.ts";
import { describe, expect, test } from "vitest";
import { ManualClock, settle } from "../../../../test/manual-clock.ts";
import { fc } from "../../../../test/setup/random.ts";
import { Bucket } from "./bucket.ts";
import { armLimits, Budgets, remainingIn } from "./budget.ts";

const limit = { burst: 5, perSecond: 2 };
const priorities = ["change", "retry", "drift"] as const;

/** A bucket that notes who went when. */
function bucket(over: Partial<typeof limit> = {}) {
  const clock = new ManualClock(0);
  const made = new Bucket({ ...limit, ...over }, clock);
  const sent: { name: string; atMs: number }[] = [];
  const failed: { name: string; code: string; retryAfterMs?: number }[] = [];
  const take = (priority: Priority, name: string = priority, signal?: AbortSignal) => {
    made.take(priority, signal, "read x").then(
      () => sent.push({ name, atMs: clock.now() }),
      (error) => failed.push({ name, code: error.code, retryAfterMs: error.retryAfterMs }),
    );
  };
  const names = () => sent.map(({ name }) => name);
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
      import { Bucket } from ${JSON.stringify(new URL("./bucket.ts", import.meta.url).href)};
      const bucket = new Bucket({ burst: 1, perSecond: 20 }, realClock);
      for (let i = 0; i < 3; i++) await bucket.take("change", undefined, "read x");
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

describe("the budgets of a process", () => {
  test("are one for each identity, subscription and region, whatever the case", () => {
    const budgets = new Budgets({ clock: new ManualClock() });
    const key = { identity: "a", subscription: "S-1", region: "" };
    expect(budgets.of(key)).toBe(budgets.of({ ...key, subscription: "s-1" }));
    expect(budgets.of(key)).not.toBe(budgets.of({ ...key, identity: "b" }));
    expect(budgets.states().map(({ identity }) => identity)).toEqual(["a", "b"]);
  });

  test("start with what Azure gives, unless told otherwise", () => {
    const clock = new ManualClock();
    const key = { identity: "a", subscription: "s", region: "" };
    const usual = new Budgets({ clock }).of(key);
    expect(usual.reads.state().remaining).toBe(armLimits.reads.burst);
    expect(usual.deletes.state().remaining).toBe(200);
    const less = new Budgets({ clock, limits: { writes: { burst: 3, perSecond: 1 } } }).of(key);
    expect(less.writes.state().remaining).toBe(3);
    expect(less.reads.state().remaining).toBe(250);
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
