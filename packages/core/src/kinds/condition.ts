import { type Static, Type } from "typebox";
import { oneOf } from "./schema.ts";

const conditionSchema = Type.Object(
  {
    type: Type.String({
      description: "What the condition is about, in CamelCase, with or without a domain before it.",
      maxLength: 316,
      pattern:
        "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
    }),
    status: oneOf(["True", "False", "Unknown"], "Whether the condition holds."),
    reason: Type.String({
      description: "Why it was set last, in one CamelCase word.",
      minLength: 1,
      maxLength: 1024,
      pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
    }),
    message: Type.String({
      description: "The same for a person: what happened, why, and what to do.",
      maxLength: 32_768,
    }),
    observedGeneration: Type.Optional(
      Type.Integer({
        description: "The generation of the object that this was decided for.",
        format: "int64",
        minimum: 0,
      }),
    ),
    lastTransitionTime: Type.String({
      description: "When the status changed last.",
      format: "date-time",
    }),
  },
  { description: "One thing that is, is not, or may be true of the object." },
);

/** A condition in the status of an object, as every Kubernetes API has them. */
export type Condition = Static<typeof conditionSchema>;

/** The conditions of a status, one of each type. Each type can so have its own writer. */
export function conditionList(limits: { minItems?: number; maxItems: number }) {
  return Type.Array(conditionSchema, {
    description: "What is known about the object, one entry of each type.",
    ...limits,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
  });
}
