import type { Priority } from "@postern/core/priority.ts";
import { expect, test } from "vitest";
import { ManualClock, settle } from "../../../../test/manual-clock.ts";
import { fc } from "../../../../test/setup/random.ts";
import { type Outcome, WorkQueue } from "./queue.ts";

const done: Outcome = { failed: false };

function blocked(concurrency = 1, mostOfTenant = concurrency) {
  const clock = new ManualClock();
  const started: string[] = [];
  const finish = new Map<string, (outcome: Outcome) => void>();
  const queue = new WorkQueue({
    concurrency,
    mostOfTenant,
    clock,
    work: (key) => {
      started.push(key);
      return new Promise((resolve) => finish.set(key, resolve));
    },
  });
  queue.start();
  const end = async (key: string, outcome: Outcome = done) => {
    finish.get(key)?.(outcome);
    await settle();
  };
  return { clock, started, queue, end };
}

test("a key that is added many times is worked on once", async () => {
  const { queue, started, end } = blocked();
  queue.add("busy");
  for (let i = 0; i < 5; i++) queue.add("a");
  await end("busy");
  await end("a");
  expect(started).toEqual(["busy", "a"]);
  expect(queue.counts()).toEqual({ queued: 0, running: 0, later: 0 });
});

test("a key that is added while it is worked on is worked on once more, afterwards", async () => {
  const { queue, started, end } = blocked(4);
  queue.add("a");
  queue.add("a");
  queue.add("a");
  await settle();
  expect(started).toEqual(["a"]);
  await end("a");
  expect(started).toEqual(["a", "a"]);
  await end("a");
  expect(queue.counts()).toEqual({ queued: 0, running: 0, later: 0 });
});

test("what a person changed goes before retries and drift checks", async () => {
  const { queue, started, end } = blocked();
  queue.add("busy");
  queue.add("drift", "drift");
  queue.add("retry", "retry");
  queue.add("change", "change");
  for (const key of ["busy", "change", "retry", "drift"]) await end(key);
  expect(started).toEqual(["busy", "change", "retry", "drift"]);
});

test("a waiting key moves up when it is added more urgently", async () => {
  const { queue, started, end } = blocked();
  queue.add("busy");
  queue.add("slow", "drift");
  queue.add("other", "retry");
  queue.add("slow", "change");
  for (const key of ["busy", "slow", "other"]) await end(key);
  expect(started).toEqual(["busy", "slow", "other"]);
});

test("a drift check is not starved by a stream of changes", async () => {
  const { queue, started, end } = blocked();
  queue.add("busy");
  queue.add("drift", "drift");
  for (let i = 0; i < 20; i++) queue.add(`c${i}`);
  await end("busy");
  for (let i = 0; i < 20 && !started.includes("drift"); i++) await end(started.at(-1) ?? "");
  expect(started).toContain("drift");
  expect(started.length).toBeLessThan(12);
});

test("a failing key is tried again after 3, 6, 12, 24, 30 and 30 s, and from 3 s again once it succeeded", async () => {
  const { queue, clock, started, end } = blocked();
  queue.add("a");
  for (const seconds of [3, 6, 12, 24, 30, 30]) {
    const before = started.length;
    await end("a", { failed: true });
    await clock.move(seconds * 1000 - 1);
    expect(started.length).toBe(before);
    await clock.move(1);
    expect(started.length).toBe(before + 1);
  }
  await end("a", { failed: false, requeueMs: 1 });
  await clock.move(1);
  await end("a", { failed: true });
  const before = started.length;
  await clock.move(3000);
  expect(started.length).toBe(before + 1);
});

test("a failed key with a time of its own waits for that", async () => {
  const { queue, clock, started, end } = blocked();
  queue.add("a");
  await end("a", { failed: true, requeueMs: 600_000 });
  await clock.move(599_999);
  expect(started).toEqual(["a"]);
  await clock.move(1);
  expect(started).toEqual(["a", "a"]);
});

test("a key that ran for another reason forgets the time it was to be looked at again", async () => {
  const { queue, clock, started, end } = blocked();
  queue.add("a");
  await end("a", { failed: false, requeueMs: 5000 });
  queue.add("a");
  await end("a");
  await clock.move(10_000);
  expect(started).toEqual(["a", "a"]);
  expect(clock.timers).toBe(0);
});

test("at rest there is no timer and no entry", async () => {
  const { queue, clock, end } = blocked();
  for (const key of ["a", "b", "c"]) {
    queue.add(key);
    await end(key);
  }
  expect(clock.timers).toBe(0);
  expect(queue.counts()).toEqual({ queued: 0, running: 0, later: 0 });
});

