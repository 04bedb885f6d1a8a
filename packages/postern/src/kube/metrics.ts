import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "@prometheus-io/client";
import type { Sent } from "./client.ts";
import type { QueueObserver, WorkQueue } from "./queue.ts";

/** How a reconcile ended, in controller-runtime's words. */
export type Result = "success" | "error" | "requeue" | "requeue_after";

const results: readonly Result[] = ["success", "error", "requeue", "requeue_after"];
const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1,
  1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
const queueBuckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000];

/**
 * Keeps the number of time series bounded: a tenant can make up values of a label, and each is remembered until the process
 * ends. Values after the first so many are counted together as `other`.
 */
export function boundedLabel(most: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= most || value.length > longestLabel) return "other";
    known.add(value);
    return value;
  };
}

const longestLabel = 256;

/** What one controller counts. */
export interface ControllerMetrics {
  reconciled(result: Result, seconds: number): void;
  driftCorrected(): void;
  terminal(): void;
  panicked(): void;
  timedOut(): void;
  unhandledRejection(): void;
  reconciling(by: 1 | -1): void;
  queue: QueueObserver;
}

/** The numbers of a process, under the names that dashboards for controller-runtime read. */
export class Metrics {
  readonly registry = new Registry();
  readonly #controllers = new Map<string, WorkQueue>();
  readonly #reconciles = this.#counter(
    "controller_runtime_reconcile_total",
    "Reconciles of an object",
    ["controller", "result"],
  );
  readonly #errors = this.#counter(
    "controller_runtime_reconcile_errors_total",
    "Reconciles that failed",
    ["controller"],
  );
  readonly #terminal = this.#counter(
    "controller_runtime_terminal_reconcile_errors_total",
    "Reconciles that failed for good: only a change of the object helps",
    ["controller"],
  );
  readonly #panics = this.#counter(
    "controller_runtime_reconcile_panics_total",
    "Reconciles ended by a bug",
    ["controller"],
  );
  readonly #timeouts = this.#counter(
    "controller_runtime_reconcile_timeouts_total",
    "Reconciles that took too long",
    ["controller"],
  );
  readonly #drift = this.#counter(
    "postern_drift_corrected_total",
    "Drift checks that found a difference and began to correct it",
    ["controller"],
  );
  readonly #unhandledRejections = this.#counter(
    "postern_unhandled_rejections_total",
    "Promises that were rejected without a handler, each a bug; the controller is `unknown` outside a reconcile",
    ["controller"],
  );
  readonly #reconcileSeconds = new Histogram({
    name: "controller_runtime_reconcile_time_seconds",
    help: "How long a reconcile took",
    labelNames: ["controller"],
    buckets: reconcileBuckets,
    registers: [this.registry],
  });
  readonly #maxWorkers = this.#gauge(
    "controller_runtime_max_concurrent_reconciles",
    "Reconciles that may run at once",
    ["controller"],
  );
  readonly #workers = this.#gauge("controller_runtime_active_workers", "Reconciles running now", [
    "controller",
  ]);
  readonly #depth = this.#gauge("workqueue_depth", "Keys that wait", [
    "name",
    "controller",
    "priority",
  ]);
  readonly #adds = this.#counter("workqueue_adds_total", "Keys added", ["name", "controller"]);
  readonly #retries = this.#counter("workqueue_retries_total", "Keys tried again", [
    "name",
    "controller",
  ]);
  readonly #waitSeconds = new Histogram({
    name: "workqueue_queue_duration_seconds",
    help: "How long a key waited",
    labelNames: ["name", "controller"],
    buckets: queueBuckets,
    registers: [this.registry],
  });
  readonly #workSeconds = new Histogram({
    name: "workqueue_work_duration_seconds",
    help: "How long a key was worked on",
    labelNames: ["name", "controller"],
    buckets: queueBuckets,
    registers: [this.registry],
  });
  readonly #leader = this.#gauge("leader_election_master_status", "1 where this process leads", [
    "name",
  ]);
  readonly #requests = this.#counter(
    "rest_client_requests_total",
    "Requests to the Kubernetes API",
    ["code", "method", "host"],
  );
  readonly #requestChildren = new Map<string, { inc(): void }>();

  constructor(options: { processMetrics?: boolean } = {}) {
    if (options.processMetrics) collectDefaultMetrics({ register: this.registry });
    this.unhandledRejection(0);
    const controllers = this.#controllers;
    for (const which of ["total", "longest"] as const)
      new Gauge({
        name:
          which === "total"
            ? "workqueue_unfinished_work_seconds"
            : "workqueue_longest_running_processor_seconds",
        help:
          which === "total"
            ? "Seconds that the reconciles running now have taken together"
            : "Seconds that the longest reconcile running now has taken",
        labelNames: ["name", "controller"],
        registers: [this.registry],
        collect() {
          for (const [name, queue] of controllers)
            this.set({ name, controller: name }, queue.unfinished()[which]);
        },
      });
  }

  /** The numbers of one controller, every one of them there from the start. */
  controller(name: string, concurrency: number): ControllerMetrics {
    const byController = { controller: name };
    const byName = { name, controller: name };
    const reconciles = Object.fromEntries(
      results.map((result) => [result, this.#reconciles.labels({ controller: name, result })]),
    ) as Record<Result, { inc(by?: number): void }>;
    for (const child of Object.values(reconciles)) child.inc(0);
    const errors = this.#errors.labels(byController);
    const terminal = this.#terminal.labels(byController);
    const panics = this.#panics.labels(byController);
    const timeouts = this.#timeouts.labels(byController);
    const rejections = this.#unhandledRejections.labels(byController);
    const drift = this.#drift.labels(byController);
    for (const child of [errors, terminal, panics, timeouts, rejections, drift]) child.inc(0);
    const seconds = this.#reconcileSeconds.labels(byController);
    this.#maxWorkers.labels(byController).set(concurrency);
    const workers = this.#workers.labels(byController);
    workers.set(0);
    const adds = this.#adds.labels(byName);
    const retries = this.#retries.labels(byName);
    adds.inc(0);
    retries.inc(0);
    const wait = this.#waitSeconds.labels(byName);
    const work = this.#workSeconds.labels(byName);
    const depth = {
      change: this.#depth.labels({ ...byName, priority: "change" }),
      retry: this.#depth.labels({ ...byName, priority: "retry" }),
      drift: this.#depth.labels({ ...byName, priority: "drift" }),
    };
    for (const child of Object.values(depth)) child.set(0);
    return {
      driftCorrected: () => drift.inc(),
      reconciled(result, took) {
        reconciles[result].inc();
        if (result === "error") errors.inc();
        seconds.observe(took);
      },
      terminal: () => terminal.inc(),
      panicked: () => panics.inc(),
      timedOut: () => timeouts.inc(),
      unhandledRejection: () => rejections.inc(),
      reconciling: (by) => workers.inc(by),
      queue: {
        added: () => adds.inc(),
        retried: () => retries.inc(),
        depth: (priority, keys) => depth[priority].set(keys),
        waited: (took) => wait.observe(took),
        worked: (took) => work.observe(took),
      },
    };
  }

  /** Ask this queue, whenever somebody reads the page, for what is still being worked on. */
  watchQueue(name: string, queue: WorkQueue): void {
    this.#controllers.set(name, queue);
  }

  /** Count a promise that was rejected outside any reconcile. */
  unhandledRejection(by = 1): void {
    this.#unhandledRejections.labels({ controller: "unknown" }).inc(by);
  }

  leading(name: string, leads: boolean): void {
    this.#leader.labels({ name }).set(leads ? 1 : 0);
  }

  /** Count requests to one API server. */
  requests(host: string): (sent: Sent) => void {
    return ({ code, method }) => {
      const id = `${code} ${method} ${host}`;
      let child = this.#requestChildren.get(id);
      if (!child) {
        child = this.#requests.labels({ code, method, host });
        this.#requestChildren.set(id, child);
      }
      child.inc();
    };
  }

  #counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  #gauge<L extends string>(name: string, help: string, labelNames: L[]): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }
}
