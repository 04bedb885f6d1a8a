import type { ArmView } from "../../azure/arm.ts";
import {
  privateDnsZones,
  privateRecordSets,
  virtualNetworkLinks,
} from "../../azure/gateways/private-dns.ts";
import { dnsRecordSets, dnsZones } from "../../azure/gateways/public-dns.ts";
import { resourceGroups } from "../../azure/gateways/resource-groups.ts";
import type { Write } from "../../azure/operations.ts";
import { hasZoneChanged } from "../../azure/zone-contents.ts";
import type { Applied } from "../../kube/feature.ts";
import type { Pass } from "../../kube/pass.ts";
import { claimsIn } from "../../model/claims.ts";
import type { Infrastructure, InfrastructureObjects } from "./infrastructure.ts";
import { toPrivate, toPublic } from "./record-form.ts";
import { type Roads, roadTo } from "./roads.ts";
import type { ZoneRole } from "./seen.ts";
import type { DnsStep } from "./steps.ts";

/** What a pass has opened and read, and its steps need again. */
export interface Opened {
  roads: Roads;
  infrastructure: Infrastructure | undefined;
}

/** Carry out one step, and say whether it is over. */
export async function apply(
  step: DnsStep,
  pass: Pass,
  opened: Opened,
  objects: InfrastructureObjects,
): Promise<Applied> {
  const { roads, infrastructure } = opened;
  switch (step.on) {
    case "object":
      await onObject(step, pass, infrastructure, objects);
      return { state: "done" };
    case "zone":
      return ended(await onZone(step, roadTo(roads, step.role)));
    case "link":
      return ended(await onLink(step, roadTo(roads, step.role)));
    case "record":
      return ended(await onRecord(step, roadTo(roads, step.role)));
    case "group":
      return ended(await onGroup(step, roadTo(roads, step.role)));
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
  if (step.do === "tell")
    return objects.tell(infrastructure, step.verdict, pass.date(), pass.signal);
  return objects.hold(infrastructure, step.do === "hold", pass.signal);
}

async function onZone(step: On<"zone">, arm: ArmView): Promise<Write<unknown>> {
  const gateway = isPublic(step) ? dnsZones(arm) : privateDnsZones(arm);
  const { id, ifMatch } = step;
  // A public zone of ours goes with everything in it; otherwise the last user decides by what is in the zone now.
  const isLast =
    step.do === "remove zone"
      ? !isPublic(step) && !arm.operations.runs(id, "DELETE")
      : step.do === "give up zone" && claimsIn(step.tags).length === 0;
  if (isLast && (await hasZoneChanged(arm, id))) return { state: "done", resource: undefined };
  if (step.do === "remove zone") return gateway.remove(id, { ifMatch });
  const body = { location: "global", tags: { ...step.tags }, properties: {} };
  return gateway.put(id, body, { ifMatch, ifNoneMatch: step.ifNoneMatch });
}

function onLink(step: On<"link">, arm: ArmView): Promise<Write<unknown>> {
  const gateway = virtualNetworkLinks(arm);
  const { id, ifMatch } = step;
  if (step.do === "remove link") return gateway.remove(id, { ifMatch });
  return gateway.put(id, step.body, { ifMatch, ifNoneMatch: step.ifNoneMatch });
}

function onRecord(step: On<"record">, arm: ArmView): Promise<Write<unknown>> {
  const { id, ifMatch } = step;
  const [names, privateNames] = [dnsRecordSets(arm), privateRecordSets(arm)];
  if (step.do === "remove name")
    return (isPublic(step) ? names : privateNames).remove(id, { ifMatch });
  const guard = { ifMatch, ifNoneMatch: step.ifNoneMatch };
  return isPublic(step)
    ? names.put(id, toPublic(step.records), guard)
    : privateNames.put(id, toPrivate(step.records), guard);
}

function onGroup(step: On<"group">, arm: ArmView): Promise<Write<unknown>> {
  return resourceGroups(arm).put(step.id, step.body);
}

function isPublic({ role }: { role: ZoneRole }): boolean {
  return role === "public" || role === "base";
}

function ended(write: Write<unknown>): Applied {
  return write.state === "done"
    ? { state: "done" }
    : { state: "running", retryAfterMs: write.retryAfterMs };
}
