import { type Static, Type } from "typebox";
import { oneOf } from "./schema.ts";

const conditionSchema = Type.Object(
  {
    type: Type.String({
      description: "The type of the condition, in CamelCase.",
      minLength: 1,
      maxLength: 256,
    }),
    status: oneOf(["True", "False", "Unknown"], "The status of the condition."),
    severity: Type.Optional(
      Type.String({
        description: "How severe it is that the condition is not True: Error, Warning or Info.",
        maxLength: 32,
      }),
    ),
    reason: Type.Optional(
      Type.String({
        description: "The reason for the last transition.",
        minLength: 1,
        maxLength: 256,
      }),
    ),
    message: Type.Optional(
      Type.String({ description: "A message for people.", minLength: 1, maxLength: 10_240 }),
    ),
    lastTransitionTime: Type.String({
      description: "When the status last changed.",
      format: "date-time",
    }),
  },
  { description: "A condition of the object." },
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
    "The conditions of the object. The list is atomic: writing a part of it replaces all of it.",
  "x-kubernetes-list-type": "atomic",
});
