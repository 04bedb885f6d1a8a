import type { Explained, Failure } from "../model/failure.ts";

/** Why a simulator cannot start or go on. */
export type SimulatorErrorCode =
  | "AddressInUse"
  | "AddressRefused"
  | "StateUnreadable"
  | "StateLocked"
  | "StateUnwritable"
  | "SeedInvalid"
  | "SeedUnreadable"
  | "ReadyFileUnwritable";

/** A simulator cannot start or go on; the message says what failed, why, and what to do. */
export class SimulatorError extends Error implements Explained {
  override readonly name = "SimulatorError";
  readonly code: SimulatorErrorCode;

  constructor(code: SimulatorErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  explain(): Failure {
    return { reason: this.code, message: this.message, terminal: true };
  }
}
