import type { Look } from "../../azure/gateway.ts";
import type { PrivateEndpoint } from "../../azure/gateways/private-endpoints.ts";
import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import type { Step } from "../../kube/feature.ts";
import type { PlannedCondition } from "../../model/conditions.ts";
import type { ResourceId } from "../../model/resource-id.ts";
import { reasons } from "./reasons.ts";
import type { HeldCondition } from "./seen.ts";
import type { Problem } from "./wanted.ts";

/** Everything that this feature does. */
export type RealiseStep = Step &
  (
    | { do: "open a NAT subnet"; id: ResourceId }
    | { do: "make a link service"; id: ResourceId; body: PrivateLinkService }
    | {
        do: "change a link service";
        id: ResourceId;
        body: PrivateLinkService;
        etag: string | undefined;
      }
    | { do: "remove a link service"; id: ResourceId; etag: string | undefined }
    | { do: "reject a connection" | "remove a connection"; id: ResourceId }
    | { do: "make an endpoint"; id: ResourceId; body: PrivateEndpoint }
    | { do: "change an endpoint"; id: ResourceId; body: PrivateEndpoint; etag: string | undefined }
    | { do: "remove an endpoint"; id: ResourceId; etag: string | undefined }
  );

/** What a plan says of one thing. */
export interface Verdict {
  /** Undefined where it is as it should be. */
  trouble?: { reason: string; message: string; keepsTrue?: boolean };
  steps: readonly RealiseStep[];
  /** When to look again at the latest; at the next drift check where it does not say. */
  afterMs?: number;
}

/** All is well with it. */
export const fine: Verdict = { steps: [] };

/** Something is to be waited for, or told. */
export function waiting(reason: string, message: string, afterMs?: number): Verdict {
  return { trouble: { reason, message }, steps: [], ...(afterMs !== undefined && { afterMs }) };
}

/** What is said of a thing while nobody knows what it is: its operation has failed, or goes on. */
export function unsettled(
  thing: string,
  look: Extract<Look<unknown>, { state: "failed" | "changing" }>,
): Verdict {
  if (look.state === "failed")
    return waiting(reasons.notMade, look.failure.message, look.failure.requeueAfterMs ?? 30_000);
  const message = `${thing} is being written · Azure needs about half a minute · nothing to do`;
  const trouble = { reason: reasons.making, message, keepsTrue: true };
  return { trouble, steps: [], afterMs: look.retryAfterMs };
}

const passing: ReadonlySet<string> = new Set([
  reasons.making,
  reasons.changing,
  reasons.replacing,
  reasons.removing,
  reasons.subnetChanging,
]);

/** How many troubles one message tells; the rest are counted. */
const mostTold = 5;

/** One condition for many things: True only if all of them are well. */
export function summary(
  type: string,
  verdicts: readonly Verdict[],
  problems: readonly Problem[],
  held: HeldCondition | undefined,
  ready: string,
): PlannedCondition {
  const troubles = [...problems, ...verdicts.flatMap(({ trouble }) => trouble ?? [])];
  const [first] = troubles;
  if (first === undefined)
    return { type, status: "True", reason: reasons.realised, message: ready };
  // A change in place disturbs nobody who is connected, so what was true stays true.
  const keeps = troubles.every((each) => "keepsTrue" in each && each.keepsTrue === true);
  if (keeps && held?.status === "True") return plain(held);
  const urgent = troubles.filter((each) => !isPassing(each));
  const passing = inOne(troubles.filter(isPassing));
  // What only takes its time is told after what somebody has to do something about.
  const told = [...urgent.slice(0, mostTold), ...passing].map(({ message }) => message);
  const more = urgent.length - mostTold;
  return {
    type,
    status: "False",
    severity: urgent.length > 0 ? "Error" : "Info",
    reason: (urgent[0] ?? passing[0] ?? first).reason,
    message: [...told, ...(more > 0 ? [`and ${more} more`] : [])].join("; "),
  };
}

/** Many things that only take their time are told as one: names that come and go would be a write of the status each. */
function inOne(troubles: readonly { reason: string; message: string }[]) {
  if (troubles.length < 2) return troubles;
  const reason = troubles.some((each) => each.reason === reasons.making)
    ? reasons.making
    : (troubles[0]?.reason ?? reasons.making);
  const message =
    "several things are being made, changed or removed · Azure needs about half a minute for each · nothing to do";
  return [{ reason, message }];
}

/** Whether a trouble only takes its time. */
export function isPassing({ reason }: { reason: string }): boolean {
  return passing.has(reason);
}

/** A condition as a plan names it. */
export function plain({ type, status, reason, message }: PlannedCondition): PlannedCondition {
  return { type, status, reason, message };
}
