import { type Clock, realClock, wait } from "../model/clock.ts";
import { isExplained } from "../model/failure.ts";
import type { Kind, KubeObject } from "../model/kind.ts";
import { redact } from "../model/redact.ts";
import type { KubeClient } from "./client.ts";
import { KubeError } from "./errors.ts";
import { micro } from "./events.ts";
import type { Log } from "./log.ts";

interface LeaseObject extends KubeObject {
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

export interface LeaseOptions {
  client: KubeClient;
  namespace: string;
  name: string;
  /** Who we are: different for every process. */
  identity: string;
  log: Log;
  clock?: Clock;
  /** How long others wait before they take a lease that is not renewed. client-go's 15 s. */
  durationMs?: number;
  /** How long the holder may go without renewing before it holds itself for replaced. client-go's 10 s. */
  deadlineMs?: number;
  /** How often it is renewed or tried for. client-go's 2 s. */
  retryMs?: number;
}

/**
 * One leader among many processes, by a Lease. `mayWrite` is the fence: it answers no from the moment at which the
 * holder can no longer be sure, which is before anyone else can take over.
 */
export class Lease {
  readonly #options: Required<LeaseOptions>;
  #leading = false;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #renewedOnWall = Number.NEGATIVE_INFINITY;
  #holder: string | undefined;
  /** Why the last try failed; undefined where it did not. */
  #failure: string | undefined;
  #told = { failure: "", at: 0 };
  // Another's lease is judged by our own clock, from the moment at which we saw it change.
  #seen = { version: "", at: 0 };

  constructor(options: LeaseOptions) {
    this.#options = {
      clock: realClock,
      durationMs: 15_000,
      deadlineMs: 10_000,
      retryMs: 2_000,
      ...options,
    };
  }

  get holder(): string | undefined {
    return this.#holder;
  }

  /** Why the API server could not be asked the last time; undefined where it answered. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Whether this process leads and may still be sure of it. */
  mayWrite(): boolean {
    // The time of day has to agree: the other clock stands still while the machine sleeps.
    return (
      this.#leading &&
      this.#leftMs() > 0 &&
      Date.now() - this.#renewedOnWall < this.#options.deadlineMs
    );
  }

