import { type Clock, realClock } from "@postern/core/clock.ts";
import { DueHeap } from "@postern/core/due-heap.ts";
import { type Priority, priorities } from "@postern/core/priority.ts";

/** What came of a key: whether it failed, and when to look at it again. */
export interface Outcome {
  failed: boolean;
  /** Look again after this long. Without it a failed key is tried again after its back-off. */
  requeueMs?: number | undefined;
  /** A failed key that is not tried again by itself. */
  parked?: boolean;
  priority?: Priority;
}

/** What the queue tells the metrics. */
export interface QueueObserver {
  added(priority: Priority): void;
  retried(): void;
  depth(priority: Priority, depth: number): void;
  waited(seconds: number): void;
  worked(seconds: number): void;
}

export interface QueueOptions {
  /** How many keys may be worked on at once. Every controller has its own, so that none can starve another. */
  concurrency: number;
  /** How many keys of one tenant may be worked on at once; all where it is not limited. */
  mostOfTenant?: number;
  /** Whose a key is; its namespace where nothing is said. */
  tenantOf?: (key: string) => string;
  work: (key: string, priority: Priority) => Promise<Outcome>;
  clock?: Clock;
  observer?: QueueObserver;
}

const firstBackOffMs = 3_000;
const lastBackOffMs = 30_000;
// One in this many starts goes to the lowest priority that waits, so that nothing waits for ever.
const lowestEvery = 8;

type Lists = Record<Priority, Fifo>;

/** The keys of one tenant that are worked on, and those that wait until fewer are. */
interface Tenant {
  running: number;
  waiting: Lists;
}

interface Entry {
  queued: Priority | undefined;
  addedAt: number;
  running: boolean;
  startedAt: number;
  failures: number;
  /** Whose it is, while it is worked on. */
  tenant?: string;
}

/**
 * The keys that need work. A key is there once, however often it is added; one that is added while it is worked
 * on is worked on once more afterwards; it is never worked on twice at the same time. One tenant's keys, which may all be
 * slow, leave some workers to the others. At rest it holds no timer and no memory of keys but those that wait for their time.
 */
