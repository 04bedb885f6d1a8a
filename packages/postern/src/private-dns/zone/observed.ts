import type { Failure } from "@postern/core/failure.ts";
import { type ResourceId, resourceIn } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import type { Observation } from "../../azure/gateway.ts";
import type { ObservedLink } from "../links/observed.ts";
import type { ObservedRecord } from "../records/observed.ts";

/** A zone, public or private, in so far as it is of interest here. */
export interface Zone {
  tags: Tags;
  etag?: string | undefined;
  /** Of a public zone: who answers for it. */
  nameServers: readonly string[];
  provisioningState?: string | undefined;
  /** How many record sets it counts. */
  recordSets?: number | undefined;
}

/** A zone and what is in it. */
export interface ObservedZone {
  id: ResourceId;
  observation: Observation<Zone>;
  links: readonly ObservedLink[];
  records: readonly ObservedRecord[];
  /** What of it could not be read. */
  unread?: { on: "zone" | "link" | "record"; failure: Failure };
}

/** The tags of a zone; none where it does not exist. */
export function tagsOf({ observation }: Pick<ObservedZone, "observation">): Tags {
  return observation.state === "exists" ? observation.resource.tags : {};
}

/** Whether an id is that of a public zone, or of something in one. */
export function isPublicZone(id: string): boolean {
  return /\/dnsZones\//i.test(id);
}

/** A private zone in a resource group. */
export function privateZoneIn(group: ResourceId, name: string): ResourceId {
  return resourceIn(group, "Microsoft.Network/privateDnsZones", name);
}
