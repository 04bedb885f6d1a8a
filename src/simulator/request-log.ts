/** One request as it was answered. */
export interface LogEntry {
  at: number;
  method: string;
  path: string;
  status: number;
  /** Who asked, by object id; empty where nobody was known. */
  identity: string;
  action: string;
  /** What it was counted as. */
  cost: "read" | "write" | "delete" | "none";
}

const kept = 100_000;

/** The requests that were answered, the oldest forgotten first. */
export class RequestLog {
  readonly #entries: LogEntry[] = [];
  #dropped = 0;

  add(entry: LogEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length < kept * 2) return;
    this.#dropped += kept;
    this.#entries.splice(0, kept);
  }

  entries(): readonly LogEntry[] {
    return this.#entries;
  }

  get dropped(): number {
    return this.#dropped;
  }

  clear(): void {
    this.#entries.length = 0;
  }
}
