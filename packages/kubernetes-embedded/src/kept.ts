import type { DatabaseSync } from "node:sqlite";
import { type KeyValue, memoryKeyValue } from "@postern/core/test-bed/key-value.ts";
import { openStateFile, type StateFileUse, writeError } from "@postern/core/test-bed/state-file.ts";

/** One object as it lies on disk. */
export interface KeptObject {
  collection: string;
  key: string;
  text: string;
}

/** What outlives the process. A write is on disk when it returns; only a loss of power can take it back. */
export interface Kept {
  /** The last revision that was written down on its own. Objects may carry later ones. */
  revision(): number;
  all(): Iterable<KeptObject>;
  put(collection: string, key: string, text: string): void;
  remove(collection: string, key: string, revision: number): void;
  /** Small things that are no objects, such as keys and tokens. */
  things: KeyValue;
  close(): void;
}

/** Where nothing outlives the process. */
export function keptNowhere(): Kept {
  return {
    revision: () => 0,
    all: () => [],
    put: () => undefined,
    remove: () => undefined,
    things: memoryKeyValue(),
    close: () => undefined,
  };
}

/** What is in the file. */
export const keptUse: StateFileUse = {
  tables: {
    objects:
      "collection TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (collection, key)",
    things: "name TEXT NOT NULL UNIQUE, value TEXT NOT NULL",
  },
  owner: "embedded Kubernetes API",
  option: "--data",
};

/** Keep everything in a file. One that cannot be read is refused. */
export function keptIn(given: { file: string; mostPages?: number }): Kept {
  const database = openStateFile({ ...given, use: keptUse });
  const written = <T>(write: () => T): T => {
    try {
      return write();
    } catch (error) {
      throw writeError(error, given.file);
    }
  };
  const { put, remove, all, getThing, setThing } = prepare(database);
  return {
    revision: () => Number(getThing.get("revision")?.value ?? 0),
    all: () => all.iterate() as Iterable<unknown> as Iterable<KeptObject>,
    put: (collection, key, text) => written(() => void put.run(collection, key, text)),
    remove: (collection, key, at) =>
      written(() => {
        database.exec("BEGIN");
        try {
          remove.run(collection, key);
          setThing.run("revision", String(at));
          database.exec("COMMIT");
        } catch (error) {
          if (database.isTransaction) database.exec("ROLLBACK");
          throw error;
        }
      }),
    things: {
      get: (name) => getThing.get(name)?.value as string | undefined,
      set: (name, value) => written(() => void setThing.run(name, value)),
    },
    close: () => database.close(),
  };
}

function prepare(database: DatabaseSync) {
  return {
    all: database.prepare("SELECT collection, key, body AS text FROM objects"),
    put: database.prepare(
      "INSERT OR REPLACE INTO objects (collection, key, body) VALUES (?, ?, ?)",
    ),
    remove: database.prepare("DELETE FROM objects WHERE collection = ? AND key = ?"),
    getThing: database.prepare("SELECT value FROM things WHERE name = ?"),
    setThing: database.prepare("INSERT OR REPLACE INTO things (name, value) VALUES (?, ?)"),
  };
}
