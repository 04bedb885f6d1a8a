import { existsSync, renameSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { SimulatorError } from "./simulator-error.ts";

/** What is in the file, so that a later version can tell what it reads. */
const format = 1;

/**
 * Open a state file, or make one. One that cannot be read is never written to: it is refused, or with `reset` moved
 * aside. A good one is emptied by `reset`.
 */
export function openStateFile(file: string, reset: boolean): DatabaseSync {
  if (reset && existsSync(file)) {
    const why = whyUnreadable(file);
    if (why === undefined) for (const each of filesOf(file)) rmSync(each, { force: true });
    else moveAside(file);
  }
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    prepare(database);
    return database;
  } catch (error) {
    database?.close();
    throw asSimulatorError(error, file);
  }
}

function prepare(database: DatabaseSync): void {
  // Exclusive, so that a second simulator is refused. With the write-ahead log every commit outlives a kill of the
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
  const tables = database.prepare("SELECT name FROM sqlite_schema").all();
  if (version === 0 && tables.length > 0) throw new Error("file is a database of something else");
  if (version === 0)
    database.exec(
      `BEGIN;
       CREATE TABLE resources (key TEXT NOT NULL UNIQUE, body TEXT NOT NULL);
       CREATE TABLE operations (id TEXT NOT NULL UNIQUE, body TEXT NOT NULL);
       CREATE TABLE things (name TEXT NOT NULL UNIQUE, value TEXT NOT NULL);
       PRAGMA user_version = ${format};
       COMMIT;`,
    );
}

function whyUnreadable(file: string): string | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    prepare(database);
    return undefined;
  } catch (error) {
    // Another simulator works with it: neither emptied nor moved under its feet.
    if (isLocked(error)) throw asSimulatorError(error, file);
    return error instanceof Error ? error.message : String(error);
  } finally {
    database?.close();
  }
}

function moveAside(file: string): void {
  let aside = `${file}.aside`;
  for (let i = 2; existsSync(aside); i++) aside = `${file}.aside-${i}`;
  renameSync(file, aside);
  for (const each of filesOf(file)) rmSync(each, { force: true });
}

function filesOf(file: string): string[] {
  return [file, `${file}-wal`, `${file}-shm`, `${file}-journal`];
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && error.message.includes("database is locked");
}

/** What SQLite says, as a person is told. */
export function asSimulatorError(error: unknown, file: string): SimulatorError {
  const why = (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ");
  if (isLocked(error))
    return new SimulatorError(
      "StateLocked",
      `the state file ${file} is in use · another simulator has it open · stop that one, or give another file to --state`,
      { cause: error },
    );
  if (/unable to open|readonly|disk is full|disk I\/O|full/.test(why))
    return new SimulatorError(
      "StateUnwritable",
      `the state file ${file} cannot be written · ${why} · give --state a file in a folder that exists and can be written to`,
      { cause: error },
    );
  return new SimulatorError(
    "StateUnreadable",
    `the state file ${file} cannot be read · ${why} · it was left as it is; start with --reset to keep it aside and begin anew, or give another file to --state`,
    { cause: error },
  );
}
