import { type Clock, realClock } from "../model/clock.ts";
import type { Kind, KubeObject } from "../model/kind.ts";
import { Caches } from "./caches.ts";
import type { KubeClient } from "./client.ts";
import { Controller, defaultConcurrency, type Feature } from "./controller.ts";
import { Events } from "./events.ts";
import type { Check } from "./health.ts";
import { Lease } from "./lease.ts";
import type { Log } from "./log.ts";
import { Metrics } from "./metrics.ts";

/** Another kind whose changes matter to a feature, and the keys that each change wakes. */
export interface Also<T extends KubeObject = KubeObject> {
  kind: Kind<T>;
  metadataOnly?: boolean;
  /** Which keys a changed object concerns. Asked for the object before and after the change. */
  keys(object: T): string[];
}

/** A feature and what else it looks at. Made with the caches, because `see` reads from them. */
export type MakeFeature = (caches: Caches) => { feature: Feature; also?: readonly Also[] };

export interface RuntimeOptions {
  client: KubeClient;
  features: readonly MakeFeature[];
  log: Log;
  /** Only this namespace; all of them when absent. */
  namespace?: string | undefined;
  /** The Lease by which one process leads; without it this one leads from the start. */
  lease?: { namespace: string; name: string; identity: string } | undefined;
  metrics?: Metrics;
  clock?: Clock;
  /** Who we are, in events. */
  instance?: string;
}

const silentWatchMs = 10 * 60_000;

/** The controllers of a process, from the first list to the last write. */
export class Runtime {
  readonly caches: Caches;
  readonly controllers: Controller[] = [];
  readonly metrics: Metrics;
  readonly lease: Lease | undefined;
  readonly #options: RuntimeOptions;
  readonly #clock: Clock;
  #alone = false;
  #begun = false;

  constructor(options: RuntimeOptions) {
    const { client, log } = options;
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    const clock = this.#clock;
    this.metrics = options.metrics ?? new Metrics();
    this.caches = new Caches({ client, log, namespace: options.namespace, clock });
    if (options.lease) this.lease = new Lease({ ...options.lease, client, log, clock });
    const instance = options.instance ?? options.lease?.identity ?? "postern";
    const events = new Events({ client, log, clock, instance });
    for (const make of options.features) {
      const { feature, also = [] } = make(this.caches);
      const controller = new Controller(feature, {
        client,
        events,
        log,
        clock,
        cache: this.caches.of(feature.kind),
        metrics: this.metrics.controller(feature.name, feature.concurrency ?? defaultConcurrency),
        mayWrite: () => this.mayWrite(),
      });
      this.metrics.watchQueue(feature.name, controller.queue);
      this.controllers.push(controller);
      for (const other of also) this.#wakeOn(other, controller);
    }
  }

  /** Whether this process may write now. */
  mayWrite(): boolean {
    return this.lease ? this.lease.mayWrite() : this.#alone;
  }

  /** Whether the controllers are at work here, and not in another process. */
  get leading(): boolean {
    return this.#begun;
  }

  /** Fill the caches, lead when it is our turn, and work until the signal says stop. */
  async run(signal: AbortSignal): Promise<void> {
    const caches = this.caches.all();
    const watching = caches.map((cache) => cache.run(signal));
    const stopped = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    await Promise.race([Promise.all(caches.map((cache) => cache.filled)), stopped]);
    if (!signal.aborted) {
      const lead = { begin: () => this.#begin(), end: () => this.#end() };
      if (this.lease) await this.lease.run(signal, lead);
      else {
        this.#alone = true;
        lead.begin();
        await stopped;
        await lead.end();
        this.#alone = false;
      }
    }
    await Promise.all(watching);
  }

  /** Is this process alive: has every watch that was ever filled heard something lately? */
  healthChecks(): Check[] {
    return this.caches.all().map((cache) => ({
      name: `watch-${cache.kind.plural}`,
      check: () => {
        const { filled, heardAt } = cache.health();
        const silentMs = this.#clock.now() - heardAt;
        return filled && silentMs > silentWatchMs
          ? { ok: false, note: `nothing heard for ${Math.round(silentMs / 1000)} s` }
          : { ok: true };
      },
    }));
  }

  /** Is this process of use: are the caches filled, and who leads? */
  readyChecks(): Check[] {
    const caches = this.caches.all().map(
      (cache): Check => ({
        name: `cache-${cache.kind.plural}`,
        check: () => {
          const { filled, objects, failure } = cache.health();
          return { ok: filled, note: filled ? `${objects} objects` : (failure ?? "being filled") };
        },
      }),
    );
    const role: Check = {
      name: "leader",
      check: () => {
        if (!this.lease) return { ok: true, note: "alone" };
        return {
          ok: true,
          note: this.leading ? "leading" : `following ${this.lease.holder ?? "nobody yet"}`,
        };
      },
    };
    return [...caches, role];
  }

  #wakeOn(other: Also, controller: Controller): void {
    const cache = this.caches.of(other.kind, other.metadataOnly ? { metadataOnly: true } : {});
    cache.onChange(({ before, after }) => {
      // Both, because a change may take an object away from one key and give it to another.
      const keys = new Set([
        ...(before ? other.keys(before) : []),
        ...(after ? other.keys(after) : []),
      ]);
      for (const key of keys) controller.queue.add(key);
    });
  }

  #begin(): void {
    this.#begun = true;
    this.metrics.leading(this.#options.lease?.name ?? "alone", true);
    for (const controller of this.controllers) controller.begin();
  }

  async #end(): Promise<void> {
    this.#begun = false;
    this.metrics.leading(this.#options.lease?.name ?? "alone", false);
    await Promise.all(this.controllers.map((controller) => controller.end()));
  }
}
