import type { PlannedCondition } from "../model/conditions.ts";
import type { Kind, KubeObject } from "../model/kind.ts";
import type { Pass } from "./pass.ts";

/** Something that a plan wants done. */
export interface Step {
  do: string;
  why: string;
  /** The reason of the event that tells of it. Without one nothing is told. */
  event?: string;
  /** The condition that tells of its failure; the feature's first where it names none. */
  condition?: string;
  /** The reason of that condition; the failure's own where it names none. */
  failsAs?: string;
}

/** When to look again if nothing happens before: soon, at the next drift check, never, or after a time. */
export type Again = "soon" | "drift" | "never" | { afterMs: number };

/** What a plan says. All of its steps may begin at once: what must wait for another belongs to the next pass. */
export interface Plan<S extends Step = Step> {
  steps: readonly S[];
  /** All conditions that this controller owns, as they should be. One that is not named is removed. */
  conditions: readonly PlannedCondition[];
  /** The status fields that this controller owns, as they should be. One that is not named is removed. */
  status?: Record<string, unknown>;
  /**
   * What people should hear of beside the steps; told once, when the status changes to what is planned here. Where
   * the feature has no status of its own: once, when this was not what was told last.
   */
  events?: readonly { reason: string; note: string; type?: "Normal" | "Warning" }[];
  /** `hold` puts our finalizer on before the first step, `release` takes it off when there is no step left. */
  finalizer?: "hold" | "release";
  /**
   * Counts for a plan without steps: after steps that are done it is looked again at once. A time counts beside steps that
   * run or fail too: what was begun earlier must not wait for what was begun last.
   */
  again: Again;
}

/** What came of a step. A long one is `running`: it is looked at again, never waited for. */
export type Applied = { state: "done" } | { state: "running"; retryAfterMs: number };

/** One thing that Postern does, in three words: see, plan, apply. */
export interface Feature<T extends KubeObject = KubeObject, Seen = unknown, S extends Step = Step> {
  /** The controller's name in metrics, logs and events; `postern-<name>` is its field manager. */
  name: string;
  kind: Kind<T>;
  finalizer?: string;
  /** The condition types that are its own. The first one tells of failures; without any, only events do. */
  conditions: readonly string[];
  /** Those of them that are its own on this object, where on some objects another writes them. */
  conditionsOn?(object: T): readonly string[];
  /** The reason of failures that are not of a step; the failure's own where it names none. */
  failsAs?: string;
  /** The status fields that are its own. */
  statusFields?: readonly string[];
  /** How many objects are reconciled at once, of whatever tenant. */
  concurrency?: number;
  /** Whose an object is, where that is not said by its namespace: one tenant does not occupy all workers. */
  tenantOf?(object: T): string | undefined;
  see(object: T, pass: Pass): Promise<Seen>;
  plan(seen: Seen): Plan<S>;
  apply(step: S, pass: Pass): Promise<Applied>;
}
