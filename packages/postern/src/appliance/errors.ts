import type { Explained, Failure } from "@postern/core/failure.ts";
import { AzureError } from "../azure/errors.ts";
import { type ApplianceCode, applianceCodes } from "./known-codes.ts";

/** What is known of a failure of the agent when it is met. */
export interface ApplianceFailure {
  code: ApplianceCode;
  /** What was tried, as a verb and a thing: `find the backend pool "inspect"`. */
  what: string;
  /** What was seen, where it says more than the table does. */
  detail?: string | undefined;
  /** The HTTP status of the answer that it is about; that of the cause if not given. */
  status?: number | undefined;
  cause?: unknown;
}

const page = "docs/reference/agent-errors.md";

/** An error of the agent itself; what Azure rejects is an `AzureError`. */
export class ApplianceError extends Error implements Explained {
  override readonly name = "ApplianceError";
  readonly code: ApplianceCode;
  /** The HTTP status that the metadata service or Azure answered last; 0 when there was no answer. */
  readonly status: number;
  readonly hint: string;
  /** Where the code is described. */
  readonly doc: string;

  constructor({ code, what, detail, status, cause }: ApplianceFailure) {
    const { why, hint } = applianceCodes[code];
    const reason = detail === undefined ? why : `${why}: ${detail}`;
    super(`cannot ${what} · ${reason} (${code}) · ${hint}`, { cause });
    this.code = code;
    this.status = status ?? (cause instanceof AzureError ? cause.status : 0);
    this.hint = hint;
    this.doc = `${page}#${code.toLowerCase()}`;
  }

  explain(): Failure {
    return { reason: this.code, message: this.message };
  }
}
