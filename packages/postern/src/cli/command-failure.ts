import type { Explained, Failure } from "@postern/core/failure.ts";

/** A command that was right and could not be done. One line says what, why and what to do; exit code 1. */
export class CommandFailure extends Error implements Explained {
  override readonly name = "CommandFailure";
  readonly code = "CommandFailed";

  explain(): Failure {
    return { reason: this.code, message: this.message, terminal: true };
  }
}
