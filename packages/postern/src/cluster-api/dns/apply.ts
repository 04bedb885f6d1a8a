import { resourceGroups } from "../../azure/gateways/resource-groups.ts";
import type { Applied } from "../../kube/feature.ts";
import type { Pass } from "../../kube/pass.ts";
import { applyDnsStep } from "../../private-dns/apply.ts";
import { type Roads, roadTo } from "./azure/arm-clients.ts";
import type { Infrastructure, InfrastructureObjects } from "./objects/infrastructure.ts";
import type { DnsStep } from "./steps.ts";

/** What the steps need beside what they say: the ARM clients that observed, and the object that carries the condition. */
export interface DnsContext {
  roads: Roads;
  infrastructure: Infrastructure | undefined;
  objects: InfrastructureObjects;
}

/** Carry out one step, and say whether it is over. */
export async function apply(
  step: DnsStep,
  { roads, infrastructure, objects }: DnsContext,
  pass: Pass,
): Promise<Applied> {
  switch (step.on) {
    case "object":
      await onObject(step, pass, infrastructure, objects);
      return { state: "done" };
    case "group":
      return resourceGroups(roadTo(roads, step.role)).put(step.id, step.body);
    default:
      return applyDnsStep(step, roadTo(roads, step.role));
  }
}

type On<Name extends DnsStep["on"]> = Extract<DnsStep, { on: Name }>;

async function onObject(
  step: On<"object">,
  pass: Pass,
  infrastructure: Infrastructure | undefined,
  objects: InfrastructureObjects,
): Promise<void> {
  if (infrastructure === undefined) throw new Error(`${step.do} of an object that is not there`);
  return objects.hold(infrastructure, step.do === "hold", pass.signal);
}
