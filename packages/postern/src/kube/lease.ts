import { type Clock, dateBy, realClock, wait } from "@postern/core/clock.ts";
import { isExplained } from "@postern/core/failure.ts";
import type { Kind, KubeObject } from "@postern/core/kind.ts";
import { redact } from "@postern/core/redact.ts";
import type { KubeClient } from "./client.ts";
import { KubeError } from "./errors.ts";
import { micro } from "./events.ts";
import type { Log } from "./log.ts";

/** A Lease, as far as leader election goes by it. */
export interface LeaseObject extends KubeObject {
  spec?: {
    holderIdentity?: string | null;
    leaseDurationSeconds?: number;
    acquireTime?: string | null;
    renewTime?: string | null;
    leaseTransitions?: number;
  };
}

/** coordination.k8s.io/v1 Lease. */
export const leaseKind: Kind<LeaseObject> = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
};

/** The Leases of the product's processes, by their role. Those who serve different things must not wait for each other. */
export const leaseNames = {
  all: "postern-operator",
  management: "postern-operator",
  "control-plane": "postern-control-plane",
  "cluster-api": "postern-cluster-api",
} as const;

/** The times of leader election, as client-go has them. */
export interface ElectionTimes {
  /** How long others wait, after they observed the last renewal, before they take the lease over. */
  leaseDurationMs: number;
  /** How long the leader goes on trying to renew, after the last renewal that succeeded, before it stops leading. */
  renewDeadlineMs: number;
  /** The time from one try to the next. */
  retryPeriodMs: number;
}

/** client-go's defaults. */
export const defaultElectionTimes: ElectionTimes = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};

/** By how much of a retry period candidates are spread at most; client-go's JitterFactor. */
export const retryJitter = 1.2;

const never = { monotonic: Number.NEGATIVE_INFINITY, timeOfDay: Number.NEGATIVE_INFINITY };

export interface LeaseOptions extends Partial<ElectionTimes> {
  client: Pick<KubeClient, "get" | "create" | "replace">;
  namespace: string;
  name: string;
  /** Who we are: different for every process. */
  identity: string;
  log: Log;
  clock?: Clock;
}

/**
 * One leader among many processes, by a Lease.
 *
 * The leader renews with one write that carries the resourceVersion of its previous one, and reads the Lease only after
 * a conflict or an error. Such a write succeeds only if nobody else wrote in between, so it proves that nobody else led.
 *
 * Two times follow from a renewal that was sent at `sent` and answered at `answered`:
 *
 * - Others count leaseDuration from the moment at which they observed the renewal. They cannot observe it before it was
 *   sent, but they can before we have the answer: an answer may be late by any amount. So nobody takes over before
 *   `sent + leaseDuration`, and nothing of the kind holds for `answered + leaseDuration`. The fence (`mayWrite`) therefore
 *   ends before the first; half of what leaseDuration has over renewDeadline is left for requests that are on their way
 *   at that moment and for clocks that run at different rates.
 * - For how long to go on trying to renew is no question of safety, since the fence ends by itself. That is measured from
 *   `answered`, as client-go does: otherwise a slow API server would take its own latency off the time of every try.
 *   The fence ends then too: nothing is written after the renew deadline.
 *
 * If the fence ends before the renew deadline, the process still leads and writes nothing until the next renewal.
 */
export class Lease {
  readonly #options: Required<LeaseOptions>;
  #leading = false;
  /** Until when writing is safe, by the monotonic clock and by the time of day. */
  #fence = never;
  /** When the leader gives up, if no renewal succeeds until then. */
  #renewBy = never.monotonic;
  /** The Lease as our last write left it; undefined where it has to be read first. */
  #lastWrite: LeaseObject | undefined;
  #holder: string | undefined;
  #renewedAt: string | undefined;
  /** Why the last try failed; undefined where it did not. */
  #failure: string | undefined;
  #logged = { failure: "", at: 0 };
  // Another's lease is judged by our own clock, from the moment at which we observed its last change.
  #observed = { version: "", at: 0 };

  constructor(options: LeaseOptions) {
    this.#options = { clock: realClock, ...defaultElectionTimes, ...options };
  }

