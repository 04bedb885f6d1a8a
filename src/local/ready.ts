import { rmSync } from "node:fs";
import { resolve } from "node:path";
import type { Ready as AzureReady } from "../cli/simulator-ready.ts";
import { writeWhole } from "../cli/whole-file.ts";
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
  /** What `postern simulator` says of itself; absent with a real Azure. */
  azure: AzureReady | undefined;
  /** The environment in which a program acts in this Azure as the person at the keyboard. */
  environment: Record<string, string>;
}

/** A file that is there while local mode is ready. */
export class ReadyFile {
  readonly #file: string;

  constructor(file: string) {
    this.#file = resolve(file);
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
        `the ready file ${this.#file} cannot be written · ${reasonOf(cause)} · give --ready-file a file in a folder that exists and can be written to`,
        { cause },
      );
    }
  }
}
