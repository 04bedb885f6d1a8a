import type { PlannedCondition } from "@postern/core/conditions.ts";
import type { Service } from "@postern/core/kinds/core.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Precondition } from "../../azure/gateway.ts";
import type { PrivateEndpoint } from "../../azure/gateways/private-endpoints.ts";
import type { Step } from "../../kube/feature.ts";
import type { PrivateDnsStep } from "../../private-dns/steps.ts";
import type { OwnStatus } from "./observed.ts";

type Put<On extends string, Do extends string, T> = Step & {
  on: On;
  do: Do;
  id: ResourceId;
  body: T;
  condition: string;
} & Precondition;

type Remove<On extends string, Do extends string> = Step & {
  on: On;
  do: Do;
  id: ResourceId;
  condition: string;
  ifMatch?: string | undefined;
};

/** Everything that this feature does. `on` says to what, `do` says it to a person. */
export type EndpointStep =
  | Put<"endpoint", "make endpoint" | "tag endpoint" | "repair endpoint", PrivateEndpoint>
  | Remove<"endpoint", "remove endpoint">
  | (PrivateDnsStep & { condition: string })
  | (Step & { on: "service"; do: "write service"; service: Service; found: Service | undefined })
  | (Step & { on: "service"; do: "remove service"; found: Service });

/** The state of one condition, without its type. */
export type Verdict = Pick<PlannedCondition, "status" | "reason" | "message">;

/** What one part of the plan decides: the endpoint, a zone, the Services. */
export interface Part {
  steps: EndpointStep[];
  /** What it makes of its condition; undefined where it leaves it as it is. */
  verdict: Verdict | undefined;
  /** When to look again although nothing is begun. */
  waitMs?: number | undefined;
  events?: { reason: string; note: string; type?: "Normal" | "Warning" }[];
  status?: OwnStatus;
}

/** A part in which nothing is to be done. */
export function rest(
  verdict: Verdict | undefined,
  more: Omit<Partial<Part>, "verdict"> = {},
): Part {
  return { steps: [], verdict, ...more };
}

export const isFalse = (reason: string, message: string): Verdict => ({
  status: "False",
  reason,
  message,
});
