import { counted } from "../counted.ts";
import type { Explained, Failure } from "../failure.ts";

/** The person at the command line asked for something that cannot be. One line says what would be right; exit code 64. */
export class UsageError extends Error implements Explained {
  override readonly name = "UsageError";
  readonly code = "Usage";

  explain(): Failure {
    return { reason: this.code, message: this.message, terminal: true };
  }
}

/** One error for all that is wrong with what was given, which is called `noun`. */
export function invalid(violations: readonly string[], noun: string): UsageError {
  const [first = "", ...others] = violations;
  if (others.length === 0) return new UsageError(first);
  const listed = violations.map((each, at) => `(${at + 1}) ${each}`).join("; ");
  return new UsageError(`${counted(violations.length, noun)} are invalid: ${listed}`);
}
