import type { Explained, Failure } from "../failure.ts";

/** Why a test bed cannot start or go on. */
export type TestBedErrorCode =
  | "AddressInUse"
  | "AddressRefused"
  | "StateUnreadable"
  | "StateLocked"
  | "StateUnwritable"
  | "SeedInvalid"
  | "SeedUnreadable"
  | "ReadyFileUnreadable"
  | "ReadyFileUnwritable";

/** The simulator or the embedded Kubernetes API cannot start or go on; the message says what failed, why, and what to do. */
export class TestBedError extends Error implements Explained {
  override readonly name = "TestBedError";
  readonly code: TestBedErrorCode;

  constructor(code: TestBedErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  explain(): Failure {
    return { reason: this.code, message: this.message, terminal: true };
  }
}