  /** Try for the lease, lead, and try again when it was lost, until the signal says stop. Then let go of it. */
  async run(signal: AbortSignal, lead: { begin(): void; end(): Promise<void> }): Promise<void> {
    const { clock, retryMs, log, identity } = this.#options;
    while (!signal.aborted) {
      const held = await this.#tryInTime(signal);
      if (signal.aborted) break;
      this.#tellFailure();
      if (held && !this.#leading) {
        this.#leading = true;
        log.info({ identity }, "leading");
        lead.begin();
      }
      if (this.#leading && this.#leftMs() <= 0) {
        this.#leading = false;
        const why = this.#failure ?? `it is held by ${this.#holder}`;
        if (this.#holder === identity) this.#holder = undefined;
        log.warn({ identity, holder: this.#holder, why }, "lease lost");
        await lead.end();
      }
      // Those who wait are spread; the holder is on time.
      const pause = this.#leading
        ? Math.max(0, Math.min(retryMs, this.#leftMs()))
        : retryMs * (1 + Math.random());
      await wait(clock, pause, signal).catch(() => {});
    }
    if (this.#leading) {
      await lead.end();
      await this.#release();
    }
  }

  /** A try that hangs is over when the lease would be, so that those who lead are told to end. */
  async #tryInTime(signal: AbortSignal): Promise<boolean> {
    const { deadlineMs } = this.#options;
    const limit = this.#limit(this.#leading ? this.#leftMs() : deadlineMs);
    const held = await this.#tryOnce(AbortSignal.any([signal, limit.signal]));
    limit.cancel();
    return held;
  }

  /** Say why the API server cannot be asked, once for each reason and then every minute. */
  #tellFailure(): void {
    const { log, clock } = this.#options;
    const failure = this.#failure;
    if (failure === undefined) {
      this.#told = { failure: "", at: 0 };
      return;
    }
    if (failure === this.#told.failure && clock.now() - this.#told.at < 60_000) return;
    this.#told = { failure, at: clock.now() };
    log.warn({ why: failure }, "lease not reached");
  }

  /** How long we may still lead without renewing. */
  #leftMs(): number {
    return this.#renewedAt + this.#options.deadlineMs - this.#options.clock.now();
  }

  #limit(ms: number): { signal: AbortSignal; cancel: () => void } {
    const late = new AbortController();
    const cancel = this.#options.clock.after(ms, () => late.abort(new Error("no answer in time")));
    return { signal: late.signal, cancel };
  }

  async #tryOnce(signal: AbortSignal): Promise<boolean> {
    const { client, namespace, name, identity, clock, durationMs } = this.#options;
    // Taken before the request is sent: our lease counts from then and not from the answer.
    const now = clock.now();
    const wall = Date.now();
    try {
      const place = { kind: leaseKind, namespace, name };
      const lease = await client.get<LeaseObject>(place, signal);
      const version = lease?.metadata.resourceVersion ?? "";
      // Another's counts from the answer: it may have been renewed just before that was sent.
      const seen = clock.now();
      this.#failure = undefined;
      if (version !== this.#seen.version) this.#seen = { version, at: seen };
      this.#holder = lease?.spec?.holderIdentity || undefined;
      const theirs = this.#holder !== undefined && this.#holder !== identity;
      const theirMs = (lease?.spec?.leaseDurationSeconds ?? durationMs / 1000) * 1000;
      if (theirs && seen < this.#seen.at + theirMs) {
        // Somebody else has it: whatever we believed until now, it is over.
        if (this.#leading) this.#renewedAt = Number.NEGATIVE_INFINITY;
        return false;
      }
      await this.#take(lease, now, signal);
      this.#renewedAt = now;
      this.#renewedOnWall = wall;
      this.#holder = identity;
      return true;
    } catch (error) {
      if (error instanceof KubeError && error.status === 409) return false;
      const late = signal.aborted ? "the API server did not answer in time" : undefined;
      this.#failure = late ?? failureOf(error);
      return false;
    }
  }

  async #take(lease: LeaseObject | undefined, now: number, signal: AbortSignal): Promise<void> {
    const { client, namespace, name, identity, durationMs } = this.#options;
    const ours = lease?.spec?.holderIdentity === identity;
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      acquireTime: ours ? (lease?.spec?.acquireTime ?? micro(now)) : micro(now),
      renewTime: micro(now),
      leaseTransitions: (lease?.spec?.leaseTransitions ?? 0) + (lease && !ours ? 1 : 0),
    };
    const written = lease
      ? await client.replace(leaseKind, { metadata: lease.metadata, spec } as LeaseObject, signal)
      : await client.create(
          leaseKind,
          { metadata: { name, namespace }, spec } as LeaseObject,
          signal,
        );
    this.#seen = { version: written.metadata.resourceVersion ?? "", at: now };
  }

  async #release(): Promise<void> {
    const { client, namespace, name, identity, clock, log, retryMs } = this.#options;
    this.#leading = false;
    const { signal, cancel } = this.#limit(retryMs);
    try {
      const lease = await client.get<LeaseObject>({ kind: leaseKind, namespace, name }, signal);
      if (!lease || lease.spec?.holderIdentity !== identity) return;
      const spec = {
        ...lease.spec,
        holderIdentity: "",
        leaseDurationSeconds: 1,
        renewTime: micro(clock.now()),
      };
      await client.replace(leaseKind, { metadata: lease.metadata, spec }, signal);
    } catch (err) {
      log.warn({ err }, "lease not let go of");
    } finally {
      cancel();
    }
  }
}

function failureOf(error: unknown): string {
  if (isExplained(error)) return error.explain().message;
  return error instanceof Error ? redact(error.message) : "an unexpected error";
}
