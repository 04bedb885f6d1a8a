import { claimsIn } from "@postern/core/claims.ts";
import { parentOf, parseResourceId } from "@postern/core/resource-id.ts";
import type { ArmClient } from "../azure/arm.ts";
import { AzureError } from "../azure/errors.ts";
import {
  privateDnsZones,
  privateRecordSets,
  virtualNetworkLinks,
} from "../azure/gateways/private-dns.ts";
import { dnsRecordSets, dnsZones } from "../azure/gateways/public-dns.ts";
import type { Write } from "../azure/operations.ts";
import { hasZoneChanged } from "../azure/zone-contents.ts";
import { pointsTo } from "./links/observed.ts";
import { toPrivate, toPublic } from "./records/observed.ts";
import type { LinkStep, PrivateDnsStep, RecordStep, ZoneStep } from "./steps.ts";
import { isPublicZone } from "./zone/observed.ts";

/** Begin one step on a zone, a link or a record set. */
export function applyDnsStep(step: PrivateDnsStep, arm: ArmClient): Promise<Write<unknown>> {
  switch (step.on) {
    case "zone":
      return writeZone(step, arm);
    case "link":
      return writeLink(step, arm);
    case "record":
      return writeRecords(step, arm);
  }
}

/**
 * The last user of a zone deletes it with whatever is in it, or leaves it to nobody: both are decided by what is in it now.
 * Other clusters act by identities of their own, so a cached list may still show what they have removed. A public zone that
 * was created for one user alone is deleted with everything in it.
 */
async function writeZone(step: ZoneStep, arm: ArmClient): Promise<Write<unknown>> {
  const { id, ifMatch } = step;
  const isPublic = isPublicZone(id);
  const gateway = isPublic ? dnsZones(arm) : privateDnsZones(arm);
  const isLast =
    step.verb === "delete"
      ? !isPublic && !arm.operations.runs(id, "DELETE")
      : step.verb === "unclaim" && claimsIn(step.tags).length === 0;
  if (isLast && (await hasZoneChanged(arm, id))) return { state: "done", resource: undefined };
  if (step.verb === "delete") return gateway.remove(id, { ifMatch });
  const body = { location: "global", tags: { ...step.tags }, properties: {} };
  return gateway.put(id, body, { ifMatch, ifNoneMatch: step.ifNoneMatch });
}

/** That the network is linked already, under another name, may be said at once or when the operation ends. */
async function writeLink(step: LinkStep, arm: ArmClient): Promise<Write<unknown>> {
  const gateway = virtualNetworkLinks(arm);
  const { id, ifMatch } = step;
  if (step.verb === "delete") return gateway.remove(id, { ifMatch });
  try {
    return await gateway.put(id, step.body, { ifMatch, ifNoneMatch: step.ifNoneMatch });
  } catch (error) {
    const zone = parentOf(id);
    const network = step.body.properties.virtualNetwork?.id;
    const isConflict = error instanceof AzureError && error.status === 409;
    if (!isConflict || step.verb !== "create" || !zone || !network) throw error;
    const links = await gateway.list(zone, 0);
    const linked = links.find((each) => pointsTo(each, parseResourceId(network)));
    if (linked === undefined) throw error;
    return { state: "done", resource: linked };
  }
}

function writeRecords(step: RecordStep, arm: ArmClient): Promise<Write<unknown>> {
  const { id, ifMatch } = step;
  const isPublic = isPublicZone(id);
  if (step.verb === "delete")
    return (isPublic ? dnsRecordSets(arm) : privateRecordSets(arm)).remove(id, { ifMatch });
  const condition = { ifMatch, ifNoneMatch: step.ifNoneMatch };
  return isPublic
    ? dnsRecordSets(arm).put(id, toPublic(step.records), condition)
    : privateRecordSets(arm).put(id, toPrivate(step.records), condition);
}