export class WorkQueue {
  readonly #options: QueueOptions;
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  readonly #lists = emptyLists();
  readonly #tenants = new Map<string, Tenant>();
  /** How many keys wait with their tenants. */
  readonly #waiting: Record<Priority, number> = { change: 0, retry: 0, drift: 0 };
  readonly #due = new DueHeap<Priority>();
  #cancelTimer: (() => void) | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #running = 0;
  #starts = 0;
  #started = false;
  #idle: (() => void)[] = [];

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
  }

  /** Begin to work. Keys added before wait until then. */
  start(): void {
    this.#started = true;
    this.#arm();
    this.#pump();
  }

  /** Take no further key up; the answer comes when those that are worked on are done. */
  stop(): Promise<void> {
    this.#started = false;
    this.#cancelTimer?.();
    this.#timerAt = Number.POSITIVE_INFINITY;
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  add(key: string, priority: Priority = "change"): void {
    const entry = this.#entry(key);
    this.#options.observer?.added(priority);
    if (entry.queued !== undefined) {
      if (priorities.indexOf(priority) >= priorities.indexOf(entry.queued)) return;
      // It moves up; the place in the slower list is passed over when its turn comes.
      entry.queued = priority;
      if (!entry.running) this.#enqueue(key, priority);
      return;
    }
    entry.queued = priority;
    entry.addedAt = this.#clock.now();
    if (!entry.running) {
      this.#enqueue(key, priority);
      this.#pump();
    }
  }

  /** Add a key when some time has passed. The earlier of two times holds. */
  addAfter(key: string, ms: number, priority: Priority = "retry"): void {
    if (ms <= 0) {
      this.add(key, priority);
      return;
    }
    this.#due.set(key, this.#clock.now() + ms, priority);
    this.#arm();
  }

  /** Try a key again that has failed after its work was done. */
  retry(key: string): void {
    this.addAfter(key, firstBackOffMs, "retry");
  }

  /** How many keys wait to be worked on, are worked on, and wait for their time. */
  counts(): { queued: number; running: number; later: number } {
    let queued = 0;
    for (const entry of this.#entries.values()) if (entry.queued !== undefined) queued++;
    return { queued, running: this.#running, later: this.#due.size };
  }

  /** The seconds that the keys being worked on have taken so far: all together, and the longest. */
  unfinished(): { total: number; longest: number } {
    let total = 0;
    let longest = 0;
    for (const entry of this.#entries.values()) {
      if (!entry.running) continue;
      const seconds = (this.#clock.now() - entry.startedAt) / 1000;
      total += seconds;
      longest = Math.max(longest, seconds);
    }
    return { total, longest };
  }

  #entry(key: string): Entry {
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = { queued: undefined, addedAt: 0, running: false, startedAt: 0, failures: 0 };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #enqueue(key: string, priority: Priority): void {
    this.#lists[priority].push(key);
    this.#tellDepth(priority);
  }

  #tellDepth(priority: Priority): void {
    this.#options.observer?.depth(priority, this.#lists[priority].size + this.#waiting[priority]);
  }

  #next(): string | undefined {
    const lowestFirst = ++this.#starts % lowestEvery === 0;
    for (const priority of lowestFirst ? priorities.toReversed() : priorities) {
      const list = this.#lists[priority];
      for (let key = list.shift(); key !== undefined; key = list.shift()) {
        this.#tellDepth(priority);
        const entry = this.#entries.get(key);
        if (entry?.queued !== priority || entry.running) continue;
        const tenant = this.#tenants.get(this.#tenantOf(key));
        if (tenant === undefined || tenant.running < this.#mostOfTenant) return key;
        tenant.waiting[priority].push(key);
        this.#waiting[priority]++;
        this.#tellDepth(priority);
      }
    }
    return undefined;
  }

  get #mostOfTenant(): number {
    return this.#options.mostOfTenant ?? Number.POSITIVE_INFINITY;
  }

  #tenantOf(key: string): string {
    return this.#options.tenantOf?.(key) ?? key.slice(0, Math.max(0, key.indexOf("/")));
  }

  /** One of a tenant's keys is done: the most urgent of those that wait for that takes its place in the queue. */
  #freeTenantSlot(name: string): void {
    const tenant = this.#tenants.get(name);
    if (tenant === undefined) return;
    tenant.running--;
    for (const priority of priorities) {
      const list = tenant.waiting[priority];
      for (let key = list.shift(); key !== undefined; key = list.shift()) {
        this.#waiting[priority]--;
        this.#tellDepth(priority);
        const entry = this.#entries.get(key);
        if (entry?.queued !== priority || entry.running) continue;
        this.#enqueue(key, priority);
        return;
      }
    }
    if (tenant.running === 0) this.#tenants.delete(name);
  }

  #pump(): void {
    while (this.#started && this.#running < this.#options.concurrency) {
      const key = this.#next();
      if (key === undefined) return;
      this.#run(key, this.#entry(key));
    }
  }

  #run(key: string, entry: Entry): void {
    const priority = entry.queued ?? "change";
    const now = this.#clock.now();
    entry.queued = undefined;
    entry.running = true;
    entry.startedAt = now;
    this.#running++;
    const name = this.#tenantOf(key);
    const tenant = this.#tenants.get(name) ?? { running: 0, waiting: emptyLists() };
    tenant.running++;
    this.#tenants.set(name, tenant);
    entry.tenant = name;
    // The outcome of this reconcile decides when the key is requeued.
    this.#due.remove(key);
    this.#options.observer?.waited((now - entry.addedAt) / 1000);

    const work = async () => this.#options.work(key, priority);
    work().then(
      (outcome) => this.#ran(key, entry, outcome),
      () => this.#ran(key, entry, { failed: true }),
    );
  }

  #ran(key: string, entry: Entry, outcome: Outcome): void {
    this.#options.observer?.worked((this.#clock.now() - entry.startedAt) / 1000);
    entry.running = false;
    this.#running--;
    this.#freeTenantSlot(entry.tenant ?? "");
    this.#settle(key, entry, outcome);
    if (this.#running === 0 && !this.#started)
      for (const resolve of this.#idle.splice(0)) resolve();
    this.#pump();
  }

  #settle(key: string, entry: Entry, outcome: Outcome): void {
    let requeueMs = outcome.requeueMs;
    if (outcome.failed) {
      this.#options.observer?.retried();
      if (!outcome.parked)
        requeueMs ??= Math.min(lastBackOffMs, firstBackOffMs * 2 ** entry.failures);
      entry.failures++;
    } else entry.failures = 0;

    if (entry.queued !== undefined) {
      this.#enqueue(key, entry.queued);
      return;
    }
    // A failed key keeps its count of failures until it succeeds; others leave nothing behind.
    if (!outcome.failed || outcome.parked) this.#entries.delete(key);
    if (requeueMs !== undefined) this.addAfter(key, requeueMs, outcome.priority ?? "retry");
  }

  #arm(): void {
    const next = this.#due.earliest;
    if (!this.#started || next === undefined || next >= this.#timerAt) return;
    this.#cancelTimer?.();
    this.#timerAt = next;
    this.#cancelTimer = this.#clock.after(Math.max(0, next - this.#clock.now()), () => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      for (const { key, value } of this.#due.takeUntil(this.#clock.now())) this.add(key, value);
      this.#arm();
    });
  }
}

function emptyLists(): Lists {
  return { change: new Fifo(), retry: new Fifo(), drift: new Fifo() };
}

/** First in, first out, without moving what is left on every take. */
class Fifo {
  #items: (string | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: string): void {
    this.#items.push(item);
  }

  shift(): string | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
