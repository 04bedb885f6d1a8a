import type { DatabaseSync } from "node:sqlite";
import { type KeyValue, memoryKeyValue } from "@postern/core/test-bed/key-value.ts";
import { openStateFile, type StateFileUse, writeError } from "@postern/core/test-bed/state-file.ts";

/** One object as it is stored on disk. */
export interface StoredRecord {
  collection: string;
  key: string;
  text: string;
}

/** Persists objects. A write is on disk when it returns; only a loss of power can take it back. */
export interface StorageBackend {
  /** The last revision that was written down on its own. Objects may carry later ones. */
  revision(): number;
  all(): Iterable<StoredRecord>;
  put(collection: string, key: string, text: string): void;
  remove(collection: string, key: string, revision: number): void;
  /** Small things that are no objects, such as keys and tokens. */
  things: KeyValue;
  close(): void;
}

/** Persists nothing. */
export function memoryBackend(): StorageBackend {
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
export const kubernetesFileUse: StateFileUse = {
  tables: {
    objects:
      "collection TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (collection, key)",
    things: "name TEXT NOT NULL UNIQUE, value TEXT NOT NULL",
  },
  owner: "embedded Kubernetes API",
  option: "--data",
};

/** Persist everything in a file. An unreadable file is refused. */
export function fileBackend(given: { file: string; mostPages?: number }): StorageBackend {
  const database = openStateFile({ ...given, use: kubernetesFileUse });
  const wrapErrors = <T>(write: () => T): T => {
    try {
      return write();
    } catch (error) {
      throw writeError(error, given.file);
    }
  };
  const { put, remove, all, getThing, setThing } = prepare(database);
  return {
    revision: () => Number(getThing.get("revision")?.value ?? 0),
    all: () => all.iterate() as Iterable<unknown> as Iterable<StoredRecord>,
    put: (collection, key, text) => wrapErrors(() => void put.run(collection, key, text)),
    remove: (collection, key, at) =>
      wrapErrors(() => {
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
      set: (name, value) => wrapErrors(() => void setThing.run(name, value)),
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
