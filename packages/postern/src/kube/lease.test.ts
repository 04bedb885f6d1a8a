import type { KubeObject } from "@postern/core/kind.ts";
import { expect, onTestFinished, test, vi } from "vitest";
import { Machine } from "../../../../test/kube/machine.ts";
import { ManualClock, settle } from "../../../../test/manual-clock.ts";
import { fc } from "../../../../test/setup/random.ts";
import { KubeError } from "./errors.ts";
import { Lease, type LeaseOptions } from "./lease.ts";
import { silentLog } from "./log.ts";

/** How a network treats a request: how long each way takes, and what never arrives. */
type Network = (machine: Machine) => {
  thereMs: number;
  backMs: number;
  loses?: "request" | "answer" | undefined;
};

interface LeaseBody extends KubeObject {
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number };
}

/** A Lease, an API server that keeps it, and processes that want to hold it, on simulated machines. */
class World {
  readonly clock = new ManualClock();
  readonly candidates: {
    machine: Machine;
    lease: Lease;
    terms: number;
    ends: number;
    stop: () => void;
  }[] = [];
  network: Network = () => ({ thereMs: 5, backMs: 5 });
  stored: LeaseBody | undefined;
  requests: string[] = [];
  #version = 0;
  #last = { leader: -1, term: 0, at: Number.NEGATIVE_INFINITY };
  /** The shortest time for which nobody could write when the leader changed. */
  shortestGapMs = Number.POSITIVE_INFINITY;

  add(rate = 1, options: Partial<LeaseOptions> = {}): void {
    const machine = new Machine(this.clock, rate);
    const lease = new Lease({
      client: this.#clientOn(machine),
      namespace: "postern",
      name: "postern",
      identity: String(this.candidates.length),
      clock: machine,
      log: silentLog,
      ...options,
    });
    const stop = new AbortController();
    const candidate = { machine, lease, terms: 0, ends: 0, stop: () => stop.abort() };
    this.candidates.push(candidate);
    void lease.run(stop.signal, {
      begin: () => void candidate.terms++,
      end: async () => void candidate.ends++,
    });
  }

  /** Move the clock on; after each thing that happens at most one may write. */
  async move(ms: number): Promise<void> {
    const end = this.clock.now() + ms;
    do {
      await settle();
      this.check();
    } while (this.clock.step(end));
    await settle();
    this.check();
  }

  async goOn(machine: Machine): Promise<void> {
    for (const each of machine.goOn()) {
      this.check();
      each();
      await settle();
    }
    this.check();
  }

