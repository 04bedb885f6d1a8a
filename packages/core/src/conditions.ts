import type { Condition } from "./kinds/condition.ts";
import { cut } from "./redact.ts";
import { messageInSentences } from "./sentences.ts";

/** A condition as a plan decides it: a plan has no clock, and knows no generation. */
export type PlannedCondition = Pick<Condition, "type" | "status" | "reason" | "message"> & {
  /** Of one that is False, where the conditions have such a field: `Info` for what comes by itself. */
  severity?: "Error" | "Info";
};

/** The same with the generation that it was decided for. */
export type ObservedCondition = Omit<Condition, "lastTransitionTime">;

/** A message may quote what a tenant wrote. The API server refuses one of more than 32768 characters. */
const longestMessage = 4_096;

/**
 * Put `next` in its place. The time moves only when the status does.
 * An equal condition gives back the same array, so a caller can skip the write with `===`.
 */
export function withCondition(
  all: readonly Condition[],
  next: ObservedCondition,
  now: Date,
): readonly Condition[] {
  const old = all.find((condition) => condition.type === next.type);
  const lastTransitionTime =
    old?.status === next.status ? old.lastTransitionTime : wholeSeconds(now);
  // One that is only carried along stays as it is. It may be another's, and have no message.
  const isCarried = "lastTransitionTime" in next;
  const made = {
    ...next,
    ...(!isCarried && { message: conditionMessage(next.message) }),
    lastTransitionTime,
  };
  if (old === undefined) return [...all, made];
  if (same(old, made)) return all;
  return all.map((condition) => (condition === old ? made : condition));
}

/** A message as it is written into a condition: sentences without secrets. */
function conditionMessage(message: string): string {
  return messageInSentences(cut(message, longestMessage));
}

/** Whether a condition already reports this, as it would be written. */
export function isReported(
  present: Pick<Condition, "reason" | "message"> | undefined,
  { reason, message }: Pick<Condition, "reason" | "message">,
): boolean {
  return present?.reason === reason && present.message === conditionMessage(message);
}

/** The conditions without those types; the same array where none of them was there. */
export function withoutConditions(
  all: readonly Condition[],
  types: readonly string[],
): readonly Condition[] {
  return all.some(({ type }) => types.includes(type))
    ? all.filter(({ type }) => !types.includes(type))
    : all;
}

/**
 * Put all of a plan's conditions in their places and take away those of our types that it no longer
 * has. Other types are somebody else's and stay. The same array comes back where nothing differs.
 */
export function withConditions(
  all: readonly Condition[],
  planned: readonly ObservedCondition[],
  ourTypes: readonly string[],
  now: Date,
): readonly Condition[] {
  const unwanted = ourTypes.filter((type) => !planned.some((condition) => condition.type === type));
  return planned.reduce(
    (sum, condition) => withCondition(sum, condition, now),
    withoutConditions(all, unwanted),
  );
}

/** The condition of a type. */
export function conditionOf(
  all: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return all?.find((condition) => condition.type === type);
}

/** Whether a condition is there and True. */
export function isTrue(all: readonly Condition[] | undefined, type: string): boolean {
  return conditionOf(all, type)?.status === "True";
}

/** Kubernetes writes times of conditions in whole seconds. */
function wholeSeconds(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

function same(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration
  );
}
