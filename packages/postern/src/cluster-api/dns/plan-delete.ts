import type { Plan } from "../../kube/feature.ts";
import { done, join, requeueOf } from "../../kube/part.ts";
import type { Observed } from "./observed.ts";
import { reasons } from "./reasons.ts";
import type { DnsStep } from "./steps.ts";
import { planDeleteZone } from "./zones/delete.ts";
import { leftGroup } from "./zones/group.ts";
import { lacksTags } from "./zones/origin.ts";
import {
  eventsOf,
  falseCondition,
  planObserved,
  reported,
  still,
  troublesIn,
} from "./zones/report.ts";

/** Undo everything: nothing waits for what is not related. */
export function planDelete(observed: Observed): Plan<DnsStep> {
  const { infrastructure, cluster } = observed;
  const free = cluster.deleting ? ({ finalizer: "remove" } as const) : {};
  if (infrastructure !== undefined && !infrastructure.held)
    return { ...still, ...free, requeue: "never" };
  const why = `the cluster ${cluster.name} is being deleted`;
  const lost = observed.zones.some((zone) => lacksTags(observed, zone));
  const zones = join(
    observed.zones.map((zone) =>
      // The delegation is the proof that a zone without tags is ours: the tags are restored first.
      zone.role === "base" && lost ? done : planDeleteZone(observed, zone, why),
    ),
  );
  const part = join([zones, planObserved(observed)]);
  const remedy = `or remove the rest by hand and take our finalizer off ${infrastructure?.called ?? "its object"}`;
  const problems = troublesIn(part).map(({ reason, message }) => ({
    reason: reasons.cleanupFailed,
    message: `the names of the cluster cannot be removed (${reason}) · ${message} · ${remedy}`,
  }));
  const [problem] = problems;
  const steps: DnsStep[] = part.steps.map((step) => ({
    ...step,
    failsAs: reasons.cleanupFailed,
    remedy,
  }));
  const over = zones.steps.length === 0 && zones.requeueMs === undefined && problem === undefined;
  if (over && infrastructure !== undefined)
    steps.push({
      on: "object",
      do: "let go",
      why: "no names of the cluster are left",
      releases: true,
    });
  return {
    ...(over && free),
    steps,
    ...reported(problem && falseCondition(problem)),
    events: [...eventsOf(problems), ...(over ? leftGroup(observed) : [])],
    requeue: over ? "never" : requeueOf(part),
  };
}
