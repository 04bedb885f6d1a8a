import type { PlannedCondition } from "@postern/core/conditions.ts";
import type { Kind, KubeObject } from "@postern/core/kind.ts";
import type { Reconcile } from "./reconcile.ts";
import type { WithStatus } from "./status.ts";
import type { StepName } from "./step-words.ts";

/** One write that a plan asks for. One that deletes something has a `verb`, by which a policy withholds it (`step-policy.ts`). */
export interface Step {
  do: StepName;
  /** The resource's name. */
  name: string;
  /** A clause that follows both: "it does not exist". */
  why: string;
  /** An event is recorded when it has begun (`step-words.ts`). */
  event?: true;
  /** The condition that reports its failure. Default: the feature's first. */
  condition?: string;
  /** The reason of that condition. Default: the failure's own. */
  failsAs?: string;
  /** What else a person can do about its failure; appended to the condition's message. */
  remedy?: string;
  /** It removes a finalizer from another object, or the last reference to what is being deleted: confirmed like the removal of our own finalizer. */
  releases?: true;
}

/** When to reconcile again if no event arrives before: soon, at the next drift check, never, or after a time. */
export type Requeue = "soon" | "drift" | "never" | { afterMs: number };

/** The result of planning. All steps may begin at once: a step that depends on another belongs to the next reconcile. */
export interface Plan<S extends Step = Step> {
  steps: readonly S[];
  /** Steps that a policy withholds (`step-policy.ts`): set by the controller, not by the plan of a feature. */
  withheld?: readonly S[];
  /** All conditions that this controller owns, as desired. One that is missing here is removed. */
  conditions: readonly PlannedCondition[];
  /** The status fields that this controller owns, as desired. One that is missing here is removed. */
  status?: Record<string, unknown>;
  /** Conditions and fields that are missing here stay as they are, instead of being removed. */
  retainsStatus?: true;
  /**
   * Events besides those of the steps. They are recorded once, when the status changes to what is planned here; where the
   * feature has no status of its own, when they differ from the last ones.
   */
  events?: readonly {
    reason: string;
    note: string;
    type?: "Normal" | "Warning";
    /** Also a log line, which outlives the event. */
    isLogged?: true;
  }[];
  /** `add` adds our finalizer before the first step, `remove` removes it when no step is left. */
  finalizer?: "add" | "remove";
  /**
   * Applies to a plan without steps: after steps that are done, the object is reconciled again at once. A time also applies
   * beside steps that are running or failed, so that an earlier operation does not wait for the latest one.
   */
  requeue: Requeue;
}

/**
 * The result of a step. A long-running operation is `running`: the object is requeued, and nothing waits. Of a step that wrote
 * nothing, because the resource has changed since it was observed, no event is recorded; the next reconcile plans again.
 */
export type Applied = ({ state: "done" } | { state: "running"; retryAfterMs: number }) & {
  isBegun?: false;
};

/** The object whose status reports a plan. */
export interface StatusTarget {
  kind: Kind;
  object: WithStatus;
  /** Called with the resourceVersion that a status write returned. */
  wrote?(resourceVersion: string): void;
}

/** Plain data for the plan, and what its steps need besides, such as the ARM client that read the data. */
export interface Observation<Observed, Context> {
  observed: Observed;
  context: Context;
  /** The values of the annotation `postern.io/policy` that apply to the object. */
  policies?: readonly string[];
}

/** What one controller does: observe, plan, apply. */
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
  /** What it was called before: replaced by `finalizer`, and removed with it. */
  formerFinalizer?: string;
  /** The condition types that it owns. The first one reports failures; without any, only events do. */
  conditions: readonly string[];
  /** Those that it owns on this object, where another controller writes them on some objects. */
  conditionsOn?(object: T): readonly string[];
  /** The reason of failures outside of steps. Default: the failure's own. */
  failsAs?: string;
  /** The object that has its status, if not the reconciled one; undefined if none has. */
  reportsOn?(context: Context): StatusTarget | undefined;
  /** The status fields that it owns. */
  statusFields?: readonly string[];
  /**
   * How stale a read may be. A finalizer is removed only by a reconcile that read everything this long after the deletion
   * began: an earlier read may miss what was created shortly before, and nothing would find it later.
   */
  staleReadsMs?: number;
  /** It writes only what the operator needs to read anything: `--policy` does not apply. */
  ignoresPolicy?: true;
  /** How many objects are reconciled at once, over all tenants. */
  concurrency?: number;
  /** The tenant of an object, where it is not the namespace: one tenant must not occupy all workers. */
  tenantOf?(object: T): string | undefined;
  /** Reads everything once, and changes nothing. */
  observe(object: T, reconcile: Reconcile): Promise<Observation<Observed, Context>>;
  /** Decides from what was observed alone: no client, no clock, no log. */
  plan(observed: Observed): Plan<S>;
  /** Begins one step. Never waits for a long-running operation. */
  apply(step: S, context: Context, reconcile: Reconcile): Promise<Applied>;
}

/** The object whose status a feature writes; undefined where there is none. */
export function statusTargetOf(
  feature: Feature,
  object: WithStatus,
  context: unknown,
): StatusTarget | undefined {
  return feature.reportsOn ? feature.reportsOn(context) : { kind: feature.kind, object };
}

/** Type-checks a feature and erases its own types, so that the controller runs all features alike. */
export function defineFeature<T extends KubeObject, Observed, S extends Step, Context>(
  feature: Feature<T, Observed, S, Context>,
): Feature {
  return feature;
}
