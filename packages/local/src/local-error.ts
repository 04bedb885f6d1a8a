import type { Explained, Failure } from "@postern/core/failure.ts";
import { TestBedError } from "@postern/core/test-bed/test-bed-error.ts";

/** Why local mode cannot start or continue. */
export type LocalErrorCode =
  | "ScenarioInvalid"
  | "ScenarioUnreadable"
  | "PortInUse"
  | "DataInUse"
  | "DataUnwritable"
  | "DataUnreadable"
  | "ClusterUnreachable"
  | "ClusterInUse";

/** Local mode cannot start or continue; the message says what failed, why, and what to do. */
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

/** The first words of a system error, without the call and the path. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/,.*/s, "") : String(error);
}

/** A port that is in use; `what` says which. */
export function portInUse(what: string, whose: string, cause: unknown): LocalError {
  return new LocalError(
    "PortInUse",
    `${what} for ${whose} · another process, perhaps another postern local, uses this port · stop it, or use other ports, such as --port-base 7450, or --port-base 0 for any free ports`,
    { cause },
  );
}

/** The errors of the parts name options that local mode does not have. */
export function inOurWords(error: unknown, whose: "Azure" | "Kubernetes", file: string): unknown {
  if (!(error instanceof TestBedError)) return error;
  const [what = "", why = ""] = error.message.split(" · ");
  const options = { cause: error };
  switch (error.code) {
    case "StateUnreadable":
      return new LocalError(
        "DataUnreadable",
        `the state of ${whose} in ${file} cannot be read · ${why} · the file is unchanged; start over with --reset, which moves it aside, or use another folder with --data`,
        options,
      );
    case "StateUnwritable":
      return new LocalError(
        "DataUnwritable",
        `${file} cannot be written · ${why} · use a writable folder with --data`,
        options,
      );
    case "AddressInUse":
      return portInUse(what, whose, error);
    default:
      return error;
  }
}
