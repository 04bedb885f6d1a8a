import { resourceGroups } from "../../azure/gateways/resource-groups.ts";
import type { Applied } from "../../kube/feature.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import { applyDnsStep } from "../../private-dns/apply.ts";
import { type ArmClients, armClientFor } from "./azure/arm-clients.ts";
import type { Infrastructure, InfrastructureObjects } from "./objects/infrastructure.ts";
import type { DnsStep } from "./steps.ts";

/** What the steps need beside what they say: the ARM clients that observed, and the object that carries the condition. */
export interface DnsContext {
  armClients: ArmClients;
  infrastructure: Infrastructure | undefined;
  objects: InfrastructureObjects;
}

/** Begins one step. */
export async function apply(
  step: DnsStep,
  { armClients, infrastructure, objects }: DnsContext,
  reconcile: Reconcile,
): Promise<Applied> {
  switch (step.on) {
    case "object":
      await onObject(step, reconcile, infrastructure, objects);
      return { state: "done" };
    case "group":
      return resourceGroups(armClientFor(armClients, step.role)).put(step.id, step.body);
    default:
      return applyDnsStep(step, armClientFor(armClients, step.role));
  }
}

type On<Name extends DnsStep["on"]> = Extract<DnsStep, { on: Name }>;

async function onObject(
  step: On<"object">,
  reconcile: Reconcile,
  infrastructure: Infrastructure | undefined,
  objects: InfrastructureObjects,
): Promise<void> {
  if (infrastructure === undefined) throw new Error(`${step.do} of an object that is not there`);
  return objects.setFinalizer(infrastructure, step.do === "add finalizer", reconcile.signal);
}
