import { type Clock, dateBy, realClock } from "@postern/core/clock.ts";
import type { Kind, KubeObject } from "@postern/core/kind.ts";
import type { WatchCache } from "./cache.ts";
import { type CacheShape, Caches } from "./caches.ts";
import type { KubeClient } from "./client.ts";
import { Controller, type DriftChecks, defaultConcurrency } from "./controller.ts";
import { EventRecorder } from "./events.ts";
import type { Feature } from "./feature.ts";
import type { Check } from "./health.ts";
import type { Journal } from "./journal.ts";
import { type ElectionTimes, Lease } from "./lease.ts";
import type { Log } from "./log.ts";
import { Metrics } from "./metrics.ts";
import type { StepPolicy } from "./step-policy.ts";

/** Another kind whose changes matter to a feature, and the keys that each change requeues. */
export interface WatchedKind<T extends KubeObject = KubeObject> extends CacheShape {
  kind: Kind<T>;
  /** Which keys a changed object concerns. Asked for the object before and after the change; one that is gone is being deleted. */
  keys(object: T): string[];
}

/** What a feature is made with: the caches that `observe` reads from, and a client that writes only while we lead. */
export interface Parts {
  caches: Caches;
  kube: KubeClient;
}

/** A feature, and the other kinds that it watches. */
export interface Made {
  feature: Feature;
  watches?: readonly WatchedKind[];
  /**
   * The process is of use without it: where its kinds are not served it waits for them, and is ready all the same. `expected`:
   * it was switched on, so that a person is told what it waits for.
   */
  whereServed?: "expected" | "optional";
}

export type MakeFeature = (parts: Parts) => Made;

/** The same feature, for clusters that may not know its kinds. */
export function whereServed(
  make: MakeFeature,
  how: NonNullable<Made["whereServed"]> = "optional",
): MakeFeature {
  return (parts) => ({ ...make(parts), whereServed: how });
}

export interface RuntimeOptions {
  client: KubeClient;
  features: readonly MakeFeature[];
  log: Log;
  /** Only this namespace; all of them when absent. */
  namespace?: string | undefined;
  /** What may be written. Default: everything. */
  policy?: StepPolicy | undefined;
  /** The Lease by which one process leads; without it this one leads from the start. */
  lease?:
    | ({ namespace: string; name: string; identity: string } & Partial<ElectionTimes>)
    | undefined;
  /** Called before the controllers begin, each time this process becomes the leader. */
  onElected?: () => void;
  metrics?: Metrics;
  journal?: Journal | undefined;
  clock?: Clock;
  /** Who we are, in events. */
  instance?: string;
  /** How often so many objects are checked for drift; every 5 minutes where nothing is said. */
  drift?: { ms(objects: number): number; checked(): void } | undefined;
}

const silentWatchMs = 10 * 60_000;

/** The controllers of a process, from the first list to the last write. */
export class Runtime {
  readonly caches: Caches;
  readonly controllers: Controller[] = [];
  readonly metrics: Metrics;
  readonly lease: Lease | undefined;
  /** What may be written; everything where it is absent. */
  readonly policy: StepPolicy | undefined;
  readonly #options: RuntimeOptions;
  readonly #clock: Clock;
  readonly #leaseClient: KubeClient | undefined;
  /** The caches that must be filled before a controller begins, and those that it waits for but can do without. */
  readonly #needs = new Map<Controller, ReadonlyMap<WatchCache, boolean>>();
  #alone = false;
  /** Which term of leading this is; 0 while another leads. */
  #begun = 0;
  #terms = 0;
  #endedAt: string | undefined;

  constructor(options: RuntimeOptions) {
    const { client, log } = options;
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    const clock = this.#clock;
    this.policy = options.policy;
    this.metrics = options.metrics ?? new Metrics();
    this.caches = new Caches({ client, log, namespace: options.namespace, clock });
    client.guard(() => this.mayWrite());
    if (options.lease) {
      // On sockets of its own, so that a renewal never waits behind a thousand status writes.
      this.#leaseClient = client.apart(2);
      this.lease = new Lease({ ...options.lease, client: this.#leaseClient, log, clock });
    }
    const instance = options.instance ?? options.lease?.identity ?? "postern";
    const events = new EventRecorder({ client, log, clock, instance });
    for (const make of options.features) this.#add(make, events);
  }

  #add(make: MakeFeature, events: EventRecorder): void {
    const { client, log } = this.#options;
    this.caches.takeRequested();
    const { feature, watches = [], whereServed } = make({ caches: this.caches, kube: client });
    const controller = new Controller(feature, {
      client,
      events,
      log,
      clock: this.#clock,
      cache: this.caches.of(feature.kind),
      journal: this.#options.journal,
      metrics: this.metrics.controller(feature.name, feature.concurrency ?? defaultConcurrency),
      mayWrite: () => this.mayWrite(),
      policy: this.policy,
      drift: this.#driftChecks(),
    });
    this.metrics.watchQueue(feature.name, controller.queue);
    this.controllers.push(controller);
    for (const other of watches) this.#wakeOn(other, controller);
    const requested = this.caches.takeRequested();
    this.#needs.set(controller, requested);
    for (const [cache, needed] of requested) if (needed && !whereServed) this.caches.need(cache);
  }

  #driftChecks(): DriftChecks | undefined {
    const { drift } = this.#options;
    if (drift === undefined) return undefined;
    const objects = () => this.controllers.reduce((sum, each) => sum + each.objects, 0);
    return { intervalMs: () => drift.ms(objects()), checked: () => drift.checked() };
  }

