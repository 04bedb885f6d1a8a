import {
  type Explained,
  type Failure,
  type FailureKind,
  kindOfStatus,
} from "@postern/core/failure.ts";
import { cut } from "@postern/core/redact.ts";
import { isContradiction } from "./contradictions.ts";
import { type KnownCode, knownCode, type Retry } from "./known-codes.ts";
import { scrub } from "./scrub.ts";
import { idsNamedIn } from "./wording.ts";

/** What is known of a failure when it is met. */
export interface AzureFailure {
  /** Azure's code, or one of ours. */
  code: string;
  /** What was tried, as a verb and a thing: `write privateLinkServices/api`. */
  what: string;
  /** What Azure said of it. It is made fit for people before anybody sees it. */
  detail?: string | undefined;
  /** The HTTP status; left out when there was no answer. */
  status?: number;
  retryAfterMs?: number | undefined;
  requestId?: string | undefined;
  correlationId?: string | undefined;
  cause?: unknown;
  /** It contradicts what was decided by, and that has been forgotten: read again and decide anew. */
  outdated?: boolean;
}

/** A thing in Azure may have been named by a tenant. */
const longestWhat = 1_000;
const page = "docs/reference/azure-errors.md";
/** A read may be a minute old, so what contradicts it may pass by itself. */
const contradictedMs = 60_000;

const outdated: KnownCode = {
  retry: "now",
  why: "Azure's state differs from what was last read",
  hint: "no action needed: Postern reads the resource and plans again",
};

const unknown: KnownCode = {
  retry: "slow",
  why: "Azure rejected it",
  hint: `see the code in ${page}`,
};

/** Whether something passes by itself: what was known was stale, or something is still being created or changed. */
function isPassing(retry: Retry): boolean {
  return retry === "now" || retry === "soon";
}

/** An error from Azure, or from the way to it. */
export class AzureError extends Error implements Explained {
  override readonly name = "AzureError";
  readonly code: string;
  /** 0 when there was no answer. */
  readonly status: number;
  readonly retry: Retry;
  readonly hint: string;
  /** Where the code is described. */
  readonly doc: string;
  readonly retryAfterMs: number | undefined;
  /** Azure's number of the request, for logs and support. It is no part of the message, which must be stable. */
  readonly requestId: string | undefined;
  readonly correlationId: string | undefined;
  readonly #failure: AzureFailure;

  constructor(failure: AzureFailure) {
    const { code, what, status = 0 } = failure;
    const known = knownCode(code);
    const { retry, why, hint } = failure.outdated ? outdated : (known ?? unknown);
    // What passes by itself is told in our words: Azure's hold counters and numbers of operations.
    const passing = isPassing(retry) || status === 429;
    const detail = passing || failure.detail === undefined ? "" : scrub(failure.detail);
    const shown = status >= 400 ? `${status} ${code}` : code;
    super(`cannot ${cut(what, longestWhat)} · ${detail || why} (${shown}) · ${hint}`, {
      cause: failure.cause,
    });
    this.code = code;
    this.status = status;
    this.retry = retry;
    this.hint = hint;
    this.doc = `${page}#${known === undefined ? "other-codes" : code.toLowerCase()}`;
    this.retryAfterMs = failure.retryAfterMs;
    this.requestId = failure.requestId;
    this.correlationId = failure.correlationId;
    this.#failure = failure;
  }

  /** The ids of the resources that Azure's own words name. */
  get namedIds(): readonly string[] {
    return idsNamedIn(this.#failure.detail ?? "");
  }

  /** The same error, where what it contradicts was cached and has been forgotten. */
  asOutdated(): AzureError {
    return new AzureError({ ...this.#failure, outdated: true, cause: this });
  }

  /** Whether Azure limits the one who asks. A resource that is busy answers 429 too, and is none. */
  get throttled(): boolean {
    return this.status === 429 && this.retry === "slow";
  }

  /** Whether it says that what was asked for, or what it lies in, does not exist. */
  get absent(): boolean {
    return (
      this.status === 404 && this.code.endsWith("NotFound") && this.code !== "SubscriptionNotFound"
    );
  }

  get #kind(): FailureKind {
    // Azure says so as well where the identity may not see the subscription.
    if (this.code === "SubscriptionNotFound") return "forbidden";
    if (this.code === "CredentialMissing") return "unauthenticated";
    if (this.code === "Throttled") return "throttled";
    // A resource that is busy answers 429 too.
    if (this.status === 429 && !this.throttled) return "conflict";
    return kindOfStatus(this.status);
  }

  explain(): Failure {
    const failure: Failure = { reason: this.code, message: this.message, kind: this.#kind };
    if (isPassing(this.retry) || this.code === "Throttled") failure.passing = true;
    if (this.retry === "never") return { ...failure, terminal: true };
    const requeueAfterMs = this.#requeueAfterMs();
    return requeueAfterMs === undefined ? failure : { ...failure, requeueAfterMs };
  }

  /** The classes of the shipped operators, with 400 and 412 told apart from the rest. */
  #requeueAfterMs(): number | undefined {
    if (this.retryAfterMs !== undefined) return this.retryAfterMs;
    if (this.retry === "now") return undefined;
    if (this.retry === "soon") return 30_000;
    return isContradiction(this.code) ? contradictedMs : this.#byStatusMs();
  }

  #byStatusMs(): number | undefined {
    switch (this.status) {
      case 400:
      case 429:
        return 300_000;
      case 403:
        return 600_000;
      case 409:
        return 30_000;
      case 412:
        return undefined;
      default:
        return 120_000;
    }
  }
}
