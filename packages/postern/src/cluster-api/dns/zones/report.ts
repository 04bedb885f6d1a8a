import type { PlannedCondition } from "@postern/core/conditions.ts";
import { nameOf, parentOf } from "@postern/core/resource-id.ts";
import type { Plan } from "../../../kube/feature.ts";
import { type Part, type Problem, waits } from "../../../kube/part.ts";
import type { FoundLink } from "../../../private-dns/links/observed.ts";
import type { LinkReport } from "../../../private-dns/links/plan.ts";
import type { PrivateDnsStep } from "../../../private-dns/steps.ts";
import { isPublicZone } from "../../../private-dns/zone/observed.ts";
import { conditions } from "../../names.ts";
import type { Observed, ZoneInRole } from "../observed.ts";
import { reasons } from "../reasons.ts";
import type { DnsStep } from "../steps.ts";

/** It is not as it should be yet, and nothing is wrong with that: the condition stays as it is. */
export const pending: Problem = {
  reason: reasons.privateNamesPending,
  message: "names are being written",
  progress: true,
  harmless: true,
};

/** Azure failed to write something, so nobody knows whether it works. */
export function failedResource(
  what: string,
  state: string | undefined,
  repairing: boolean,
): Problem {
  const remedy = repairing ? "Postern updates it" : "ask its owner to update it, or delete it";
  const message = `the names may not resolve · ${what} is ${state} · ${remedy}`;
  return { reason: reasons.resourceFailed, message };
}

/** The zone in a sentence. */
export function zoneCalled({ id }: Pick<ZoneInRole, "id">): string {
  return `the ${isPublicZone(id) ? "public" : "private"} zone ${nameOf(id)}`;
}

/** What is said of a link that does not work, ours or not. */
export const linkProblems: Pick<LinkReport, "unresolved" | "failed"> = {
  unresolved: ({ id }) => ({
    reason: reasons.privateNamesPending,
    message: `the network does not resolve ${zoneNameOf(id)} yet · link ${nameOf(id)} is InProgress`,
    progress: true,
  }),
  failed: ({ id, found }, repairing) =>
    failedResource(
      `link ${nameOf(id)} of the private zone ${zoneNameOf(id)}`,
      found.properties.provisioningState,
      repairing,
    ),
};

function zoneNameOf(link: FoundLink["id"]): string {
  return nameOf(parentOf(link) ?? link);
}

/** What is done in a zone is done by the identity that its role says. */
export function inRole(
  { steps, ...part }: Part<PrivateDnsStep>,
  { role }: Pick<ZoneInRole, "role">,
): Part<DnsStep> {
  return { ...part, steps: steps.map((step) => ({ ...step, role })) };
}

/** Nothing is done, and the condition stays as it is. */
export const unchanged = { steps: [], conditions: [], retainsStatus: true } as const;

/** What was wrong while all of it was observed. A workload cluster that did not answer is read again. */
export function planObserved({ problems, services }: Observed): Part<never> {
  const times = problems.flatMap(({ requeueAfterMs }) => requeueAfterMs ?? []);
  if (services === undefined) times.push(waits.changeMs);
  const part = { steps: [], problems };
  return times.length > 0 ? { ...part, requeueMs: Math.min(...times) } : part;
}

/** What somebody has to do something about. */
export function actionableIn({ problems }: Part<DnsStep>): Problem[] {
  return problems.filter(({ progress }) => !progress);
}

/** The condition as decided, or else as it is. */
export function reported(
  decided: PlannedCondition | undefined,
): Pick<Plan, "conditions" | "retainsStatus"> {
  return decided === undefined
    ? { conditions: [], retainsStatus: true }
    : { conditions: [decided] };
}

/** The condition that reports a problem. */
export function falseCondition({ reason, message }: Problem): PlannedCondition {
  return { type: conditions.dnsZone, status: "False", reason, message };
}

/** The events that tell of problems. */
export function eventsOf(problems: readonly Problem[]) {
  return problems.map(({ reason, message }) => ({
    reason,
    note: message,
    type: "Warning" as const,
  }));
}
