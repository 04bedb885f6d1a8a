import type { PlannedCondition } from "@postern/core/conditions.ts";
import type { Kind, KubeObject } from "@postern/core/kind.ts";
import type { Pass } from "./pass.ts";
import type { WithStatus } from "./status.ts";

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
  /** What else can be done about its failure; the end of the condition's message. */
  remedy?: string;
  /** It removes a finalizer from another object, or what else leads to what is to be deleted: confirmed as `release` is. */
  releases?: true;
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
  /** What is not named here of the conditions and fields stays as it is, instead of being removed. */
  keepsStatus?: true;
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

/**
 * What came of a step. A long one is `running`: it is looked at again, never waited for. So is one that was not begun,
 * because another reconcile was faster: no event tells of it, and the next reconcile plans by what is so then.
 */
export type Applied =
  | { state: "done" }
  | { state: "running"; retryAfterMs: number; isBegun?: false };

/** The object whose status tells of a plan. */
export interface StatusTarget {
  kind: Kind;
  object: WithStatus;
  /** Told of the version that a write of the status made. */
  wrote?(resourceVersion: string): void;
}

/** What was observed, as plain data for the plan; and what its steps need beside it, such as the ARM client that read it. */
export interface Observation<Observed, Context> {
  observed: Observed;
  context: Context;
}

/** One thing that Postern does, in three words: observe, plan, apply. */
export interface Feature<
  T extends KubeObject = KubeObject,
  Observed = unknown,
  S extends Step = Step,
  Context = unknown,
> {
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
  /** Where its status is, if not on the object that is reconciled; undefined where there is no place for it. */
  reportsOn?(context: Context): StatusTarget | undefined;
  /** The status fields that are its own. */
  statusFields?: readonly string[];
  /**
   * How old the answer to a read may be. A finalizer is removed only by a reconcile that read everything this long after the
   * deletion began: an older answer may not show what was created shortly before, and nobody would look for it again.
   */
  staleReadsMs?: number;
  /** How many objects are reconciled at once, of whatever tenant. */
  concurrency?: number;
  /** Whose an object is, where that is not said by its namespace: one tenant does not occupy all workers. */
  tenantOf?(object: T): string | undefined;
  /** Reads everything once, and changes nothing. */
  observe(object: T, pass: Pass): Promise<Observation<Observed, Context>>;
  /** Decides, by what was observed alone. */
  plan(observed: Observed): Plan<S>;
  /** Begins one step, and waits for none. */
  apply(step: S, context: Context, pass: Pass): Promise<Applied>;
}

/** A feature as the controller runs it: what it observes and does is its own business. */
export function defineFeature<T extends KubeObject, Observed, S extends Step, Context>(
  feature: Feature<T, Observed, S, Context>,
): Feature {
  return feature;
}
