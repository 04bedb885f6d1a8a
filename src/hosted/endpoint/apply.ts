import type { ArmView } from "../../azure/arm.ts";
import { AzureError } from "../../azure/errors.ts";
import type { Precondition } from "../../azure/gateway.ts";
import {
  privateDnsZones,
  privateRecordSets,
  virtualNetworkLinks,
} from "../../azure/gateways/private-dns.ts";
import { type PrivateEndpoint, privateEndpoints } from "../../azure/gateways/private-endpoints.ts";
import type { OneAtATime } from "../../azure/one-at-a-time.ts";
import type { Write } from "../../azure/operations.ts";
import { hasZoneChanged } from "../../azure/zone-contents.ts";
import type { Applied } from "../../kube/feature.ts";
import type { OwnObjects } from "../../kube/own-objects.ts";
import type { Pass } from "../../kube/pass.ts";
import { claimsIn } from "../../model/claims.ts";
import type { Service } from "../../model/kinds/core.ts";
import { parentOf, sameId } from "../../model/resource-id.ts";
import type { EndpointStep } from "./steps.ts";

/** Carry out one step, and say whether it is over. */
export async function apply(
  step: EndpointStep,
  pass: Pass,
  arm: ArmView | undefined,
  { services, turns }: { services: OwnObjects<Service>; turns: OneAtATime },
): Promise<Applied> {
  switch (step.on) {
    case "endpoint":
      // Two clusters may want one name, and a write does not say that it is meant for a new endpoint only.
      return ended(await turns.run(step.id, () => onEndpoint(step, looked(arm))));
    case "zone":
      return ended(await onZone(step, looked(arm)));
    case "link":
      return ended(await onLink(step, looked(arm)));
    case "record":
      return ended(await written(step, privateRecordSets(looked(arm))));
    case "service":
      await onService(step, services, pass);
      return { state: "done" };
  }
}

/** Services need no credential for Azure; everything else was looked at before. */
function looked(arm: ArmView | undefined): ArmView {
  if (arm === undefined) throw new Error("a step of a pass that has not looked at Azure");
  return arm;
}

type On<Name extends EndpointStep["on"]> = Extract<EndpointStep, { on: Name }>;

interface Writes {
  put(id: string, body: never, condition: object): Promise<Write<unknown>>;
  remove(id: string, condition: object): Promise<Write<undefined>>;
}

function written(step: On<"zone" | "link" | "record">, gateway: Writes): Promise<Write<unknown>> {
  const { id, ifMatch } = step;
  return "body" in step
    ? gateway.put(id, step.body as never, { ifMatch, ifNoneMatch: step.ifNoneMatch })
    : gateway.remove(id, { ifMatch });
}

/**
 * Azure does not promise to heed conditions for endpoints: one is read just before too, and what is not as planned is left
 * to the next pass.
 */
async function onEndpoint(step: On<"endpoint">, arm: ArmView): Promise<Write<unknown>> {
  const gateway = privateEndpoints(arm);
  const [method, body] = "body" in step ? (["PUT", step.body] as const) : (["DELETE"] as const);
  const condition: Precondition = {};
  if (!arm.operations.runs(step.id, method, body)) {
    const found = await gateway.get(step.id);
    const asPlanned = step.do === "make endpoint" ? found === undefined : isThatOne(found, step);
    if (!asPlanned) return { state: "done", resource: found };
    if (found === undefined) condition.ifNoneMatch = "*";
    else condition.ifMatch = found.etag;
  }
  return step.do === "remove endpoint"
    ? gateway.remove(step.id, condition)
    : gateway.put(step.id, step.body, condition);
}

function isThatOne(found: PrivateEndpoint | undefined, { ifMatch }: Precondition): boolean {
  return found !== undefined && (ifMatch === undefined || found.etag === ifMatch);
}

/**
 * The last user of a zone deletes it with whatever is in it, or leaves it to nobody: both are decided by what is in it now.
 * Other clusters act by identities of their own, so a cached list may still show what they have removed.
 */
async function onZone(step: On<"zone">, arm: ArmView): Promise<Write<unknown>> {
  const isLast =
    step.do === "remove zone"
      ? !arm.operations.runs(step.id, "DELETE")
      : step.do === "give up zone" && claimsIn(step.body.tags).length === 0;
  if (isLast && (await hasZoneChanged(arm, step.id))) return { state: "done", resource: undefined };
  return written(step, privateDnsZones(arm));
}

/** That the network is linked already, under another name, may be said at once or when the operation ends. */
async function onLink(step: On<"link">, arm: ArmView): Promise<Write<unknown>> {
  const gateway = virtualNetworkLinks(arm);
  try {
    return await written(step, gateway);
  } catch (error) {
    const zone = parentOf(step.id);
    if (!(error instanceof AzureError && step.do === "link network") || zone === undefined)
      throw error;
    const network = step.body.properties.virtualNetwork?.id ?? "";
    const links = error.status === 409 ? await gateway.list(zone, 0) : [];
    const linked = links.find(({ properties }) =>
      sameId(properties.virtualNetwork?.id ?? "", network),
    );
    if (linked === undefined) throw error;
    return { state: "done", resource: linked };
  }
}

async function onService(
  step: On<"service">,
  services: OwnObjects<Service>,
  { signal }: Pass,
): Promise<void> {
  if (step.do === "remove service") return services.remove(step.found, signal);
  const { service, found } = step;
  if (found === undefined) return services.create(service, signal);
  const { labels, annotations, ownerReferences } = service.metadata;
  const metadata = { labels, annotations, ...(ownerReferences && { ownerReferences }) };
  await services.change(found, { metadata, spec: service.spec }, signal);
}

function ended(write: Write<unknown>): Applied {
  return write.state === "done"
    ? { state: "done" }
    : { state: "running", retryAfterMs: write.retryAfterMs };
}
