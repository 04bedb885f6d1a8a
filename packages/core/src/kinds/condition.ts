import { type Static, Type } from "typebox";
import { oneOf } from "./schema.ts";

const conditionSchema = Type.Object(
  {
    type: Type.String({
      description: "The type of the condition, in CamelCase, optionally with a domain as a prefix.",
      maxLength: 316,
      pattern:
        "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
    }),
    status: oneOf(["True", "False", "Unknown"], "The status of the condition."),
    reason: Type.String({
      description: "The reason for the last transition, in one CamelCase word.",
      minLength: 1,
      maxLength: 1024,
      pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
    }),
    message: Type.String({
      description: "A message for people: what happened, why, and what to do.",
      maxLength: 32_768,
    }),
    observedGeneration: Type.Optional(
      Type.Integer({
        description: "The generation of the object that the condition was computed for.",
        format: "int64",
        minimum: 0,
      }),
    ),
    lastTransitionTime: Type.String({
      description: "When the status last changed.",
      format: "date-time",
    }),
  },
  { description: "A condition of the object." },
);

/** A condition in the status of an object, as every Kubernetes API has them. */
export type Condition = Static<typeof conditionSchema>;

/** The conditions of a status, one of each type. Each type can so have its own writer. */
export function conditionList(limits: { minItems?: number; maxItems: number }) {
  return Type.Array(conditionSchema, {
    description: "The conditions of the object, one for each type.",
    ...limits,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
  });
}
