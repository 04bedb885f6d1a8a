import type { Explained, Failure } from "@postern/core/failure.ts";
import { TestBedError } from "@postern/core/test-bed/test-bed-error.ts";

/** Why local mode cannot start or go on. */
export type LocalErrorCode =
  | "ScenarioInvalid"
  | "ScenarioUnreadable"
  | "PortInUse"
  | "DataInUse"
  | "DataUnwritable"
  | "DataUnreadable"
  | "ClusterUnreachable"
  | "ClusterInUse"
  | "NotThere";

/** Local mode cannot start or go on; the message says what failed, why, and what to do. */
export class LocalError extends Error implements Explained {
  override readonly name = "LocalError";
  readonly code: LocalErrorCode;

  constructor(code: LocalErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  explain(): Failure {
    return { reason: this.code, message: this.message, terminal: true };
  }
}

/** The first words of what the system said, without the call and the path. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/,.*/s, "") : String(error);
}

/** A port that is taken; `what` says which. */
export function portInUse(what: string, whose: string, cause: unknown): LocalError {
  return new LocalError(
    "PortInUse",
    `${what} for ${whose} · something listens there, perhaps another postern local · stop it, or give other ports with --port-base, such as --port-base 7450 or 0 for any free ones`,
    { cause },
  );
}

/** The errors of the parts name options that a person at local mode has not. */
export function inOurWords(error: unknown, whose: "Azure" | "Kubernetes", file: string): unknown {
  if (!(error instanceof TestBedError)) return error;
  const [what = "", why = ""] = error.message.split(" · ");
  const options = { cause: error };
  switch (error.code) {
    case "StateUnreadable":
      return new LocalError(
        "DataUnreadable",
        `the state of ${whose} in ${file} cannot be read · ${why} · it was left as it is; start with --reset to keep it aside and begin anew, or give another folder to --data`,
        options,
      );
    case "StateUnwritable":
      return new LocalError(
        "DataUnwritable",
        `${file} cannot be written · ${why} · give --data a folder that you may write to`,
        options,
      );
    case "AddressInUse":
      return portInUse(what, whose, error);
    default:
      return error;
  }
}
