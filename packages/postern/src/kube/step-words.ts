import type { NewEvent } from "./events.ts";
import type { Step } from "./feature.ts";

/** The verbs of steps, each with the reason of its event; docs/reference/conditions.md explains them. */
export const stepReasons = {
  add: "Added",
  adopt: "Adopted",
  claim: "Claimed",
  create: "Created",
  delete: "Deleted",
  link: "Linked",
  pause: "Paused",
  record: "Recorded",
  reject: "Rejected",
  release: "Released",
  remove: "Removed",
  resume: "Resumed",
  unlink: "Unlinked",
  update: "Updated",
} as const;

type StepVerb = keyof typeof stepReasons;

/** What a step does: a verb and the kind of resource, such as "create link service". */
export type StepName = `${StepVerb} ${string}`;

/** A step as people read it: "Create link service pls-1: it does not exist". */
export function stepText({ do: what, name, why }: Pick<Step, "do" | "name" | "why">): string {
  return `${what.charAt(0).toUpperCase()}${what.slice(1)} ${name}: ${why}`;
}

/** The event of a step that has begun: "Created: Created link service pls-1: it does not exist." */
export function eventOfStep({ do: what, name, why }: Step): NewEvent {
  const verb = what.split(" ", 1)[0] as StepVerb;
  const reason = stepReasons[verb];
  const note = `${reason}${what.slice(verb.length)} ${name}: ${why}.`;
  return { type: "Normal", reason, action: what, note };
}
