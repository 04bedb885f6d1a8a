import { chmodSync, closeSync, existsSync, openSync, renameSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { TestBedError } from "./test-bed-error.ts";

/** What is in the file, so that a later version can tell what it reads. */
const format = 1;

/** What a state file is for: its tables, and the words that people are told of it. */
export interface StateFileUse {
  /** The columns of each table. */
  tables: Readonly<Record<string, string>>;
  /** Who has it open. */
  owner: string;
  /** The option that names it. */
  option: string;
}

/** Which file, and how it is opened. */
export interface StateFile {
  file: string;
  use: StateFileUse;
  /** Begin with an empty one. */
  reset?: boolean;
  /** The disk is full when the file has so many pages; for tests. */
  mostPages?: number;
}

/**
 * Open a state file, or make one. One that cannot be read is never written to: it is refused, or with `reset` moved
 * aside. A good one is emptied by `reset`.
 */
export function openStateFile(given: StateFile): DatabaseSync {
  const { file, reset = false, mostPages, use } = given;
  if (reset) emptyStateFiles([given]);
  let database: DatabaseSync | undefined;
  try {
    makePrivate(file);
    database = new DatabaseSync(file);
    if (mostPages !== undefined) database.exec(`PRAGMA max_page_count = ${mostPages}`);
    prepare(database, use);
    closeToOthers(file);
    return database;
  } catch (error) {
    database?.close();
    throw openError(error, file, use);
  }
}

/** Remove state files that belong together. If one of them cannot be read, all are moved aside, and their new paths are returned. */
export function emptyStateFiles(files: readonly Pick<StateFile, "file" | "use">[]): string[] {
  const there = files.filter(({ file }) => existsSync(file));
  if (there.some(({ file, use }) => whyUnreadable(file, use) !== undefined))
    return there.map(({ file }) => moveAside(file));
  for (const each of there.flatMap(({ file }) => filesOf(file))) rmSync(each, { force: true });
  return [];
}

/** Make the file where there is none. SQLite gives the files beside it the mode of this one. */
function makePrivate(file: string): void {
  if (existsSync(file)) return;
  try {
    closeSync(openSync(file, "a", 0o600));
  } catch {
    // SQLite meets the same, and says it in its own words.
  }
}

/** Keys and secrets are in it. It is known to be ours by now, so one that others could read is closed to them. */
function closeToOthers(file: string): void {
  for (const each of filesOf(file)) {
    try {
      if (existsSync(each)) chmodSync(each, 0o600);
    } catch {
      // It belongs to someone else, who lets us write to it: who may read it is theirs to say.
    }
  }
}

function prepare(database: DatabaseSync, { tables }: StateFileUse): void {
  // Exclusive, so that a second process is refused. With the write-ahead log every commit outlives a kill of the
  // process; only a machine that loses its power may lose the last ones, and never half of one:
  // https://sqlite.org/pragma.html#pragma_synchronous
  database.exec(
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE; COMMIT;",
  );
  const [check] = database.prepare("PRAGMA quick_check(1)").all();
  if (check?.quick_check !== "ok")
    throw new Error(`file is damaged: ${String(check?.quick_check)}`);
  const version = Number(database.prepare("PRAGMA user_version").get()?.user_version ?? 0);
  if (version > format)
    throw new Error(
      `file is of a later version of Postern (format ${version}, known is ${format})`,
    );
  const found = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const missing = Object.keys(tables).filter((name) => !found.some((each) => each.name === name));
  if (version === 0 ? found.length > 0 : missing.length > 0)
    throw new Error("file is a database of something else");
  if (version > 0) return;
  const wanted = Object.entries(tables).map(
    ([name, columns]) => `CREATE TABLE ${name} (${columns});`,
  );
  database.exec(`BEGIN; ${wanted.join(" ")} PRAGMA user_version = ${format}; COMMIT;`);
}

function whyUnreadable(file: string, use: StateFileUse): string | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    prepare(database, use);
    return undefined;
  } catch (error) {
    // Another process works with it: neither emptied nor moved under its feet. And a full disk is no fault of the file.
    if (isLocked(error) || isUnwritable(error)) throw openError(error, file, use);
    return error instanceof Error ? error.message : String(error);
  } finally {
    database?.close();
  }
}

/** Keep a file under another name, with the log beside it: what was written last may be only there. Gives the name. */
export function moveAside(file: string): string {
  let aside = `${file}.aside`;
  for (let i = 2; existsSync(aside); i++) aside = `${file}.aside-${i}`;
  for (const each of filesOf(file))
    if (existsSync(each)) renameSync(each, `${aside}${each.slice(file.length)}`);
  return aside;
}

function filesOf(file: string): string[] {
  return [file, `${file}-wal`, `${file}-shm`, `${file}-journal`];
}

/** Whether another process uses the database. */
export function isLocked(error: unknown): boolean {
  return codeOf(error) === busy;
}

/** The codes of SQLite, the latter for a file that cannot be written, whatever is in it: https://sqlite.org/rescode.html */
const busy = 5;
const codes = { readOnly: 8, ioError: 10, full: 13, cannotOpen: 14 } as const;

function codeOf(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: unknown };
  // The low byte is the code; what is above it says more.
  return typeof errcode === "number" ? errcode & 0xff : undefined;
}

function isUnwritable(error: unknown): boolean {
  const code = codeOf(error);
  return Object.values(codes).some((each) => each === code);
}

function whyOf(error: unknown): string {
  if (codeOf(error) === codes.full) return "the disk is full";
  return (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ");
}

/** Why a file that was open cannot be written any more. Beginning anew would mend nothing, so it is not advised. */
export function writeError(error: unknown, file: string): TestBedError {
  const remedy =
    codeOf(error) === codes.full
      ? "free some space and start again"
      : "fix the cause and start again";
  return new TestBedError(
    "StateUnwritable",
    `the state file ${file} cannot be written · ${whyOf(error)} · ${remedy}; every acknowledged write is saved`,
    { cause: error },
  );
}

/** Why a file cannot be opened, as a person is told. */
function openError(error: unknown, file: string, { owner, option }: StateFileUse): TestBedError {
  if (isLocked(error))
    return new TestBedError(
      "StateLocked",
      `the state file ${file} is in use · another ${owner} uses it · stop that process, or use another file with ${option}`,
      { cause: error },
    );
  const code = codeOf(error);
  if (code === codes.full || code === codes.ioError) return writeError(error, file);
  if (isUnwritable(error))
    return new TestBedError(
      "StateUnwritable",
      `the state file ${file} cannot be written · ${whyOf(error)} · use a file in an existing, writable folder with ${option}`,
      { cause: error },
    );
  return new TestBedError(
    "StateUnreadable",
    `the state file ${file} cannot be read · ${whyOf(error)} · the file is unchanged; start over with --reset, which moves it aside, or use another file with ${option}`,
    { cause: error },
  );
}
