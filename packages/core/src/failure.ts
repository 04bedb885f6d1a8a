/** What sort of failure it is, for code that must decide by it: no one decides by the words of a message. */
export type FailureKind =
  | "forbidden"
  | "unauthenticated"
  | "throttled"
  | "conflict"
  | "unreachable"
  | "notFound"
  | "invalid";

/**
 * What a person is told when something failed: the reason of a condition and of an event,
 * and a message that says what failed, why, and what to do. Nothing secret, no raw answer.
 */
export interface Failure {
  /** One CamelCase word or two; a condition's reason. */
  reason: string;
  /** What failed · why · what to do. */
  message: string;
  /** Left out where nobody decides by it. */
  kind?: FailureKind;
  /** When to look again. Without it the queue's back-off decides. */
  requeueAfterMs?: number;
  /** True where only a change of the object can help: it is not tried again by itself. */
  terminal?: boolean;
  /** True for what passes by itself, such as a conflict: people are told only if it keeps happening. */
  passing?: boolean;
}

/** The sort of failure that an HTTP status tells of; 0 where there was no answer. */
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

/** An error that knows how to tell a person about itself. Every error thrown on purpose is one. */
export interface Explained extends Error {
  explain(): Failure;
}

/** Whether an error was thrown on purpose, with something to tell; anything else is a bug. */
export function isExplained(error: unknown): error is Explained {
  return error instanceof Error && "explain" in error && typeof error.explain === "function";
}