  get holder(): string | undefined {
    return this.#holder;
  }

  /** When it was renewed last, by whomever, as far as this process has observed. */
  get renewedAt(): string | undefined {
    return this.#renewedAt;
  }

  /** Why the last request failed; undefined where the API server answered. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Whether this process leads and may still be sure of it. */
  mayWrite(): boolean {
    return this.#leading && this.#isFenceOpen();
  }

  /** Try for the lease, lead, and try again when it was lost, until the signal says stop. Then release it. */
  async run(
    signal: AbortSignal,
    leadership: { begin(): void; end(): Promise<void> },
  ): Promise<void> {
    const { clock, retryPeriodMs, log, identity } = this.#options;
    while (!signal.aborted) {
      const startedAt = clock.now();
      await this.#try(signal);
      if (signal.aborted) break;
      this.#logFailure();
      if (!this.#leading && this.#isFenceOpen()) {
        this.#leading = true;
        log.info({ identity }, "leading");
        leadership.begin();
      }
      // The leader is on time, however long its last try took; the others are spread.
      const pauseMs = this.#leading
        ? Math.min(startedAt + retryPeriodMs, this.#renewBy) - clock.now()
        : retryPeriodMs * (1 + retryJitter * Math.random());
      await wait(clock, Math.max(0, pauseMs), signal).catch(() => {});
      if (signal.aborted || !this.#leading || clock.now() < this.#renewBy) continue;
      this.#leading = false;
      if (this.#holder === identity) this.#holder = undefined;
      const another = this.#holder && `it is held by ${this.#holder}`;
      const why = this.#failure ?? another ?? "it was not renewed in time";
      log.warn({ identity, holder: this.#holder, why }, "lease lost");
      await leadership.end();
    }
    if (this.#leading) {
      await leadership.end();
      await this.#release();
    }
  }

  #isFenceOpen(): boolean {
    const { monotonic, timeOfDay } = this.#fence;
    // The monotonic clock of Linux stands still while the machine sleeps, and the time of day can be set: both must agree.
    return this.#options.clock.now() < monotonic && this.#timeOfDay() < timeOfDay;
  }

  #timeOfDay(): number {
    return this.#options.clock.timeOfDay?.() ?? Date.now();
  }

  async #try(signal: AbortSignal): Promise<void> {
    try {
      await this.#tryOnce(signal);
      this.#failure = undefined;
    } catch (error) {
      this.#failure = failureOf(error);
    }
  }

  /** Log why the API server does not answer, once for each reason and then every minute. */
  #logFailure(): void {
    const { log, clock } = this.#options;
    const failure = this.#failure;
    if (failure === undefined) {
      this.#logged = { failure: "", at: 0 };
      return;
    }
    if (failure === this.#logged.failure && clock.now() - this.#logged.at < 60_000) return;
    this.#logged = { failure, at: clock.now() };
    log.warn({ why: failure }, "lease not reached");
  }

  /** Make one request. One that hangs ends with the renew deadline, so that the controllers end in time. */
  async #request<T>(signal: AbortSignal, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, renewDeadlineMs } = this.#options;
    const limit = new AbortController();
    const limitMs = this.#leading ? this.#renewBy - clock.now() : renewDeadlineMs;
    const cancel = clock.after(limitMs, () => limit.abort(noAnswer));
    try {
      return await send(AbortSignal.any([signal, limit.signal]));
    } catch (error) {
      throw limit.signal.aborted ? noAnswer : error;
    } finally {
      cancel();
    }
  }

  async #tryOnce(signal: AbortSignal): Promise<void> {
    const lastWrite = this.#takeLastWrite();
    if (lastWrite && (await this.#renew(lastWrite, signal))) return;
    const lease = await this.#read(signal);
    const { identity } = this.#options;
    if (this.#holder !== identity && this.#leading) {
      // Somebody else has led since, even if nobody does now: the term is over, and a new one begins with the next try.
      this.#fence = never;
      this.#renewBy = never.monotonic;
      return;
    }
    if (this.#holder === undefined || this.#holder === identity || this.#isExpired(lease))
      await this.#renew(lease, signal);
  }

  /** What our last write left. It is forgotten until the next write is answered: one without an answer may have happened. */
  #takeLastWrite(): LeaseObject | undefined {
    const lastWrite = this.#lastWrite;
    this.#lastWrite = undefined;
    return lastWrite;
  }

  async #read(signal: AbortSignal): Promise<LeaseObject | undefined> {
    const { client, namespace, name, clock } = this.#options;
    const place = { kind: leaseKind, namespace, name };
    const lease = await this.#request(signal, (each) => client.get<LeaseObject>(place, each));
    const version = lease?.metadata.resourceVersion ?? "";
    // Counted from the answer: it may have been renewed just before that was sent.
    if (version !== this.#observed.version) this.#observed = { version, at: clock.now() };
    this.#holder = lease?.spec?.holderIdentity || undefined;
    this.#renewedAt = lease?.spec?.renewTime ?? this.#renewedAt;
    return lease;
  }

  /** Whether another's lease was not renewed in time. */
  #isExpired(lease: LeaseObject | undefined): boolean {
    const { clock, leaseDurationMs } = this.#options;
    const theirMs = (lease?.spec?.leaseDurationSeconds ?? leaseDurationMs / 1000) * 1000;
    return clock.now() >= this.#observed.at + theirMs;
  }

  /** Take or renew the lease as it was last known; false where somebody has written it since. */
  async #renew(lease: LeaseObject | undefined, signal: AbortSignal): Promise<boolean> {
    const { clock, identity, leaseDurationMs, renewDeadlineMs } = this.#options;
    const sentAt = clock.now();
    const sentTimeOfDay = this.#timeOfDay();
    const lastWrite = await this.#write(lease, signal);
    if (lastWrite === undefined) return false;
    const answeredAt = clock.now();
    const longestMs = (leaseDurationMs + renewDeadlineMs) / 2;
    this.#fence = {
      monotonic: Math.min(sentAt + longestMs, answeredAt + renewDeadlineMs),
      timeOfDay: Math.min(sentTimeOfDay + longestMs, this.#timeOfDay() + renewDeadlineMs),
    };
    this.#renewBy = answeredAt + renewDeadlineMs;
    this.#lastWrite = lastWrite;
    this.#holder = identity;
    this.#renewedAt = lastWrite.spec?.renewTime ?? undefined;
    return true;
  }

