import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { KeyValue } from "@postern/core/test-bed/key-value.ts";
import {
  openStateFile,
  type StateFile,
  type StateFileUse,
  writeError,
} from "@postern/core/test-bed/state-file.ts";
import type { TestBedError } from "@postern/core/test-bed/test-bed-error.ts";
import type { Operation, OperationJournal } from "../arm/operations.ts";
import type { Journal, Resource } from "./store.ts";

/** What is in the file. */
export const stateUse: StateFileUse = {
  tables: {
    resources: "key TEXT NOT NULL UNIQUE, body TEXT NOT NULL",
    operations: "id TEXT NOT NULL UNIQUE, body TEXT NOT NULL",
    things: "name TEXT NOT NULL UNIQUE, value TEXT NOT NULL",
  },
  owner: "simulator",
  option: "--state",
};

/**
 * The world in a file. What changes in one turn of the event loop is written in one transaction, and nobody is told
 * of a change before it is written. Since a request changes all that it changes in one turn, there is never half of
 * it in the file.
 */
export class State implements KeyValue {
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #failed: (error: TestBedError) => void;
  readonly #resources = new Map<string, Resource | undefined>();
  readonly #madeAgain = new Set<string>();
  readonly #operations = new Map<string, Operation | undefined>();
  readonly #things = new Map<string, string>();
  readonly #texts = new Map<string, () => string>();
  readonly #changedTexts = new Set<string>();
  readonly #counters = new Map<string, { now: () => number; written: number }>();
  readonly #insert: Record<"resources" | "operations" | "things", StatementSync>;
  readonly #delete: Record<"resources" | "operations", StatementSync>;
  #waiting: (() => void)[] = [];
  #changed = false;
  #scheduled = false;
  #broken = false;

  constructor(
    options: Omit<StateFile, "use"> & {
      /** Told once when the file cannot be written any more. Nothing is answered from then on. */
      failed: (error: TestBedError) => void;
    },
  ) {
    this.#file = options.file;
    this.#failed = options.failed;
    this.#database = openStateFile({ ...options, use: stateUse });
    const upsert = (table: string, key: string, value: string) =>
      this.#database.prepare(
        `INSERT INTO ${table} (${key}, ${value}) VALUES (?, ?) ON CONFLICT (${key}) DO UPDATE SET ${value} = excluded.${value}`,
      );
    this.#insert = {
      resources: upsert("resources", "key", "body"),
      operations: upsert("operations", "id", "body"),
      things: upsert("things", "name", "value"),
    };
    this.#delete = {
      resources: this.#database.prepare("DELETE FROM resources WHERE key = ?"),
      operations: this.#database.prepare("DELETE FROM operations WHERE id = ?"),
    };
  }

  get(name: string): string | undefined {
    const pending = this.#things.get(name);
    if (pending !== undefined) return pending;
    const row = this.#database.prepare("SELECT value FROM things WHERE name = ?").get(name);
    return row === undefined ? undefined : String(row.value);
  }

  set(name: string, value: string): void {
    this.#things.set(name, value);
    this.touch();
  }

  /** Register a number that changes often: it is read when there is something to write. Returns the stored value. */
  keepNumber(name: string, now: () => number): number | undefined {
    const text = this.get(name);
    const stored = text === undefined ? undefined : Number(text);
    this.#counters.set(name, { now, written: stored ?? Number.NaN });
    return stored;
  }

  /** Keep a text that is made when it is written, and only when it is said to have changed. */
  keepText(name: string, now: () => string): void {
    this.#texts.set(name, now);
    this.#changedTexts.delete(name);
  }

  changed(name: string): void {
    this.#changedTexts.add(name);
    this.touch();
  }

  /** Something changed that must be written. */
  touch(): void {
    this.#changed = true;
  }

  readonly resources: Journal = {
    saved: (resource) => {
      const { key } = resource;
      if (this.#resources.has(key) && this.#resources.get(key) === undefined) {
        // Deleted and made again in one turn: it comes last, as it would have in two.
        this.#madeAgain.add(key);
        this.#resources.delete(key);
      }
      this.#resources.set(key, resource);
      this.touch();
    },
    removed: (key) => {
      this.#resources.set(key, undefined);
      this.touch();
    },
  };

  readonly operations: OperationJournal = {
    saved: (operation) => {
      this.#operations.set(operation.id, operation);
      this.touch();
    },
    removed: (id) => {
      this.#operations.set(id, undefined);
      this.touch();
    },
  };

  /** The resources in the file, oldest first. */
  *loadResources(): Generator<Resource> {
    for (const row of this.#database.prepare("SELECT body FROM resources ORDER BY rowid").iterate())
      yield JSON.parse(String(row.body)) as Resource;
  }

  /** The operations in the file, oldest first. */
  *loadOperations(): Generator<Operation> {
    for (const row of this.#database
      .prepare("SELECT body FROM operations ORDER BY rowid")
      .iterate()) {
      const operation = JSON.parse(String(row.body)) as Operation;
      // JSON has no word for never.
      operation.dueAt ??= Number.POSITIVE_INFINITY;
      yield operation;
    }
  }

  /** Call back when all changes so far are in the file. */
  whenPersisted(then: () => void): void {
    if (this.#broken) return;
    if (!this.#changed) {
      then();
      return;
    }
    this.#waiting.push(then);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.flush();
    });
  }

  /** Write all changes now. */
  flush(): void {
    if (this.#broken) return;
    try {
      if (this.#changed) this.#write();
    } catch (error) {
      this.#broken = true;
      this.#waiting = [];
      this.#failed(writeError(error, this.#file));
      return;
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const then of waiting) then();
  }

  /** End without writing what has not been written. */
  discard(): void {
    this.#broken = true;
    this.close();
  }

  close(): void {
    if (!this.#database.isOpen) return;
    this.flush();
    this.#database.close();
  }

  #write(): void {
    this.#database.exec("BEGIN");
    try {
      for (const [key, resource] of this.#resources) {
        if (resource === undefined || this.#madeAgain.has(key)) this.#delete.resources.run(key);
        if (resource !== undefined) this.#insert.resources.run(key, JSON.stringify(resource));
      }
      for (const [id, operation] of this.#operations)
        if (operation === undefined) this.#delete.operations.run(id);
        else this.#insert.operations.run(id, JSON.stringify(operation));
      for (const name of this.#changedTexts) {
        const text = this.#texts.get(name)?.();
        if (text !== undefined) this.#insert.things.run(name, text);
      }
      for (const [name, value] of this.#things) this.#insert.things.run(name, value);
      for (const [name, counter] of this.#counters) {
        const now = counter.now();
        if (now === counter.written) continue;
        this.#insert.things.run(name, String(now));
        counter.written = now;
      }
      this.#database.exec("COMMIT");
    } catch (error) {
      // A full disk has ended it already: https://sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
    this.#resources.clear();
    this.#madeAgain.clear();
    this.#operations.clear();
    this.#things.clear();
    this.#changedTexts.clear();
    this.#changed = false;
  }
}
