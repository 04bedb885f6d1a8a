import { type Clock, realClock } from "@postern/core/clock.ts";
import { AzureError } from "./errors.ts";

/** Where tokens for Resource Manager come from. */
export interface TokenSource {
  /** Who it is. Two sources of one identity share Azure's limits, so they have the same key. */
  readonly identity: string;
  /** A token that is good now. With `refused`, one that is newer than the one that Azure refused. */
  token(signal?: AbortSignal, refused?: string): Promise<string>;
  /** Where several claim to be one identity: an error, unless this one can prove it. */
  prove?(signal?: AbortSignal): Promise<void>;
}

/** A token and when it ends. */
export interface FetchedToken {
  token: string;
  expiresAtMs: number;
}

const refreshBeforeMs = 300_000;
const unusableBeforeMs = 30_000;
const pauseAfterFailureMs = 5_000;

/** Let go of a source, and tell of it. */
export function letGo(
  cached: Map<string, { tokens: TokenSource }>,
  key: string,
  dropped: ((tokens: TokenSource) => void) | undefined,
): void {
  const entry = cached.get(key);
  if (entry === undefined) return;
  cached.delete(key);
  dropped?.(entry.tokens);
}

/** A token that is given and never renewed, for tests and the simulator. */
export function staticToken(token: string, identity = "static"): TokenSource {
  return { identity, token: () => Promise.resolve(token) };
}

/**
 * A source that keeps its token and renews it early, once for all who ask. A renewal that fails
 * while the old token is good goes unnoticed; after one that is noticed, nothing is asked for a moment,
 * so that ten thousand clusters do not ask Entra ten thousand times.
 */
export function cachedTokens(
  identity: string,
  fetch: () => Promise<FetchedToken>,
  clock: Clock = realClock,
): TokenSource {
  let cached: FetchedToken | undefined;
  let fetching: Promise<FetchedToken> | undefined;
  let failed: { error: unknown; untilMs: number } | undefined;

  const remainingMs = (token: FetchedToken | undefined) => (token?.expiresAtMs ?? 0) - clock.now();

  const renew = (): Promise<FetchedToken> => {
    if (failed !== undefined && clock.now() < failed.untilMs) return Promise.reject(failed.error);
    fetching ??= fetch()
      .then((fresh) => {
        if (remainingMs(fresh) <= 0)
          throw new AzureError({ code: "TokenExpired", what: "get a token for Azure" });
        failed = undefined;
        cached = fresh;
        return fresh;
      })
      .catch((error: unknown) => {
        failed = { error, untilMs: clock.now() + pauseAfterFailureMs };
        throw error;
      })
      .finally(() => {
        fetching = undefined;
      });
    return fetching;
  };

  return {
    identity,
    async token(signal, refused) {
      const old = cached;
      if (old !== undefined && old.token !== refused && remainingMs(old) > unusableBeforeMs) {
        // The failure is noticed by whoever asks when the old one has ended.
        if (remainingMs(old) < refreshBeforeMs) renew().catch(() => undefined);
        return old.token;
      }
      return (await until(renew(), signal)).token;
    },
  };
}

/** Wait for what others wait for too: an abort ends the waiting and not the thing. */
function until<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stop = () =>
      reject(
        new AzureError({ code: "Cancelled", what: "get a token for Azure", cause: signal.reason }),
      );
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
