import type { Service } from "@postern/core/kinds/core.ts";
import type { ArmClient } from "../../azure/arm.ts";
import type { Precondition } from "../../azure/gateway.ts";
import { type PrivateEndpoint, privateEndpoints } from "../../azure/gateways/private-endpoints.ts";
import type { OneAtATime } from "../../azure/one-at-a-time.ts";
import type { Applied } from "../../kube/feature.ts";
import type { OwnObjects } from "../../kube/own-objects.ts";
import type { Reconcile } from "../../kube/reconcile.ts";
import { applyDnsStep } from "../../private-dns/apply.ts";
import { targetAnnotation } from "./cluster/services.ts";
import type { EndpointStep } from "./steps.ts";

/** What the steps need besides. */
export interface EndpointContext {
  /** The ARM client that observed Azure; undefined where Azure was not asked. */
  arm?: ArmClient | undefined;
  services: OwnObjects<Service>;
  oneAtATime: OneAtATime;
}

/** Begin one step. */
export async function apply(
  step: EndpointStep,
  { arm, services, oneAtATime }: EndpointContext,
  reconcile: Reconcile,
): Promise<Applied> {
  switch (step.on) {
    case "endpoint":
      // Two clusters may use one name, and Azure may not heed that a write is for a new endpoint only.
      return oneAtATime.run(step.id, () => applyEndpoint(step, clientOf(arm)));
    case "service":
      await applyService(step, services, reconcile);
      return { state: "done" };
    default:
      return applyDnsStep(step, clientOf(arm));
  }
}

/** Services need no credential for Azure; everything else was observed by this client. */
function clientOf(arm: ArmClient | undefined): ArmClient {
  if (arm === undefined) throw new Error("a step in Azure of a reconcile that did not read Azure");
  return arm;
}

type On<Name extends EndpointStep["on"]> = Extract<EndpointStep, { on: Name }>;

/**
 * Azure does not promise to heed conditions for endpoints: one is read just before too, and what is not as planned is left
 * to the next reconcile.
 */
async function applyEndpoint(step: On<"endpoint">, arm: ArmClient): Promise<Applied> {
  const gateway = privateEndpoints(arm);
  const [method, body] =
    step.verb === "delete" ? (["DELETE"] as const) : (["PUT", step.body] as const);
  const condition: Precondition = {};
  if (!arm.operations.runs(step.id, method, body)) {
    const found = await gateway.get(step.id);
    if (!isAsPlanned(found, step)) return { state: "done", isBegun: false };
    if (found === undefined) condition.ifNoneMatch = "*";
    else condition.ifMatch = found.etag;
  }
  return step.verb === "delete"
    ? gateway.remove(step.id, condition)
    : gateway.put(step.id, step.body, condition);
}

function isAsPlanned(found: PrivateEndpoint | undefined, step: On<"endpoint">): boolean {
  if (step.verb === "create") return found === undefined;
  return found !== undefined && (step.etag === undefined || found.etag === step.etag);
}

async function applyService(
  step: On<"service">,
  services: OwnObjects<Service>,
  { signal }: Reconcile,
): Promise<void> {
  if (step.do === "delete Service") return services.remove(step.found, signal);
  const { service, found } = step;
  if (found === undefined) return services.create(service, signal);
  const { labels, annotations, ownerReferences } = service.metadata;
  // Of a merge patch: what is not desired any more is removed, and what others have set is not changed.
  const outdated = Object.keys(found.metadata.annotations ?? {}).filter(
    (each) => each === targetAnnotation && annotations?.[each] === undefined,
  );
  const metadata = {
    labels,
    annotations: { ...annotations, ...Object.fromEntries(outdated.map((each) => [each, null])) },
    ...(ownerReferences && { ownerReferences }),
  };
  await services.change(found, { metadata, spec: service.spec }, signal);
}
