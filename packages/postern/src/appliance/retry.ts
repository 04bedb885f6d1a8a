import { type Clock, wait } from "@postern/core/clock.ts";
import { AzureError } from "../azure/errors.ts";
import type { Caller } from "../azure/exchange.ts";
import type { ApplianceContext } from "./context.ts";

/** What is tried until it comes about. */
export interface RetryOptions {
  what: "register" | "deregister" | "discover";
  /** How long in all. */
  limitMs: number;
  /** The error when the time is over, from the one that was met last. */
  ended: (last: unknown) => unknown;
  /** How far apart those come back who met another's write. */
  contention?: (meetings: number) => number;
  /** So much longer a try that was begun in time may take. */
  lastTryMs?: number;
  /** So much of the time is kept for the answer of a write that is under way when everything else ends. */
  finishMs?: number;
}

/** One run of tries. */
export interface Attempt {
  /** Ends with the time allowed. */
  readonly signal: AbortSignal;
  /**
   * Who writes. Nothing more leaves after the end, but what has left is answered before it: a write that is cut off may
   * come about after somebody has looked whether it did.
   */
  readonly writer: Caller;
  /** How much of it is left. */
  remainingMs(): number;
  /** Pause within the time allowed. */
  pause(ms: number): Promise<void>;
  /** How many tries failed. */
  readonly retries: number;
}

/** What one try came to: the end, or something to wait for before the next. */
export type Step<T> = { done: T } | { againAfterMs: number };

/** Who asks, until a signal says no more. */
export function callerUntil(signal: AbortSignal): Caller {
  return { priority: "change", signal, mayWrite: () => true };
}

/**
 * Try until it comes about, fails for good, or the time is over. What passes is tried again after a pause that grows, and
 * that chance makes differ: many who fail together must not come back together.
 *
 *   what was met                                     pause
 *   another's write: 412, superseded, 409, busy      a chance within what `contention` says
 *   a limit                                          as long as Azure says, and a chance within 1 s
 *   no right, no identity, no token                  5 s to 10 s: roles take minutes to count
 *   no answer, 5xx                                   a chance within 1 s, 2 s, 4 s, up to a twentieth of the time
 *   anything else                                    none: it fails for good
 */
export async function retryUntil<T>(
  ctx: ApplianceContext,
  retryOptions: RetryOptions,
  attempt: (pass: Attempt) => Promise<Step<T>>,
): Promise<T> {
  const { clock, random, metrics, log } = ctx;
  const { what, limitMs, ended, contention = usualContention } = retryOptions;
  const { finishMs = 0, lastTryMs = 0 } = retryOptions;
  const triesMs = limitMs - finishMs;
  const endsAt = clock.now() + triesMs;
  const over = new AbortController();
  const cancel = clock.after(triesMs + lastTryMs, () => over.abort(new Error("the time is over")));
  const signal = AbortSignal.any([ctx.signal, over.signal]);
  const late = afterwards(clock, signal, finishMs);
  let last: unknown;
  let meetings = 0;
  let failures = 0;
  const remainingMs = () => endsAt - clock.now();
  const pass: Attempt = {
    signal,
    writer: { priority: "change", signal: late.signal, mayWrite: () => !signal.aborted },
    remainingMs,
    pause: (ms) => wait(clock, ms, signal),
    get retries() {
      return meetings + failures;
    },
  };
  try {
    for (;;) {
      let pauseMs: number;
      try {
        const step = await attempt(pass);
        if ("done" in step) return step.done;
        pauseMs = step.againAfterMs;
      } catch (error) {
        if (over.signal.aborted || ctx.signal.aborted) throw error;
        const kind = kindOf(error);
        if (kind === "final") throw error;
        last = error;
        const code = error instanceof AzureError ? error.code : "Unknown";
        metrics.retried(what, code);
        log.debug({ what, code }, "tried in vain");
        pauseMs =
          kind === "contended"
            ? random() * contention(++meetings)
            : pauseAfter(kind, error, random, failureWindow(++failures, limitMs));
      }
      if (pauseMs >= remainingMs()) throw over;
      await pass.pause(pauseMs);
    }
  } catch (error) {
    if (ctx.signal.aborted) throw stopped(what, ctx.signal);
    if (error === over || over.signal.aborted) throw ended(last ?? error);
    throw error;
  } finally {
    cancel();
    late.cancel();
  }
}

/** A signal that comes some time after another. */
function afterwards(
  clock: Clock,
  signal: AbortSignal,
  ms: number,
): { signal: AbortSignal; cancel(): void } {
  if (ms === 0) return { signal, cancel: () => undefined };
  const late = new AbortController();
  let cancelTimer: (() => void) | undefined;
  const begin = () => {
    cancelTimer = clock.after(ms, () => late.abort(signal.reason));
  };
  if (signal.aborted) begin();
  else signal.addEventListener("abort", begin, { once: true });
  return {
    signal: late.signal,
    cancel() {
      signal.removeEventListener("abort", begin);
      cancelTimer?.();
    },
  };
}

/** What kind of failure it is. */
type Kind = "contended" | "limited" | "forbidden" | "unanswered" | "final";

function kindOf(error: unknown): Kind {
  if (!(error instanceof AzureError)) return "final";
  const { status, code, retry, retryAfterMs } = error;
  // The environment of a process does not change.
  if (code === "CredentialMissing") return "final";
  if (code === "Throttled" || error.throttled) return "limited";
  if (code === "AnswerLost") return "unanswered";
  if (status === 412 || status === 409 || status === 429 || retry === "now" || retry === "soon")
    return retryAfterMs === undefined ? "contended" : "limited";
  if (status === 401 || status === 403 || ["IdentityNotFound", "ImdsUnavailable"].includes(code))
    return "forbidden";
  // Without a status nothing answered, or an operation failed: both may go well the next time.
  const passing = status >= 500 || status === 408 || (status === 0 && retry !== "never");
  return passing || code === "UnreadableAnswer" ? "unanswered" : "final";
}

function pauseAfter(kind: Kind, error: unknown, random: () => number, windowMs: number): number {
  const retryAfter = error instanceof AzureError ? (error.retryAfterMs ?? 0) : 0;
  if (kind === "limited") return Math.max(1_000, retryAfter) + random() * 1_000;
  if (kind === "forbidden") return Math.max(retryAfter, 5_000 + random() * 5_000);
  return Math.max(retryAfter, random() * windowMs);
}

/** Who has little time must not sleep through it. */
function failureWindow(failures: number, limitMs: number): number {
  return Math.min(8_000, limitMs / 20, 500 * 2 ** failures);
}

/** Twice as far apart after every meeting, up to 16 s. */
function usualContention(meetings: number): number {
  return Math.min(16_000, 500 * 2 ** (meetings - 1));
}

function stopped(what: string, signal: AbortSignal): AzureError {
  return new AzureError({ code: "Cancelled", what, cause: signal.reason });
}
