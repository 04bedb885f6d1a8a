import { alike } from "./fault-rule.ts";

/** One request as it was answered. */
export interface LogEntry {
  at: number;
  method: string;
  path: string;
  /** 0 where the answer was lost on purpose. */
  status: number;
  /** Who asked, by object id; empty where nobody was known. */
  identity: string;
  action: string;
  /** What it was counted as. */
  cost: "read" | "write" | "delete" | "none";
  /** What was made to go wrong with it. */
  fault?: string;
}

/** Which entries are wanted. In a text, `*` stands for anything. */
export interface LogFilter {
  method?: string;
  path?: string;
  identity?: string;
  action?: string;
  status?: number;
  cost?: string;
  /** Not before this time. */
  since?: number;
  /** The newest so many. */
  limit?: number;
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

  entries(filter: LogFilter = {}): readonly LogEntry[] {
    const { method, path, identity, action, status, cost, since, limit } = filter;
    const found =
      Object.keys(filter).length === 0
        ? this.#entries
        : this.#entries.filter(
            (each) =>
              (method === undefined || alike(method, each.method)) &&
              (path === undefined || alike(path, each.path)) &&
              (identity === undefined || alike(identity, each.identity)) &&
              (action === undefined || alike(action, each.action)) &&
              (status === undefined || each.status === status) &&
              (cost === undefined || each.cost === cost) &&
              (since === undefined || each.at >= since),
          );
    return limit === undefined ? found : found.slice(-limit);
  }

  /** How many were forgotten because there were too many. */
  get dropped(): number {
    return this.#dropped;
  }

  clear(): void {
    this.#entries.length = 0;
    this.#dropped = 0;
  }
}
