import { type Static, Type } from "typebox";
import { oneOf } from "./schema.ts";

const conditionSchema = Type.Object(
  {
    type: Type.String({
      description: "What the condition is about, in CamelCase.",
      minLength: 1,
      maxLength: 256,
    }),
    status: oneOf(["True", "False", "Unknown"], "Whether the condition holds."),
    severity: Type.Optional(
      Type.String({
        description: "How bad it is that it does not hold: Error, Warning or Info.",
        maxLength: 32,
      }),
    ),
    reason: Type.Optional(
      Type.String({ description: "Why it was set last.", minLength: 1, maxLength: 256 }),
    ),
    message: Type.Optional(
      Type.String({ description: "The same for a person.", minLength: 1, maxLength: 10_240 }),
    ),
    lastTransitionTime: Type.String({
      description: "When the status changed last.",
      format: "date-time",
    }),
  },
  { description: "One thing that is, is not, or may be true of the object." },
);

/**
 * A condition as Cluster API had them before v1beta2, and as CAPZ still has. It has no `observedGeneration`: the
 * API server drops one without a word.
 */
export type CapiCondition = Static<typeof conditionSchema>;

/**
 * The conditions of a status. To the API server the list is one value: whoever applies it replaces what
 * everybody else wrote, and nobody minds two entries of one type.
 */
export const capiConditions = Type.Array(conditionSchema, {
  description:
    "What is known about the object. The list is one value: writing a part of it replaces the whole.",
  "x-kubernetes-list-type": "atomic",
});
