/** What the server sends. Only types: no code of the server is in the bundle. */

export type {
  ClusterPage,
  ConditionLine,
  EventLine,
  FieldChange,
  ObjectText,
} from "@postern/core/dashboard/cluster-page.ts";
export type { BucketLine, BudgetLine, Fleet, Overview } from "@postern/core/dashboard/fleet.ts";
export type { JournalStep } from "@postern/core/dashboard/journal-step.ts";
export type {
  ClusterSummary,
  Node,
  OperatorPresence,
  Picture,
  State,
} from "@postern/core/dashboard/picture.ts";
export type { Hop, Trace } from "@postern/core/dashboard/trace.ts";
export type { Cause, Health } from "@postern/core/health.ts";

/** What the server is, and which faults it can inject. */
export interface About {
  mode: "local" | "operator";
  version: string;
  /** Where the cloud shows its resources; the simulator has no such place. */
  portal?: string;
  actions: Fault[];
}

/** A fault that local mode can inject at a private endpoint. */
export interface Fault {
  name: string;
  label: string;
  about: string;
  isDestructive: boolean;
}
