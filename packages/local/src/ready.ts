import { readFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import type { Ready as AzureReady } from "@postern/azure-simulator/command/ready.ts";
import { writeWhole } from "@postern/core/process/whole-file.ts";
import { LocalError, reasonOf } from "./local-error.ts";

/** Every address and path of a local mode that runs. */
export interface Ready {
  pid: number;
  version: string;
  scenario: string;
  data: string;
  kubeconfig: string;
  dashboard: { url: string };
  kubernetes: { url: string };
  /** Where the operator's /healthz, /readyz and /metrics are, and its log. */
  operator: { url: string; log: string };
  /** The ready file of `postern simulator`; absent with a real Azure. */
  azure: AzureReady | undefined;
  /** The environment in which a program acts in this Azure as the person at the keyboard. */
  environment: Record<string, string>;
}

/** A file that is there while local mode is ready. */
export class ReadyFile {
  readonly #file: string;

  constructor(file: string) {
    this.#file = resolve(file);
    const pid = pidIn(this.#file);
    if (pid !== undefined && runs(pid))
      throw new LocalError(
        "DataInUse",
        `the ready file ${this.#file} is in use · it belongs to a running postern local, process ${pid} · stop that process, use another file with --ready-file, or delete this file if the process is another program`,
      );
    // One that a killed process left would tell of something that is not there.
    this.remove();
  }

  write(ready: Ready): void {
    // It has secrets and tokens in it.
    this.#or(() => writeWhole(this.#file, `${JSON.stringify(ready, undefined, 2)}\n`, 0o600));
  }

  remove(): void {
    this.#or(() => rmSync(this.#file, { force: true }));
  }

  #or(act: () => void): void {
    try {
      act();
    } catch (cause) {
      throw new LocalError(
        "DataUnwritable",
        `the ready file ${this.#file} cannot be written · ${reasonOf(cause)} · use a file in an existing, writable folder with --ready-file`,
        { cause },
      );
    }
  }
}

/** Whose it is; undefined where there is none, or one that nobody can read. */
function pidIn(file: string): number | undefined {
  try {
    const { pid } = JSON.parse(readFileSync(file, "utf8")) as Partial<Ready>;
    return Number.isInteger(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}

function runs(pid: number): boolean {
  // Below 1 are groups of processes, our own among them.
  if (pid < 1 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
