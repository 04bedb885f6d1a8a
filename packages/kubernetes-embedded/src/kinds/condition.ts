import type { Schema } from "../resource.ts";
import { fields, int64, oneOf, text, time } from "./fields.ts";

const said = {
  type: text("What it is about."),
  status: oneOf(["True", "False", "Unknown"], "Whether it is so."),
  reason: text("Why, in one word."),
  message: text("Why, for a person."),
  lastTransitionTime: time("When the status last changed."),
};

/** A condition as the older kinds have it, with the fields that are its own. */
export function condition(description: string, more: Record<string, Schema> = {}): Schema {
  return fields(description, { ...said, ...more }, ["type", "status"]);
}

/** A condition as newer kinds have it. */
export const commonCondition: Schema = fields(
  "One thing that is known of the object.",
  { ...said, observedGeneration: int64("The generation that it speaks of.") },
  ["type", "status", "lastTransitionTime", "reason", "message"],
);
