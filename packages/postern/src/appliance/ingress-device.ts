import {
  chmodSync,
  chownSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
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
  const reverts: (() => Promise<void> | void)[] = [];
  const revertAll = async () => {
    const errors: unknown[] = [];
    for (const each of reverts.splice(0).reverse())
      try {
        await each();
      } catch (error) {
        errors.push(error);
      }
    if (errors.length > 0) throw errors[0];
  };
  try {
    if (file !== undefined) reverts.push(writeName(file, device));
    if (environmentFile !== undefined) reverts.push(setVariable(environmentFile, variable, device));
    if (hook !== undefined) {
      // Also one that fails may have done half of it.
      reverts.push(() => runHook(hook, ""));
      await runHook(hook, device);
    }
  } catch (error) {
    await revertAll().catch(() => undefined);
    throw error;
  }
  return revertAll;
}

/** The text of an environment file with one variable set, in its place if it was there; without a value it is taken out. */
export function withVariable(text: string, name: string, value: string | undefined): string {
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const at = lines.findIndex((each) => each.trimStart().startsWith(`${name}=`));
  const added = value === undefined ? [] : [`${name}=${value}`];
  const changed = at < 0 ? [...lines, ...added] : lines.toSpliced(at, 1, ...added);
  return changed.length === 0 ? "" : `${changed.join("\n")}\n`;
}

/** Write a file that holds the name; gives what puts back what was there, or takes it away where that was nothing or the same. */
function writeName(file: string, device: string): () => void {
  const content = `${device}\n`;
  const before = explained(file, () => readIfThere(file));
  explained(file, () => replaceFile(file, content));
  return () =>
    explained(file, () => {
      // What a killed agent left is ours as well.
      if (before === undefined || before === content) rmSync(file, { force: true });
      else replaceFile(file, before);
    });
}

/** Set a variable in a file; gives what undoes that and keeps whatever else was changed in the file since. */
function setVariable(file: string, name: string, device: string): () => void {
  const before = explained(file, () => readIfThere(file));
  const line = before?.split("\n").find((each) => each.trimStart().startsWith(`${name}=`));
  const value = line?.slice(line.indexOf("=") + 1);
  explained(file, () => replaceFile(file, withVariable(before ?? "", name, device)));
  return () =>
    explained(file, () => {
      const now = readIfThere(file);
      if (now === undefined) return;
      const text = withVariable(now, name, value === device ? undefined : value);
      if (text === "" && before === undefined) rmSync(file, { force: true });
      else replaceFile(file, text);
    });
}

/** Replace a file in one step, so that nobody reads half of it. Who may read it stays: a file of variables may hold secrets. */
function replaceFile(file: string, text: string): void {
  const made = `${file}.${process.pid}.new`;
  const old = statSync(file, { throwIfNoEntry: false });
  try {
    writeFileSync(made, text, { mode: old === undefined ? 0o644 : 0o600 });
    if (old !== undefined) {
      chownSync(made, old.uid, old.gid);
      chmodSync(made, old.mode & 0o7777);
    }
    renameSync(made, file);
  } catch (error) {
    rmSync(made, { force: true });
    throw error;
  }
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
      const output = stderr.trim().split("\n").at(-1);
      reject(
        refusal(
          `${hook} ended with ${cause.code ?? cause.signal}${output ? `: ${output}` : ""}`,
          cause,
        ),
      );
    });
  });
}

function refusal(detail: string, cause: unknown): ApplianceError {
  const what = "tell the appliance its ingress device";
  return new ApplianceError({ code: "IngressNotWritten", what, detail, cause });
}
