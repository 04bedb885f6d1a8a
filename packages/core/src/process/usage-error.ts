import type { Explained, Failure } from "../failure.ts";

/** The person at the command line asked for something that cannot be. One line says what would be right; exit code 64. */
export class UsageError extends Error implements Explained {
  override readonly name = "UsageError";
  readonly code = "Usage";

  explain(): Failure {
    return { reason: this.code, message: this.message, terminal: true };
  }
}
