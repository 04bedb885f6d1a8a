import { isExplained } from "../failure.ts";
import { redact } from "../redact.ts";
import { endSentence, partsOf, sentence } from "../sentences.ts";
import { Interrupted } from "./interrupted.ts";
import { packageVersion } from "./package-version.ts";
import { UsageError } from "./usage-error.ts";

/** The exit codes of every program. 64 and 70 are EX_USAGE and EX_SOFTWARE of sysexits.h; 2 and 3 are answers of commands. */
export const exitCodes = { ok: 0, failed: 1, usage: 64, bug: 70, interrupted: 130 } as const;

/** How an error is reported: one line, or for a bug all that is known of it; and the exit code. */
export function describeError(error: unknown): { text: string; exitCode: number } {
  if (isExplained(error)) {
    return {
      text: `postern: ${inOneLine(error.explain().message)}`,
      exitCode: error instanceof UsageError ? exitCodes.usage : exitCodes.failed,
    };
  }
  if (error instanceof Interrupted)
    return { text: "postern: interrupted", exitCode: exitCodes.interrupted };
  if (isClosedOutput(error))
    return {
      text: `postern: the output cannot be written: ${error.message.replace(/,.*/, "")}. Free some space, or redirect the output.`,
      exitCode: exitCodes.failed,
    };
  const release = `Postern ${packageVersion()}, Node ${process.versions.node}`;
  const known = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const text = `postern: this is a bug (${release}); please report it with these lines\n${redact(known)}`;
  return { text, exitCode: exitCodes.bug };
}

/** A message in one line; where it has several parts, each is a sentence. */
function inOneLine(message: string): string {
  const [what = "", ...others] = partsOf(message.replace(/\s*\n\s*/g, " ").trim());
  return others.length === 0 ? what : [endSentence(what), ...others.map(sentence)].join(" ");
}

/** A write without a path is one to a stream that was given to us. That its disk is full or gone is no bug of ours. */
function isClosedOutput(error: unknown): error is NodeJS.ErrnoException {
  if (!(error instanceof Error)) return false;
  const { code = "", syscall, path } = error as NodeJS.ErrnoException;
  return syscall === "write" && path === undefined && /^(ENOSPC|EDQUOT|EIO)$/.test(code);
}