test("stopping waits for what is worked on and begins nothing new", async () => {
  const { queue, started, end } = blocked();
  queue.add("a");
  queue.add("b");
  let stopped = false;
  const stopping = queue.stop().then(() => {
    stopped = true;
  });
  await settle();
  expect(stopped).toBe(false);
  await end("a");
  await stopping;
  expect(started).toEqual(["a"]);
});

test("work that throws does not lose the key", async () => {
  const clock = new ManualClock();
  let tries = 0;
  const queue = new WorkQueue({
    concurrency: 1,
    clock,
    work: () => {
      tries++;
      throw new Error("bug");
    },
  });
  queue.start();
  queue.add("a");
  await clock.move(3000);
  expect(tries).toBe(2);
});

test("whatever happens, no key is worked on twice at once and none that was added is forgotten", async () => {
  const keys = ["a", "b", "c", "d"];
  const command = fc.oneof(
    fc.record({
      do: fc.constant("add" as const),
      key: fc.constantFrom(...keys),
      priority: fc.constantFrom<Priority>("change", "retry", "drift"),
    }),
    fc.record({
      do: fc.constant("later" as const),
      key: fc.constantFrom(...keys),
      ms: fc.nat(5000),
    }),
    fc.record({
      do: fc.constant("end" as const),
      key: fc.constantFrom(...keys),
      failed: fc.boolean(),
    }),
    fc.record({ do: fc.constant("move" as const), ms: fc.nat(4000) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(command, { maxLength: 40 }),
      fc.integer({ min: 1, max: 3 }),
      async (commands, concurrency) => {
        const clock = new ManualClock();
        const running = new Map<string, (outcome: Outcome) => void>();
        const owed = new Set<string>();
        const queue = new WorkQueue({
          concurrency,
          clock,
          work: (key) => {
            expect(running.has(key)).toBe(false);
            owed.delete(key);
            return new Promise((resolve) => running.set(key, resolve));
          },
        });
        queue.start();
        const end = async (key: string, failed: boolean) => {
          const resolve = running.get(key);
          running.delete(key);
          resolve?.({ failed });
          await settle();
        };
        for (const each of commands) {
          expect(running.size).toBeLessThanOrEqual(concurrency);
          if (each.do === "add") {
            owed.add(each.key);
            queue.add(each.key, each.priority);
          } else if (each.do === "later") queue.addAfter(each.key, each.ms);
          else if (each.do === "end") await end(each.key, each.failed);
          else await clock.move(each.ms);
        }
        for (let i = 0; i < 50 && (owed.size > 0 || running.size > 0); i++)
          for (const key of [...running.keys()]) await end(key, false);
        expect([...owed]).toEqual([]);
      },
    ),
    { numRuns: 100 },
  );
});

test("attack: a tenant with many slow keys leaves workers to the others", async () => {
  const { queue, started, end } = blocked(4, 3);
  for (let i = 0; i < 20; i++) queue.add(`evil/${i}`);
  queue.add("blue/a");
  queue.add("green/a", "drift");
  await settle();
  expect(started).toEqual(["evil/0", "evil/1", "evil/2", "blue/a"]);
  await end("blue/a");
  expect(started.at(-1)).toBe("green/a");
  expect(queue.counts()).toMatchObject({ queued: 17, running: 4 });
  await end("green/a");
  await end("evil/1");
  expect(started.at(-1)).toBe("evil/3");
});

test("whatever is added, no tenant has more than its share, and every key comes in the end", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          key: fc.constantFrom("a/1", "a/2", "a/3", "a/4", "b/1", "b/2", "c"),
          priority: fc.constantFrom<Priority>("change", "retry", "drift"),
          ends: fc.boolean(),
        }),
        { maxLength: 40 },
      ),
      async (steps) => {
        const { queue, started, end } = blocked(3, 2);
        const running: string[] = [];
        let seen = 0;
        const observe = () => {
          for (; seen < started.length; seen++) running.push(started[seen] ?? "");
          expect(running.filter((key) => key.startsWith("a/")).length).toBeLessThanOrEqual(2);
          expect(new Set(running).size).toBe(running.length);
        };
        for (const { key, priority, ends } of steps) {
          queue.add(key, priority);
          await settle();
          observe();
          if (ends && running.length > 0) await end(running.shift() ?? "");
          observe();
        }
        while (running.length > 0) {
          await end(running.shift() ?? "");
          observe();
        }
        expect(queue.counts()).toEqual({ queued: 0, running: 0, later: 0 });
      },
    ),
  );
});

test("what waits for its tenant's others goes in the order of its urgency", async () => {
  const { queue, started, end } = blocked(2, 1);
  queue.add("a/busy");
  queue.add("a/drift", "drift");
  queue.add("a/retry", "retry");
  queue.add("a/change");
  for (const key of ["a/busy", "a/change", "a/retry", "a/drift"]) await end(key);
  expect(started).toEqual(["a/busy", "a/change", "a/retry", "a/drift"]);
});
