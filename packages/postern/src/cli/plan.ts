import { counted } from "@postern/core/counted.ts";
import { type ClusterSummary, stateOfHealth } from "@postern/core/dashboard/picture.ts";
import { type Format, show, withOutput } from "@postern/core/process/output.ts";
import { messageInSentences } from "@postern/core/sentences.ts";
import { Command } from "commander";
import type { Planned } from "../kube/dry-run.ts";
import type { Plan } from "../kube/feature.ts";
import { stepText } from "../kube/step-words.ts";
import type { NotPlanned } from "../operator/dry-run.ts";
import { type PlanFlags, withPlanOptions } from "../operator/plan-options.ts";
import { healthFor } from "../view/health/times.ts";
import { mark, paint, withConnection } from "./output.ts";
import type { ConnectOptions } from "./session.ts";

type PlanOptions = ConnectOptions & PlanFlags & { output: Format };

/** `postern plan`: what the operator would do next, and why. It changes nothing. */
export function command(): Command {
  const base = withOutput(withConnection(new Command("plan")))
    .description(
      "Show what the operator would change in Azure and in Kubernetes, and why, without changing anything",
    )
    .argument("[name]", "cluster, as NAME or NAMESPACE/NAME (default: all)");
  return withPlanOptions(base)
    .addHelpText(
      "after",
      `
The plan lists the steps that can start now. Steps that depend on them appear in a later plan. Set AZURE_RESOURCE_GROUP and
AZURE_SUBSCRIPTION_ID (and AZURE_LOAD_BALANCER_RESOURCE_GROUPS) as the operator has them, and pass the flags that it runs
with. Without them the plan may differ from the operator's; what cannot be planned is listed.
If a plan contradicts the conditions of a cluster, the command asks the operator to reconcile the cluster, with the annotation
postern.io/requested-at.
Exit code 0: no changes. 2: there are changes. 1: some plans could not be computed.

Examples:
  $ postern plan
  $ postern plan clusters/one -o json`,
    )
    .action(async (name: string | undefined, options: PlanOptions) => {
      const { asData, plansOf } = await import("./run-plan.ts");
      const { withSession } = await import("./session.ts");
      await withSession(options, async (session) => {
        const planned = await plansOf(session, options, name);
        const { plans, notPlanned, unhealthy, observedAt } = planned;
        show(options.output, asData(planned), (wide) =>
          [
            ...unhealthy.map((each) => healthLine(each, observedAt)),
            render(plans, notPlanned, wide),
            basisOf(options),
          ].join("\n"),
        );
        const changes = plans.some((each) => "plan" in each && each.plan.steps.length > 0);
        const failed = plans.some((each) => unread(each).length > 0);
        if (failed || notPlanned.length > 0) process.exitCode = 1;
        else if (changes) process.exitCode = 2;
      });
    });
}

/** A cluster that is not Healthy, as `tree` shows it. */
function healthLine({ key, health, causes: [cause] }: ClusterSummary, observedAt: string): string {
  const why = [cause?.message, cause?.remedy].filter(Boolean).join(" ");
  return `${mark(stateOfHealth[health])} ${key}  ${healthFor({ health, since: cause?.since }, observedAt)}  ${why}`.trimEnd();
}

/** What the plans were computed from: with another credential or policy they may differ. */
function basisOf({ tenantPolicy }: PlanOptions): string {
  const policy = tenantPolicy
    ? `and the tenant policy in ${tenantPolicy}.`
    : "and no tenant policy. If the operator has one, pass --tenant-policy.";
  return paint("grey", `Computed with the credential of this command ${policy}`);
}

/** What could not be read. What would change there is unknown. */
function unread(planned: Planned): string[] {
  if ("failure" in planned) return [planned.failure.message];
  return [...new Set(planned.failedReads.map(({ message }) => message))];
}

function render(
  plans: readonly Planned[],
  notPlanned: readonly NotPlanned[],
  wide: boolean,
): string {
  const lines: string[] = [];
  let steps = 0;
  let failures = 0;
  let waiting = 0;
  let withheld = 0;
  for (const planned of plans) {
    const title = `${planned.kind.kind} ${planned.key} ${paint("grey", `(${planned.feature})`)}`;
    const plan: Pick<Plan, "steps" | "withheld" | "conditions"> =
      "plan" in planned ? planned.plan : { steps: [], conditions: [] };
    const unmet = plan.conditions.filter(({ status }) => status !== "True");
    const hidden = unread(planned);
    // Where no step can start, show what the object waits for.
    const awaited =
      hidden.length === 0 && plan.steps.length + (plan.withheld?.length ?? 0) === 0
        ? unmet.slice(0, 1)
        : [];
    const shown = wide ? unmet.filter(({ message }) => !hidden.includes(message)) : awaited;
    if (hidden.length > 0) failures += 1;
    if (awaited.length > 0) waiting += 1;
    if (plan.steps.length + (plan.withheld?.length ?? 0) + hidden.length + shown.length === 0)
      continue;
    lines.push(title);
    for (const step of plan.steps) {
      steps += 1;
      lines.push(`  ${paint("yellow", "+")} ${stepText(step)}`);
    }
    for (const step of plan.withheld ?? []) {
      withheld += 1;
      lines.push(`  ${paint("grey", "-")} Withheld by policy: ${stepText(step)}`);
    }
    for (const message of hidden)
      lines.push(`  ${paint("red", "?")} ${messageInSentences(message)}`);
    for (const { type, reason, message } of shown)
      lines.push(`  ${paint("grey", "…")} ${type}: ${reason}: ${messageInSentences(message)}`);
  }
  for (const { of, why } of notPlanned) lines.push(paint("red", `Not planned: ${of}: ${why}`));
  const isOrAre = (count: number) => (count === 1 ? "is" : "are");
  const end = [
    steps === 0
      ? `No ${notPlanned.length + failures > 0 ? "other " : ""}changes.`
      : `${counted(steps, "step")} can start now.`,
    ...(waiting > 0 ? [`${counted(waiting, "resource")} ${isOrAre(waiting)} pending.`] : []),
    ...(withheld > 0
      ? [`${counted(withheld, "step")} ${isOrAre(withheld)} withheld by policy.`]
      : []),
    ...(failures > 0 ? [`${counted(failures, "plan")} could not be computed (see above).`] : []),
  ].join(" ");
  return [...lines, end].join("\n");
}
