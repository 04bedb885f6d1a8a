import type { PlannedCondition } from "@postern/core/conditions.ts";
import type { Problem } from "../../../kube/part.ts";
import { conditions } from "../../names.ts";

/** A condition that was decided, or the problem that makes it False. */
export type Outcome = Pick<PlannedCondition, "status" | "reason" | "message"> | Problem;

/** The conditions of this feature. One outcome alone is that of all of them. */
export function conditionsFor(
  available: Outcome,
  endpoint = available,
  dns = endpoint,
): PlannedCondition[] {
  return [
    condition(conditions.available, available),
    condition(conditions.endpoint, endpoint),
    condition(conditions.dns, dns),
  ];
}

function condition(type: string, outcome: Outcome): PlannedCondition {
  const { reason, message } = outcome;
  return { type, status: "status" in outcome ? outcome.status : "False", reason, message };
}
