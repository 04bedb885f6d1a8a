import { rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { writeWhole } from "@postern/core/process/whole-file.ts";
import { TestBedError } from "@postern/core/test-bed/test-bed-error.ts";
import type { Simulator } from "../simulator.ts";

/** A day: a person who tries things out should not have to sign in again. */
const tokenMs = 86_400_000;

/** All that a program needs to work with a simulator. */
export interface Ready {
  pid: number;
  version: string;
  resourceManager: string | undefined;
  resourceManagerHttp: string;
  authorityHost: string | undefined;
  control: string;
  controlToken: string;
  /** The certificate authority, in PEM and as a file for NODE_EXTRA_CA_CERTS and the like. */
  ca: string | undefined;
  caFile: string | undefined;
  tenants: { id: string; name: string | undefined }[];
  subscriptions: { id: string; name: string | undefined; tenantId: string }[];
  identities: {
    name: string;
    tenantId: string;
    clientId: string;
    objectId: string;
    secret: string | undefined;
    /** Good for a day, for Resource Manager. */
    token: string;
  }[];
  /** Where each machine that is there now reaches its metadata service. */
  machines: { id: string; metadata: string }[];
}

/** What a simulator that runs tells others. */
export async function readyOf(
  simulator: Simulator,
  version: string,
  caFile?: string,
): Promise<Ready> {
  const { directory, url, httpsUrl, ca, controlToken } = simulator;
  const saved = directory.save();
  return {
    pid: process.pid,
    version,
    resourceManager: httpsUrl,
    resourceManagerHttp: url,
    authorityHost: httpsUrl,
    control: `${url}/_postern`,
    controlToken,
    ca,
    caFile,
    tenants: saved.tenants.map((id) => ({ id, name: directory.nameOf(id) })),
    subscriptions: saved.subscriptions.map(([id, tenantId]) => ({
      id,
      name: directory.nameOf(id),
      tenantId,
    })),
    identities: saved.applications.map((each) => ({
      name: each.displayName,
      tenantId: each.tenant,
      clientId: each.appId,
      objectId: each.objectId,
      secret: each.secrets[0]?.value,
      token: directory.tokenFor(each, { forMs: tokenMs }),
    })),
    machines: await simulator.machines.list(),
  };
}

/** A file that is there while the simulator is ready, with its certificate authority beside it. */
export class ReadyFile {
  readonly #file: string;
  readonly caFile: string;

  constructor(file: string) {
    this.#file = resolve(file);
    this.caFile = `${this.#file}.ca.pem`;
    // One that a killed simulator left would tell of something that is not there.
    this.remove();
  }

  write(ready: Ready): void {
    try {
      if (ready.ca !== undefined) writeWhole(this.caFile, ready.ca);
      // It has secrets and tokens in it.
      writeWhole(this.#file, `${JSON.stringify(ready, undefined, 2)}\n`, 0o600);
    } catch (error) {
      throw cannotWrite(this.#file, error);
    }
  }

  remove(): void {
    try {
      for (const each of [this.#file, this.caFile]) rmSync(each, { force: true });
    } catch (error) {
      throw cannotWrite(this.#file, error);
    }
  }
}

function isFolder(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function cannotWrite(file: string, error: unknown): TestBedError {
  const why = isFolder(file)
    ? "it is a folder"
    : error instanceof Error
      ? error.message.replace(/,.*/, "")
      : String(error);
  return new TestBedError(
    "ReadyFileUnwritable",
    `the ready file ${file} cannot be written · ${why} · use a file in an existing, writable folder with --ready-file`,
    { cause: error },
  );
}
