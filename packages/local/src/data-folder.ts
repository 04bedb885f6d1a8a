import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { stateUse } from "@postern/azure-simulator/state/state.ts";
import { writeWhole } from "@postern/core/process/whole-file.ts";
import { emptyStateFiles, isLocked, moveAside } from "@postern/core/test-bed/state-file.ts";
import { kubernetesFileUse } from "@postern/kubernetes-embedded/storage-backend.ts";
import { LocalError, reasonOf } from "./local-error.ts";
import type { ScenarioAppliance, ScenarioOperator } from "./scenario.ts";

/** What was begun in a folder: a scenario is applied once, and what a person changes later stays. */
export interface Begun {
  /** Of the whole text of the scenario. */
  digest: string;
  /** How many further hosted clusters were made. */
  clusters: number;
  operator: ScenarioOperator;
  appliances: readonly ScenarioAppliance[];
}

/** Where everything of one local mode lies, for as long as it runs or longer. */
export interface DataFolder {
  readonly path: string;
  /** Whether it outlives the process. */
  readonly persistent: boolean;
  /** Undefined where nothing was begun, or a beginning came to nothing: then whatever lay here was in the way. */
  readonly begun: Begun | undefined;
  /** What could not be read, and what belonged to it, under the names by which it is kept now. */
  readonly aside: readonly string[];
  file(name: string): string;
  /** Write a file in it, whole or not at all. */
  write(name: string, text: string, mode: number): void;
  /** Why a file in it cannot be written, as a person is told. */
  unwritable(name: string, cause: unknown): LocalError;
  /** Note what is being begun. It counts from the first `commit` on. */
  begin(begun: Begun): void;
  /** Record that what was begun is complete. */
  commit(): void;
  /** Unlock it; a temporary one is removed. */
  close(): void;
}

/** Where the state of the parts lies. */
export const stateFiles = { azure: "azure.db", kubernetes: "kubernetes.db" } as const;

/** Where the roles are noted that a button took away. */
export const owedRolesFile = "owed-roles.json";
const begunFile = "begun.json";

/** Open a persistent folder, or create one that is removed with the process. It is locked meanwhile. */
export function openDataFolder(asked: string | undefined, reset: boolean): DataFolder {
  const path = asked === undefined ? makeTemporary() : makePersistent(asked);
  const lock = lockIn(path, asked);
  const file = (name: string) => join(path, name);
  const why = (name: string, cause: unknown) => unwritable(file(name), cause);
  const write = (name: string, text: string, mode: number) => {
    try {
      writeWhole(file(name), text, mode);
    } catch (cause) {
      throw why(name, cause);
    }
  };
  const note = (begun: Partial<Begun>) => write(begunFile, `${JSON.stringify(begun)}\n`, 0o600);
  const close = () => {
    lock.close();
    if (asked === undefined) rmSync(path, { recursive: true, force: true });
  };
  let begun: Begun | undefined;
  let aside: string[] = [];
  try {
    begun = reset ? undefined : readBegun(path);
    if (begun === undefined) {
      aside = empty(path);
      // Without it, a start that comes to nothing would look like a folder whose note was lost.
      note({});
    }
  } catch (error) {
    close();
    throw error;
  }
  let beginning = begun;
  return {
    path,
    persistent: asked !== undefined,
    begun,
    aside,
    file,
    write,
    unwritable: why,
    begin(next) {
      beginning = next;
    },
    commit() {
      if (beginning !== undefined) note(beginning);
    },
    close,
  };
}

function makeTemporary(): string {
  const path = temporaryIn(tmpdir());
  // Also where the process ends in a hurry.
  process.once("exit", () => rmSync(path, { recursive: true, force: true }));
  return path;
}

function temporaryIn(folder: string): string {
  try {
    return mkdtempSync(join(folder, "postern-local-"));
  } catch (cause) {
    throw new LocalError(
      "DataUnwritable",
      `cannot create a folder in ${folder} · ${reasonOf(cause)} · set TMPDIR to a writable folder, or use --data`,
      { cause },
    );
  }
}

function makePersistent(asked: string): string {
  const path = resolve(asked);
  try {
    makeFolder(path);
    return path;
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/**
 * Make a folder and those above it that are missing. Node's own way never ends where a folder that is there says that there
 * is none to make one in, as /proc does.
 */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const above = dirname(path);
  if (!existsSync(above)) makeFolder(above);
  // Keys and tokens will be in it.
  mkdirSync(path, { mode: 0o700 });
}

/** The system lets go of this lock when the process ends, however it does. */
function lockIn(path: string, asked: string | undefined): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(join(path, "lock"));
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;");
    return lock;
  } catch (cause) {
    lock?.close();
    if (isLocked(cause))
      throw new LocalError(
        "DataInUse",
        `${asked} is in use · another postern local uses it · stop that process, or use another folder with --data`,
        { cause },
      );
    throw unwritable(path, cause);
  }
}

function unwritable(path: string, cause: unknown): LocalError {
  return new LocalError(
    "DataUnwritable",
    `${path} cannot be written · ${reasonOf(cause)} · use a writable folder with --data, or omit --data to keep nothing`,
    { cause },
  );
}

/** Take away what is in the way. What cannot be read is kept aside, and the rest with it: it belongs together. */
function empty(path: string): string[] {
  const azure = join(path, stateFiles.azure);
  const kubernetes = join(path, stateFiles.kubernetes);
  const note = join(path, begunFile);
  let readable = true;
  try {
    readBegun(path);
  } catch {
    readable = false;
  }
  try {
    const states = [azure, kubernetes].filter((file) => existsSync(file));
    const aside = readable
      ? emptyStateFiles([
          { file: azure, use: stateUse },
          { file: kubernetes, use: kubernetesFileUse },
        ])
      : states.map(moveAside);
    rmSync(join(path, owedRolesFile), { force: true });
    if (existsSync(note) && (!readable || aside.length > 0)) aside.push(moveAside(note));
    return aside;
  } catch (error) {
    throw unwritable(path, error);
  }
}

function readBegun(path: string): Begun | undefined {
  const file = join(path, begunFile);
  const states = Object.values(stateFiles).map((name) => join(path, name));
  if (!existsSync(file) && !states.some((each) => existsSync(each))) return undefined;
  try {
    const begun = JSON.parse(readFileSync(file, "utf8")) as Partial<Begun>;
    if (Object.keys(begun).length === 0) return undefined;
    if (begun.digest && begun.operator && begun.appliances) return begun as Begun;
  } catch {
    // What cannot be read says nothing, and it is told below.
  }
  throw new LocalError(
    "DataUnreadable",
    `${file} cannot be read · its scenario is unknown · the file is unchanged; start over with --reset, or use another folder with --data`,
  );
}
