import { Command } from "commander";
import type { Planned } from "../kube/dry-run.ts";
import type { Plan } from "../kube/feature.ts";
import type { NotPlanned } from "../operator/dry-run.ts";
import { type PlanFlags, withPlanOptions } from "../operator/plan-options.ts";
import { type Format, paint, show, withConnection, withOutput } from "./output.ts";
import type { ConnectOptions } from "./session.ts";

type PlanOptions = ConnectOptions & PlanFlags & { output: Format };

/** `postern plan`: what the operator would do next, and why. */
export function command(): Command {
  const base = withOutput(withConnection(new Command("plan")))
    .description("say what would change in Azure and in the cluster, and why; nothing is changed")
    .argument("[name]", "a cluster, as NAME or NAMESPACE/NAME (default: all)");
  return withPlanOptions(base)
    .addHelpText(
      "after",
      `
It shows the steps that can begin now; what must wait for them follows in later passes. AZURE_RESOURCE_GROUP and
AZURE_SUBSCRIPTION_ID name the group of the management cluster's load balancers, as they do for the operator. Give the flags that
the operator has: without them it plans something else, and what it cannot plan it names.
Where a plan contradicts the conditions of a cluster, the operator is asked to reconcile it by the annotation postern.io/requested-at.
Exit code 0: nothing would change. 2: something would. 1: it cannot be said of something.

Examples:
  $ postern plan
  $ postern plan clusters/one -o json`,
    )
    .action(async (name: string | undefined, options: PlanOptions) => {
      const { asData, plansOf } = await import("./run-plan.ts");
      const { withSession } = await import("./session.ts");
      await withSession(options, async (session) => {
        const planned = await plansOf(session, options, name);
        const { plans, notPlanned } = planned;
        show(options.output, asData(planned), (wide) =>
          [render(plans, notPlanned, wide), basisOf(options)].join("\n"),
        );
        const changes = plans.some((each) => "plan" in each && each.plan.steps.length > 0);
        const failed = plans.some((each) => unread(each).length > 0);
        if (failed || notPlanned.length > 0) process.exitCode = 1;
        else if (changes) process.exitCode = 2;
      });
    });
}

/** What the plans were computed from: another credential, or another policy, may give others. */
function basisOf({ tenantPolicy }: PlanOptions): string {
  const policy = tenantPolicy
    ? `with the tenant policy in ${tenantPolicy}`
    : "without a tenant policy: give --tenant-policy if the operator has one";
  return paint("grey", `computed with the credential of this command, ${policy}`);
}

/** What could not be read: what would change there is not known. */
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
    // Where nothing can begin, what is waited for is all that there is to say.
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
    for (const { do: what, why } of plan.steps) {
      steps += 1;
      lines.push(`  ${paint("yellow", "+")} ${what}`, `      because ${why}`);
    }
    for (const { do: what, why } of plan.withheld ?? []) {
      withheld += 1;
      lines.push(`  ${paint("grey", "-")} withheld by policy: ${what}`, `      because ${why}`);
    }
    for (const message of hidden) lines.push(`  ${paint("red", "?")} ${message}`);
    for (const { type, reason, message } of shown)
      lines.push(`  ${paint("grey", "…")} ${type}: ${reason}: ${message}`);
  }
  for (const { of, why } of notPlanned) lines.push(paint("red", `not planned: ${of}: ${why}`));
  const end = [
    steps === 0
      ? `nothing ${notPlanned.length > 0 ? "else " : ""}would change${waiting > 0 ? " now" : ""}`
      : `${steps} ${steps === 1 ? "step" : "steps"} would begin now`,
    ...(waiting > 0 ? [`${waiting} ${waiting === 1 ? "waits" : "wait"}`] : []),
    ...(withheld > 0 ? [`${withheld} ${withheld === 1 ? "is" : "are"} withheld by policy`] : []),
    ...(failures > 0 ? [`of ${failures} it cannot be said`] : []),
  ].join("; ");
  return [...lines, end].join("\n");
}
