/** What the server says. Only types: nothing of the server comes along. */

export type { ClusterPage, EventLine } from "@postern/core/dashboard/cluster-page.ts";
export type { JournalStep } from "@postern/core/dashboard/journal-step.ts";
export type {
  ClusterSummary,
  Line,
  Network,
  Node,
  Picture,
  State,
} from "@postern/core/dashboard/picture.ts";
export type { Hop, Trace } from "@postern/core/dashboard/trace.ts";

/** What the server is, and what may be done from here. */
export interface About {
  mode: "local" | "operator";
  version: string;
  actions: ActionButton[];
}

export interface ActionButton {
  name: string;
  label: string;
  about: string;
  on: "nothing" | "endpoint" | "link-service" | "cluster";
}

/** The request budget of one identity in one subscription. */
export interface BudgetLine {
  identity: string;
  subscription: string;
  reads: BucketLine;
  writes: BucketLine;
  deletes: BucketLine;
}

export interface BucketLine {
  remaining: number;
  waiting: Record<string, number>;
  parkedForMs: number;
}
