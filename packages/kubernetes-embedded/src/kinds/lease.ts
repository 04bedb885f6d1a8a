import type { Cause, Resource, Stored } from "../resource.ts";
import { ageColumn, builtIn, column, nameColumn } from "./built-in.ts";
import { invalid } from "./causes.ts";
import { fields, int32, microTime, text } from "./fields.ts";

interface Spec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  leaseTransitions?: number;
}

/** The kind by which programs agree who of them leads. */
export const lease: Resource = builtIn({
  group: "coordination.k8s.io",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
  description: "A claim that one of several programs holds for a while.",
  properties: {
    spec: fields("Who holds it, and for how long.", {
      acquireTime: microTime("When its holder took it."),
      holderIdentity: text("Who holds it."),
      leaseDurationSeconds: int32("How long others wait after the last renewal."),
      leaseTransitions: int32("How often it went from one holder to another."),
      preferredHolder: text("Who should hold it next."),
      renewTime: microTime("When its holder last renewed it."),
      strategy: text("How its holder is chosen."),
    }),
  },
  columns: [nameColumn, column("Holder", holderOf), ageColumn],
  strategy: { fill, problems },
});

function holderOf(object: Stored): string {
  return (object.spec as Spec | undefined)?.holderIdentity ?? "";
}

/** It is there even where nothing is said. */
function fill(object: Stored): Stored {
  return { ...object, spec: object.spec ?? {} };
}

function problems(object: Stored): Cause[] {
  const { leaseDurationSeconds, leaseTransitions } = (object.spec ?? {}) as Spec;
  const causes: Cause[] = [];
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    const why = "must be greater than 0";
    causes.push(invalid("spec.leaseDurationSeconds", leaseDurationSeconds, why));
  }
  if (leaseTransitions !== undefined && leaseTransitions < 0) {
    const why = "must be greater than or equal to 0";
    causes.push(invalid("spec.leaseTransitions", leaseTransitions, why));
  }
  return causes;
}
