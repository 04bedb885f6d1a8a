import { TestBedError } from "@postern/core/test-bed/test-bed-error.ts";
import type { JsonObject } from "./store.ts";

/** An entry of a seed with where it stands, for messages. */
export interface Entry {
  /** Such as `resources[3]`. */
  name: string;
  value: JsonObject;
  /** Line and column of the entry, or of a field in it. */
  at(field?: string): Place;
}

/** Where in a file. */
export interface Place {
  file: string;
  line: number;
  column: number;
}

/** A world to start with, as it was read. */
export interface Seed {
  /** Tells one seed from another. */
  digest: string;
  tenants: Entry[];
  subscriptions: Entry[];
  /** Issuers of federated tokens whose keys are known, so that signatures are checked. */
  issuers: Entry[];
  applications: Entry[];
  roleAssignments: Entry[];
  resources: Entry[];
}

/** A seed that cannot be used. */
export function seedError({ file, line, column }: Place, why: string): TestBedError {
  return new TestBedError(
    "SeedInvalid",
    `cannot seed from ${file}:${line}:${column}: ${why} · correct the file and start again; nothing was loaded`,
  );
}