  check(): void {
    const writers = this.candidates.flatMap(({ machine, lease }, index) =>
      machine.runs && lease.mayWrite() ? [index] : [],
    );
    expect(writers.length, `${writers} may write at once`).toBeLessThanOrEqual(1);
    const [leader] = writers;
    if (leader === undefined) return;
    const term = this.candidates[leader]?.terms ?? 0;
    const now = this.clock.now();
    if (this.#last.leader !== leader && this.#last.leader >= 0)
      this.shortestGapMs = Math.min(this.shortestGapMs, now - this.#last.at);
    if (this.#last.leader !== leader) this.#termsSeen(leader, term);
    this.#last = { leader, term, at: now };
  }

  readonly #seenTerms = new Map<number, number>();

  /** Who comes to lead after another begins a new term. */
  #termsSeen(leader: number, term: number): void {
    expect(term, `${leader} goes on with an old term`).toBeGreaterThan(
      this.#seenTerms.get(leader) ?? 0,
    );
    this.#seenTerms.set(leader, term);
  }

  #clientOn(machine: Machine): LeaseOptions["client"] {
    const send = <T>(what: string, serve: () => T, signal?: AbortSignal): Promise<T> => {
      const { thereMs, backMs, loses } = this.network(machine);
      return new Promise((resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        if (loses === "request") return;
        this.clock.after(thereMs, () => {
          let answer: () => void;
          try {
            const value = serve();
            answer = () => resolve(value);
          } catch (error) {
            answer = () => reject(error);
          }
          this.requests.push(what);
          if (loses === "answer") return;
          this.clock.after(backMs, () => machine.notice(answer));
        });
      });
    };
    const store = (object: KubeObject) => {
      const metadata = { ...object.metadata, resourceVersion: String(++this.#version) };
      this.stored = { ...object, metadata } as LeaseBody;
      return this.stored;
    };
    const refuse = () => {
      throw new KubeError("Conflict", "somebody was faster", { status: 409 });
    };
    return {
      get: (_place, signal) => send("GET", () => this.stored as never, signal),
      create: (_kind, object, signal) =>
        send("POST", () => (this.stored ? refuse() : (store(object) as never)), signal),
      replace: (_kind, object, signal) =>
        send(
          "PUT",
          () =>
            object.metadata.resourceVersion === this.stored?.metadata.resourceVersion
              ? (store(object) as never)
              : refuse(),
          signal,
        ),
    };
  }
}

/** Numbers that look random and are the same for the same seed (a linear congruential generator). */
function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function seedJitter(seed: number): () => number {
  const random = numbersFrom(seed);
  const spy = vi.spyOn(Math, "random").mockImplementation(random);
  onTestFinished(() => spy.mockRestore());
  return random;
}

test.each([0.1, 2, 5, 6])(
  "with %d s for each request the leader keeps its lease and may always write",
  async (seconds) => {
    seedJitter(1);
    const world = new World();
    world.network = () => ({ thereMs: seconds * 1000, backMs: 0 });
    world.add();
    world.add();
    await world.move(60_000);
    const leader = world.candidates.find(({ terms }) => terms > 0);
    for (let i = 0; i < 1_200; i++) {
      await world.move(100);
      expect(leader?.lease.mayWrite()).toBe(true);
    }
    expect(world.candidates.map(({ terms, ends }) => terms - ends).sort()).toEqual([0, 1]);
  },
);

test("an answer that is slower than the fence stops the writes, and not the term", async () => {
  seedJitter(1);
  const world = new World();
  world.network = () => ({ thereMs: 0, backMs: 9_000 });
  world.add();
  let mayNot = 0;
  await world.move(30_000);
  for (let i = 0; i < 600; i++) {
    await world.move(100);
    if (!world.candidates[0]?.lease.mayWrite()) mayNot++;
  }
  expect(world.candidates[0]).toMatchObject({ terms: 1, ends: 0 });
  expect(mayNot).toBeGreaterThan(0);
});

test("the leader renews with one request", async () => {
  seedJitter(1);
  const world = new World();
  world.add();
  await world.move(5_000);
  world.requests = [];
  await world.move(20_000);
  expect(new Set(world.requests)).toEqual(new Set(["PUT"]));
  expect(world.requests).toHaveLength(10);
});

test("a renewal whose answer is lost is read again, and the term goes on", async () => {
  seedJitter(1);
  const world = new World();
  const usual = world.network;
  world.add();
  await world.move(3_900);
  world.network = () => ({ thereMs: 5, backMs: 5, loses: "answer" });
  await world.move(300);
  // The request is under way: it ends with the renew deadline, unless the connection breaks before.
  world.network = usual;
  await world.move(30_000);
  expect(world.candidates[0]?.lease.mayWrite()).toBe(true);
  expect(world.stored?.spec?.holderIdentity).toBe("0");
});

test("a lease of half a second is written as a whole second, and its holder counts by its own time", async () => {
  seedJitter(1);
  const world = new World();
  world.add(1, { leaseDurationMs: 500, renewDeadlineMs: 300, retryPeriodMs: 100 });
  await world.move(2_000);
  expect(world.stored?.spec?.leaseDurationSeconds).toBe(1);
  world.network = () => ({ thereMs: 5, backMs: 5, loses: "request" });
  await world.move(320);
  expect(world.candidates[0]?.lease.mayWrite()).toBe(false);
});

test("a process that was frozen while another led begins a new term, even if nobody leads any more", async () => {
  seedJitter(1);
  const world = new World();
  world.add();
  await world.move(5_000);
  world.add();
  await world.move(5_000);
  const [first, second] = world.candidates;
  first?.machine.stop("asleep");
  await world.move(40_000);
  expect(second?.lease.mayWrite()).toBe(true);
  second?.stop();
  await world.move(1_000);
  if (first) await world.goOn(first.machine);
  await world.move(10_000);
  expect(first).toMatchObject({ terms: 2, ends: 1 });
  expect(first?.lease.mayWrite()).toBe(true);
});

/** Something that goes wrong for one of them, for a while. */
const trouble = fc.record({
  who: fc.nat(2),
  afterMs: fc.integer({ min: 0, max: 20_000 }),
  forMs: fc.oneof(fc.integer({ min: 100, max: 12_000 }), fc.integer({ min: 15_000, max: 40_000 })),
  what: fc.constantFrom(
    ...(["frozen", "asleep", "slow there", "slow back", "request", "answer"] as const),
  ),
});

test("two never may write at once, whatever is delayed, lost, frozen or asleep", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.array(fc.constantFrom(0.97, 1, 1.03), { minLength: 2, maxLength: 3 }),
      fc.array(trouble, { minLength: 1, maxLength: 10 }),
      async (seed, rates, troubles) => {
        const random = seedJitter(seed);
        const world = new World();
        for (const rate of rates) world.add(rate);
        const current = new Set<(typeof troubles)[number]>();
        world.network = (machine) => {
          const its = [...current].filter(({ who }) => world.candidates[who]?.machine === machine);
          const has = (what: string) => its.some((each) => each.what === what);
          const loses = (["request", "answer"] as const).find((each) => has(each));
          return {
            thereMs: random() * (has("slow there") ? 12_000 : 500),
            backMs: random() * (has("slow back") ? 12_000 : 500),
            loses: random() < 0.8 ? loses : undefined,
          };
        };
        for (const each of troubles) {
          await world.move(each.afterMs);
          const { what, who, forMs } = each;
          const machine = world.candidates[who]?.machine;
          if (what !== "frozen" && what !== "asleep") {
            current.add(each);
            world.clock.after(forMs, () => current.delete(each));
          } else if (machine?.runs) {
            machine.stop(what);
            await world.move(forMs);
            await world.goOn(machine);
          }
        }
        current.clear();
        await world.move(60_000);
        // Others count from when they observed the last renewal, so some time is left to requests under way.
        expect(world.shortestGapMs).toBeGreaterThan(1_000);
        expect(world.candidates.filter(({ lease }) => lease.mayWrite())).toHaveLength(1);
      },
    ),
    { numRuns: 200 },
  );
}, 60_000);