  /** Whether this process may write now. */
  mayWrite(): boolean {
    return this.lease ? this.lease.mayWrite() : this.#alone;
  }

  /** Reconcile these objects now and with fresh reads, whichever controllers they have. */
  request(keys: Iterable<string>): void {
    for (const key of keys) for (const controller of this.controllers) controller.request(key);
  }

  /** When this process, or whoever holds the Lease, led last; undefined while it leads without a Lease. */
  get ledAt(): string | undefined {
    return this.lease?.renewedAt ?? this.#endedAt;
  }

  /** Whether the controllers run in this process, and not in another. */
  get leading(): boolean {
    return this.#begun > 0;
  }

  /** Fill the caches, acquire the lease, and reconcile until the signal aborts. A kind that is not served delays
   * only the controllers that need it. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.caches.start(signal), this.#leadUntil(signal)]);
  }

  async #leadUntil(signal: AbortSignal): Promise<void> {
    const leadership = { begin: () => this.#begin(), end: () => this.#end() };
    if (this.lease) await this.lease.run(signal, leadership);
    else {
      this.#alone = true;
      leadership.begin();
      await aborted(signal);
      await leadership.end();
      this.#alone = false;
    }
    this.#leaseClient?.close();
  }

  /** Liveness: whether every open watch has received something lately. */
  healthChecks(): Check[] {
    return this.caches.all().map((cache) => ({
      name: `watch-${cache.kind.plural}`,
      check: () => {
        const { connected, heardAt } = cache.health();
        const silentMs = this.#clock.now() - heardAt;
        // One that is trying to connect is alive; a restart would not help it.
        return connected && silentMs > silentWatchMs
          ? { ok: false, note: `nothing heard for ${Math.round(silentMs / 1000)} s` }
          : { ok: true };
      },
    }));
  }

  /** Readiness: whether the caches are filled, and who the leader is. */
  readyChecks(): Check[] {
    const caches = this.caches.all().map(
      (cache): Check => ({
        name: `cache-${cache.kind.plural}`,
        check: () => {
          const { filled, isServed, objects, failure } = cache.health();
          const isNeeded = this.caches.isNeeded(cache);
          // Also one whose CRD was deleted after it was filled: its objects are only what was last known.
          if (!isServed)
            return {
              ok: !isNeeded,
              note: isNeeded ? "not served" : "not served, waiting for its CRD",
            };
          const note = filled ? `${objects} objects` : (failure ?? "being filled");
          return { ok: filled || (!isNeeded && failure !== undefined), note };
        },
      }),
    );
    const role: Check = {
      name: "leader",
      check: () => {
        if (!this.lease) return { ok: this.leading, note: this.leading ? "alone" : "not leading" };
        // Who cannot ask the API server neither leads nor follows.
        if (this.lease.failure !== undefined) return { ok: false, note: this.lease.failure };
        return {
          ok: true,
          note: this.leading ? "leading" : `following ${this.lease.holder ?? "nobody yet"}`,
        };
      },
    };
    return [...caches, role];
  }

  #wakeOn(other: WatchedKind, controller: Controller): void {
    const { kind, keys: _, ...shape } = other;
    const cache = this.caches.of(kind, shape);
    cache.onChange(({ before, after }) => {
      // Both, because a change may take an object away from one key and give it to another.
      const keys = new Set([
        ...(before ? other.keys(after ? before : asDeleted(before)) : []),
        ...(after ? other.keys(after) : []),
      ]);
      for (const key of keys) controller.wake(key);
    });
  }

  #begin(): void {
    const term = ++this.#terms;
    this.#begun = term;
    this.#options.onElected?.();
    this.metrics.leading(this.#options.lease?.name ?? "alone", true);
    for (const controller of this.controllers) {
      const filled = [...(this.#needs.get(controller) ?? [])].map(([cache, needed]) =>
        needed ? cache.filled : cache.known,
      );
      Promise.all(filled)
        .then(() => {
          if (this.#begun === term) controller.begin();
        })
        .catch((err: unknown) =>
          this.#options.log.error({ controller: controller.feature.name, err }, "not begun"),
        );
    }
  }

  async #end(): Promise<void> {
    this.#begun = 0;
    this.#endedAt = dateBy(this.#clock).toISOString();
    this.metrics.leading(this.#options.lease?.name ?? "alone", false);
    await Promise.all(this.controllers.map((controller) => controller.end()));
  }
}

/** Without a finalizer an object has never been observed as being deleted. */
function asDeleted(object: KubeObject): KubeObject {
  const deletionTimestamp = new Date(0).toISOString();
  return { ...object, metadata: { deletionTimestamp, ...object.metadata } };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
