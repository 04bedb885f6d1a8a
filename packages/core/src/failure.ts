/** The kind of a failure, for code that depends on it: no code depends on the words of a message. */
export type FailureKind =
  | "forbidden"
  | "unauthenticated"
  | "throttled"
  | "conflict"
  | "unreachable"
  | "notFound"
  | "invalid";

/**
 * How a failure is reported: the reason of a condition and of an event, and a message that says what failed, why, and what to do.
 * It contains no secrets and no raw response.
 */
export interface Failure {
  /** One CamelCase word or two; a condition's reason. */
  reason: string;
  /** What failed · why · what to do; conditions and events have them as sentences. */
  message: string;
  /** Absent where nothing depends on it. */
  kind?: FailureKind;
  /** When to requeue. Without it the queue's back-off decides. */
  requeueAfterMs?: number;
  /** True if only a change of the object can help: it is not retried. */
  terminal?: boolean;
  /** True for a transient failure, such as a conflict: it is reported only if it persists. */
  passing?: boolean;
}

/** The kind of failure of an HTTP status; 0 if there was no response. */
export function kindOfStatus(status: number): FailureKind {
  switch (status) {
    case 401:
      return "unauthenticated";
    case 403:
      return "forbidden";
    case 404:
    case 410:
      return "notFound";
    case 409:
    case 412:
      return "conflict";
    case 429:
      return "throttled";
    default:
      return status >= 400 && status < 500 ? "invalid" : "unreachable";
  }
}

/** An error that can explain itself to a person. Every error thrown on purpose is one. */
export interface Explained extends Error {
  explain(): Failure;
}

/** Whether an error was thrown on purpose, and can explain itself; anything else is a bug. */
export function isExplained(error: unknown): error is Explained {
  return error instanceof Error && "explain" in error && typeof error.explain === "function";
}
