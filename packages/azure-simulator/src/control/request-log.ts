import { alike } from "./fault-rule.ts";

/** One request as it was answered. */
export interface LogEntry {
  /** Counted from 1, and on after the log was emptied. */
  sequence: number;
  at: number;
  method: string;
  path: string;
  /** What followed the path, without its question mark, such as `api-version=2024-05-01`. */
  query: string;
  ifMatch?: string;
  /** The name that the client gave to the request. */
  clientRequestId?: string;
  /** The program that asked, as it named itself. */
  userAgent?: string;
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
  /** Only what came after the entry of this sequence number. */
  since?: number;
  /** Not before this time. */
  notBefore?: number;
  /** The newest so many. */
  limit?: number;
}

const maxEntries = 100_000;

/** The requests that were answered, the oldest forgotten first. */
export class RequestLog {
  readonly #entries: LogEntry[] = [];
  #dropped = 0;
  #last = 0;

  /** Count one more entry: its sequence number, with which it is then added. */
  count(): number {
    return ++this.#last;
  }

  add(entry: LogEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length < maxEntries * 2) return;
    this.#dropped += maxEntries;
    this.#entries.splice(0, maxEntries);
  }

  /** Those that are wanted, as they are now: the list does not grow with the log. */
  entries(filter: LogFilter = {}): readonly Readonly<LogEntry>[] {
    const { method, path, identity, action, status, cost, since, notBefore, limit } = filter;
    const found = this.#entries.filter(
      (each) =>
        (since === undefined || each.sequence > since) &&
        (notBefore === undefined || each.at >= notBefore) &&
        (method === undefined || alike(method, each.method)) &&
        (path === undefined || alike(path, each.path)) &&
        (identity === undefined || alike(identity, each.identity)) &&
        (action === undefined || alike(action, each.action)) &&
        (status === undefined || each.status === status) &&
        (cost === undefined || each.cost === cost),
    );
    return limit === undefined ? found : found.slice(Math.max(0, found.length - limit));
  }

  /** The sequence number of the newest entry there ever was, to ask later for what came `since`; 0 before the first. */
  get last(): number {
    return this.#last;
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