  async #write(
    lease: LeaseObject | undefined,
    signal: AbortSignal,
  ): Promise<LeaseObject | undefined> {
    const { client, namespace, name, identity, clock, leaseDurationMs } = this.#options;
    const now = micro(dateBy(clock));
    const isHolder = lease?.spec?.holderIdentity === identity;
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
      acquireTime: (isHolder && lease.spec?.acquireTime) || now,
      renewTime: now,
      leaseTransitions: (lease?.spec?.leaseTransitions ?? 0) + (lease && !isHolder ? 1 : 0),
    };
    const metadata = lease?.metadata ?? { name, namespace };
    try {
      return await this.#request(signal, (each) =>
        lease
          ? client.replace<LeaseObject>(leaseKind, { metadata, spec }, each)
          : client.create<LeaseObject>(leaseKind, { metadata, spec }, each),
      );
    } catch (error) {
      if (error instanceof KubeError && error.status === 409) return undefined;
      throw error;
    }
  }

  /** Let others lead at once. */
  async #release(): Promise<void> {
    const { client, identity, clock, log } = this.#options;
    this.#leading = false;
    // The signal to stop has been given; the limit of each request is what ends these.
    const { signal } = new AbortController();
    try {
      const lease = this.#takeLastWrite() ?? (await this.#read(signal));
      if (lease?.spec?.holderIdentity !== identity) return;
      const { metadata } = lease;
      const renewTime = micro(dateBy(clock));
      const spec = { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime };
      await this.#request(signal, (each) => client.replace(leaseKind, { metadata, spec }, each));
    } catch (err) {
      log.warn({ err }, "lease not released");
    }
  }
}

const noAnswer = new Error("the API server did not answer in time");

function failureOf(error: unknown): string {
  if (isExplained(error)) return error.explain().message;
  return error instanceof Error ? redact(error.message) : "an unexpected error";
}
