import type { Explained, Failure } from "@postern/core/failure.ts";
import { type ApplianceCode, applianceCodes } from "./known-codes.ts";

/** What is known of a failure of the agent when it is met. */
export interface ApplianceFailure {
  code: ApplianceCode;
  /** What was tried, as a verb and a thing: `find the backend pool "inspect"`. */
  what: string;
  /** What was seen, where it says more than the table does. */
  seen?: string | undefined;
  cause?: unknown;
}

const page = "docs/reference/agent-errors.md";

/** An error of the agent itself; what Azure refuses is an `AzureError`. */
export class ApplianceError extends Error implements Explained {
  override readonly name = "ApplianceError";
  readonly code: ApplianceCode;
  readonly hint: string;
  /** Where the code is described. */
  readonly doc: string;

  constructor({ code, what, seen, cause }: ApplianceFailure) {
    const { why, hint } = applianceCodes[code];
    const told = seen === undefined ? why : `${why}: ${seen}`;
    super(`cannot ${what} · ${told} (${code}) · ${hint}`, { cause });
    this.code = code;
    this.hint = hint;
    this.doc = `${page}#${code.toLowerCase()}`;
  }

  explain(): Failure {
    return { reason: this.code, message: this.message };
  }
}
