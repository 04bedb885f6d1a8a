import type { OperatorPresence, Picture } from "./picture.ts";

/** What the operator has to do, and what Azure lets it do. */
export interface Fleet {
  operator: OperatorPresence;
  /** Keys that wait for a worker, and that a worker reconciles. */
  queued: number;
  running: number;
  /** Reconciles that failed within the last ten minutes. */
  errors: number;
  /** Long-running operations of Azure that steps have begun. */
  operations: number;
  budgets: BudgetLine[];
}

/** The request budget of one identity in one subscription. */
export interface BudgetLine {
  /** Who it is, by the name that people know. */
  name: string;
  identity: string;
  subscription: string;
  reads: BucketLine;
  writes: BucketLine;
  deletes: BucketLine;
}

/** What is left of one kind of requests, and what waits for it. */
export interface BucketLine {
  remaining: number;
  waiting: Record<string, number>;
  parkedForMs: number;
}

/** The first page. */
export interface Overview {
  picture: Picture;
  fleet: Fleet;
}
