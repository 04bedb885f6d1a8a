import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { ApplianceError } from "./errors.ts";

/** Where the appliance wants to read which device its traffic comes in by. */
export interface IngressTargets {
  /** A file that holds the name and nothing else. */
  file?: string | undefined;
  /** A file of `NAME=value` lines; all others in it stay. */
  environmentFile?: string | undefined;
  /** The name in that file: `INGRESS_DEVICE`. */
  variable?: string | undefined;
  /** A command for the shell, which has the name in `INGRESS_DEVICE`; it is run again with an empty one to undo. */
  hook?: string | undefined;
}

const hookMs = 60_000;

/** Tell the appliance its ingress device; gives what takes it back. Where one of the ways fails, none is left. */
export async function writeIngressDevice(
  targets: IngressTargets,
  device: string,
): Promise<() => Promise<void>> {
  const { file, environmentFile, variable = "INGRESS_DEVICE", hook } = targets;
  const undo: (() => Promise<void> | void)[] = [];
  const undoAll = async () => {
    const errors: unknown[] = [];
    for (const each of undo.splice(0).reverse())
      try {
        await each();
      } catch (error) {
        errors.push(error);
      }
    if (errors.length > 0) throw errors[0];
  };
  try {
    if (file !== undefined) undo.push(replaceFile(file, () => `${device}\n`));
    if (environmentFile !== undefined)
      undo.push(replaceFile(environmentFile, (text) => withVariable(text, variable, device)));
    if (hook !== undefined) {
      // Also one that fails may have done half of it.
      undo.push(() => runHook(hook, ""));
      await runHook(hook, device);
    }
  } catch (error) {
    await undoAll().catch(() => undefined);
    throw error;
  }
  return undoAll;
}

/** The text of an environment file with one variable set, in its place if it was there. */
export function withVariable(text: string, name: string, value: string): string {
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const line = `${name}=${value}`;
  const at = lines.findIndex((each) => each.trimStart().startsWith(`${name}=`));
  return `${(at < 0 ? [...lines, line] : lines.with(at, line)).join("\n")}\n`;
}

/** Replace a file in one step, so that nobody reads half of it; gives what puts the old one back. */
function replaceFile(file: string, change: (text: string) => string): () => void {
  const before = explained(file, () => readIfThere(file));
  const write = (text: string) => {
    const made = `${file}.${process.pid}.new`;
    writeFileSync(made, text);
    renameSync(made, file);
  };
  explained(file, () => write(change(before ?? "")));
  return () => {
    explained(file, () => (before === undefined ? rmSync(file, { force: true }) : write(before)));
  };
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function explained<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw refusal(`${file}: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
}

function runHook(hook: string, device: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // Loaded here: most agents have no hook.
    const { execFile } = process.getBuiltinModule("node:child_process");
    const env = { ...process.env, INGRESS_DEVICE: device };
    execFile("/bin/sh", ["-c", hook], { env, timeout: hookMs }, (cause, _stdout, stderr) => {
      if (cause === null) return resolve();
      const said = stderr.trim().split("\n").at(-1);
      reject(
        refusal(
          `${hook} ended with ${cause.code ?? cause.signal}${said ? `: ${said}` : ""}`,
          cause,
        ),
      );
    });
  });
}

function refusal(seen: string, cause: unknown): ApplianceError {
  const what = "tell the appliance its ingress device";
  return new ApplianceError({ code: "IngressNotWritten", what, seen, cause });
}
