import type { Condition } from "../kinds/condition.ts";
import type { JournalStep } from "./journal-step.ts";
import type { Picture } from "./picture.ts";
import type { Trace } from "./trace.ts";

/** One cluster, with everything that is known of it. */
export interface ClusterPage {
  picture: Picture;
  plans: {
    controller: string;
    kind: string;
    object: string;
    steps: { do: string; why: string }[];
    failure?: string;
  }[];
  steps: JournalStep[];
  conditions: { object: string; conditions: readonly Condition[] }[];
  events: EventLine[];
  traces: { host: string; traces: Trace[] }[];
}

/** An event of Kubernetes. */
export interface EventLine {
  at: string;
  type: string;
  reason: string;
  note: string;
  object: string;
}
