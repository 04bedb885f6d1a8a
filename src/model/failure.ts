/**
 * What a person is told when something failed: the reason of a condition and of an event,
 * and a message that says what failed, why, and what to do. Nothing secret, no raw answer.
 */
export interface Failure {
  /** One CamelCase word or two; a condition's reason. */
  reason: string;
  /** What failed · why · what to do. */
  message: string;
  /** When to look again. Without it the queue's back-off decides. */
  requeueAfterMs?: number;
  /** True where only a change of the object can help: it is not tried again by itself. */
  terminal?: boolean;
  /** True for what passes by itself, such as a conflict: people are told only if it keeps happening. */
  passing?: boolean;
}

/** An error that knows how to tell a person about itself. Every error thrown on purpose is one. */
export interface Explained extends Error {
  explain(): Failure;
}

/** Whether an error was thrown on purpose, with something to tell; anything else is a bug. */
export function isExplained(error: unknown): error is Explained {
  return error instanceof Error && "explain" in error && typeof error.explain === "function";
}
