import type { Plan } from "../../kube/feature.ts";
import { done, join, requeueOf } from "../../kube/part.ts";
import { dnsFinalizer } from "../names.ts";
import type { Observed } from "./observed.ts";
import { reasons } from "./reasons.ts";
import type { DnsStep } from "./steps.ts";
import { planDeleteZone } from "./zones/delete.ts";
import { remainingGroupEvents } from "./zones/group.ts";
import { lacksTags } from "./zones/origin.ts";
import {
  actionableIn,
  eventsOf,
  falseCondition,
  planObserved,
  reported,
  unchanged,
} from "./zones/report.ts";

/** Delete everything: nothing waits for what is not related. */
export function planDelete(observed: Observed): Plan<DnsStep> {
  const { infrastructure, cluster } = observed;
  const removal = cluster.deleting ? ({ finalizer: "remove" } as const) : {};
  if (infrastructure !== undefined && !infrastructure.hasFinalizer)
    return { ...unchanged, ...removal, requeue: "never" };
  const why = `the cluster ${cluster.name} is being deleted`;
  const isMissingTags = observed.zones.some((zone) => lacksTags(observed, zone));
  const zones = join(
    observed.zones.map((zone) =>
      // The delegation is the proof that a zone without tags is ours: the tags are restored first.
      zone.role === "base" && isMissingTags ? done : planDeleteZone(observed, zone, why),
    ),
  );
  const part = join([zones, planObserved(observed)]);
  const remedy = `or delete the rest by hand and remove Postern's finalizer from ${infrastructure?.called ?? "its object"}`;
  const problems = actionableIn(part).map(({ reason, message }) => ({
    reason: reasons.cleanupFailed,
    message: `the DNS records of the cluster cannot be deleted (${reason}) · ${message} · ${remedy}`,
  }));
  const [problem] = problems;
  const steps: DnsStep[] = part.steps.map((step) => ({
    ...step,
    failsAs: reasons.cleanupFailed,
    remedy,
  }));
  const isDone = zones.steps.length === 0 && zones.requeueMs === undefined && problem === undefined;
  if (isDone && infrastructure !== undefined)
    steps.push({
      on: "object",
      do: "remove finalizer",
      name: dnsFinalizer,
      why: "no DNS names of the cluster are left",
      releases: true,
    });
  return {
    ...(isDone && removal),
    steps,
    ...reported(problem && falseCondition(problem)),
    events: [...eventsOf(problems), ...(isDone ? remainingGroupEvents(observed) : [])],
    requeue: isDone ? "never" : requeueOf(part),
  };
}
