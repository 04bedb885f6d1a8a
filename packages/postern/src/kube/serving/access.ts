import { createHmac, randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { type Clock, realClock } from "@postern/core/clock.ts";
import type { KubeClient } from "../client.ts";
import { KubeError } from "../errors.ts";
import type { Log } from "../log.ts";
import { ExpiringMap } from "./expiring-map.ts";
import { mayRead, reviewToken } from "./review.ts";

/** Why a request is not answered. */
export interface Refusal {
  status: 401 | 403 | 429 | 503;
  text: string;
  headers: Record<string, string>;
}

/** What is asked of an `Access`. */
export interface Reading {
  headers: IncomingHttpHeaders;
  /** Who is connected. */
  address: string | undefined;
  /** The path that a ClusterRole must allow by `nonResourceURLs`. */
  path: string;
}

/** A review that has no answer yet. */
interface Running {
  address: string;
  review: Promise<Refusal | undefined>;
}

/** Tokens of service accounts have some 1,000 characters, those of identity providers some thousands. */
const longestToken = 8_192;
/** How long an answer of the API server counts, and how many are remembered. */
const allowedMs = 30_000;
const refusedMs = 10_000;
const mostAnswers = 256;
/** What one address may have reviewed: so many at once, and one more each second. */
const burst = 10;
const mostAddresses = 4_096;
/** Reviews at once: of all, of those who were not allowed to read lately, and of one address. */
const mostAtOnce = 8;
const mostOfStrangers = 4;
const mostOfAddress = 2;
/** How long somebody counts as a reader after an allowed request: tokens of pods are replaced every hour. */
const readerMs = 2 * 3_600_000;
const reviewTimeoutMs = 5_000;

/**
 * Who may read a page: those whose Kubernetes token the API server knows (TokenReview) and whom RBAC lets `get` the path
 * (SubjectAccessReview), as with controller-runtime's metrics filter. Tokens are neither stored nor logged: answers are found by a keyed hash.
 */
export class Access {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #log: Pick<Log, "warn">;
  readonly #salt = randomBytes(32);
  // Apart, so that made-up tokens do not displace those that work.
  readonly #allowed: ExpiringMap<true>;
  readonly #refused: ExpiringMap<Refusal>;
  readonly #spent: ExpiringMap<{ tokens: number; at: number }>;
  /** The tokens and addresses that were allowed to read lately. */
  readonly #readers: ExpiringMap<true>;
  readonly #running = new Map<string, Running>();
  #failure: string | undefined;

  constructor(given: { client: KubeClient; log: Pick<Log, "warn">; clock?: Clock }) {
    // On sockets of its own: reviews neither wait behind writes nor need the Lease.
    this.#client = given.client.apart(mostAtOnce);
    this.#clock = given.clock ?? realClock;
    this.#log = given.log;
    this.#allowed = new ExpiringMap(this.#clock, mostAnswers);
    this.#refused = new ExpiringMap(this.#clock, mostAnswers);
    this.#spent = new ExpiringMap(this.#clock, mostAddresses);
    this.#readers = new ExpiringMap(this.#clock, mostAnswers);
  }

  /** Why this request is not answered; undefined where it is. */
  async refusal({ headers, address = "", path }: Reading): Promise<Refusal | undefined> {
    const token = bearerOf(headers.authorization);
    if (token === undefined) return unauthenticated;
    const key = createHmac("sha256", this.#salt).update(`${path}\n${token}`).digest("base64");
    if (this.#allowed.get(key)) return undefined;
    const known = this.#refused.get(key);
    if (known) return known;
    const running = this.#running.get(key);
    if (running !== undefined) return running.review;
    if (!this.#mayReview(key, address)) return tooMany;
    const review = this.#review(key, token, path)
      .then((refusal) => {
        if (refusal === undefined)
          for (const reader of [key, address]) this.#readers.set(reader, true, readerMs);
        return refusal;
      })
      .finally(() => this.#running.delete(key));
    this.#running.set(key, { address, review });
    return review;
  }

  close(): void {
    this.#client.close();
  }

  async #review(key: string, token: string, path: string): Promise<Refusal | undefined> {
    try {
      const signal = AbortSignal.timeout(reviewTimeoutMs);
      const user = await reviewToken(this.#client, token, signal);
      const refusal = user
        ? (await mayRead(this.#client, user, path, signal))
          ? undefined
          : forbidden(path)
        : unauthenticated;
      this.#failure = undefined;
      if (refusal) this.#refused.set(key, refusal, refusedMs);
      else this.#allowed.set(key, true, allowedMs);
      return refusal;
    } catch (error) {
      this.#warn(error);
      return unchecked;
    }
  }

  /** The code only: a message of the API server might repeat what was sent. */
  #warn(error: unknown): void {
    const reason = error instanceof KubeError ? error.code : "Timeout";
    if (this.#failure !== reason)
      this.#log.warn({ reason }, "tokens of those who read metrics cannot be reviewed");
    this.#failure = reason;
  }

  /** Made-up tokens cannot keep out who was allowed to read lately, by the same token or, with a new one, from the same address. */
  #mayReview(key: string, address: string): boolean {
    if (this.#running.size >= mostAtOnce) return false;
    if (this.#readers.get(key)) return true;
    const running = [...this.#running].map(([of, { address: from }]) => ({ of, from }));
    const ofAddress = running.filter(({ from }) => from === address);
    const ofStrangers = running.filter(
      ({ of, from }) => !this.#readers.get(of) && !this.#readers.get(from),
    );
    if (ofAddress.length >= mostOfAddress) return false;
    if (!this.#readers.get(address) && ofStrangers.length >= mostOfStrangers) return false;
    return this.#spend(address);
  }

  #spend(address: string): boolean {
    const now = this.#clock.now();
    const { tokens, at } = this.#spent.get(address) ?? { tokens: burst, at: now };
    const available = Math.min(burst, tokens + (now - at) / 1_000);
    if (available < 1) return false;
    this.#spent.set(address, { tokens: available - 1, at: now }, burst * 1_000);
    return true;
  }
}

function bearerOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length > longestToken) return undefined;
  return /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization)?.[1];
}

const unauthenticated: Refusal = {
  status: 401,
  text: "a Kubernetes bearer token is needed\n",
  headers: { "www-authenticate": "Bearer" },
};

const forbidden = (path: string): Refusal => ({
  status: 403,
  text: `a ClusterRole must allow get on the nonResourceURL ${path}\n`,
  headers: {},
});

const tooMany: Refusal = {
  status: 429,
  text: "too many tokens to review\n",
  headers: { "retry-after": "1" },
};

const unchecked: Refusal = {
  status: 503,
  text: "the API server did not review the token\n",
  headers: { "retry-after": "5" },
};
