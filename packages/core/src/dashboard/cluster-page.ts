import type { HealthCondition } from "../health.ts";
import type { Fleet } from "./fleet.ts";
import type { JournalStep } from "./journal-step.ts";
import type { Picture, State } from "./picture.ts";
import type { Trace } from "./trace.ts";

/** One cluster, with everything that is known of it. */
export interface ClusterPage {
  picture: Picture;
  fleet: Fleet;
  plans: {
    controller: string;
    kind: string;
    object: string;
    steps: PlannedStep[];
    /** Steps that the policy of the operator or of the cluster withholds. */
    withheld: PlannedStep[];
    failure?: string;
  }[];
  steps: JournalStep[];
  conditions: { object: string; conditions: readonly ConditionLine[] }[];
  events: EventLine[];
  traces: { host: string; traces: Trace[] }[];
}

/** A step that a controller would begin, with the fields that it changes. */
export interface PlannedStep {
  do: string;
  name: string;
  why: string;
  changes: FieldChange[];
}

/** A condition, its message in sentences, and whether it is done, in progress or failed. Cluster API's may have no reason. */
export interface ConditionLine extends HealthCondition {
  message: string;
  state: State;
}

/** A field of a resource that a step would change: added, removed, or both. */
export interface FieldChange {
  path: string;
  from?: string;
  to?: string;
}

/** An object of Kubernetes as kubectl shows it. */
export interface ObjectText {
  object: string;
  yaml: string;
}

/** An event of Kubernetes. */
export interface EventLine {
  at: string;
  type: string;
  reason: string;
  note: string;
  object: string;
}
