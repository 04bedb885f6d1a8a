import type { Node, State } from "@postern/core/dashboard/picture.ts";
import { plainName } from "@postern/core/dns-name.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { idKey, lastSegment } from "@postern/core/resource-id.ts";
import { conditions, privateRouter } from "../../hosted/names.ts";
import { isClosed, isHidden, type WorldIndex } from "../index-of.ts";
import { covers, zoneName } from "../records.ts";
import type { Zone } from "../world.ts";
import { conditionState, type NodeStatus } from "./states.ts";

/** The state of a resource that does not exist: it is being created, or missing, by its condition. */
export function missing(status: NodeStatus | undefined, hidden: boolean): NodeStatus {
  // What may not be read says nothing by its absence: then the condition is all that is known.
  if (hidden) return { ...(status ?? { state: "unknown", reason: "NotRead" }), isUnread: true };
  const state: State = status?.state === "ok" ? "absent" : (status?.state ?? "working");
  return { ...status, state, ...(status?.state === "ok" && { reason: "NotFound" }) };
}

/** The zones that the status of a link names, as far as they are there and were opened. */
export function zonesOfLink(index: WorldIndex, { status }: AzurePrivateLinkService): Zone[] {
  return zoneIds(status).flatMap((id) => index.zone(id) ?? []);
}

/** The zones and records that a hosted cluster should have by its link, and has not. */
export function missingNames(
  index: WorldIndex,
  link: AzurePrivateLinkService,
  { cluster, under, network }: { cluster: string; under: string; network: string },
): Node[] {
  const status = conditionState(link.status?.conditions, conditions.dns, index.now);
  const node = (kind: "zone" | "record", id: string, label: string, hidden: boolean): Node => ({
    id: `${cluster}|${idKey(id)}`,
    kind,
    label,
    cluster,
    under,
    network,
    facts: {},
    azureId: id,
    ...missing(status, hidden),
  });
  const zones = zoneIds(link.status)
    .filter((id) => index.zone(id) === undefined && !index.isUnopened(id))
    .map((id) => node("zone", id, lastSegment(id), isHidden(index, "private zones")));
  const records = zonesOfLink(index, link).flatMap((zone) => {
    const { id = "" } = zone.zone;
    const names = new Set(zone.records.map((each) => lastSegment(each.id ?? "").toLowerCase()));
    return hostsOf(link)
      .filter((host) => covers(zoneName(zone.zone), host))
      .map((host) => ({ host, name: host.slice(0, -zoneName(zone.zone).length - 1) || "@" }))
      .filter(({ name }) => !names.has(name))
      .map(({ host, name }) => ({
        ...node("record", `${id}/A/${name}`, host, isClosed(index, zone, "records")),
        under: `${cluster}|${idKey(id)}`,
      }));
  });
  return [...zones, ...records];
}

/** The names that a link always has. The OAuth server's may be another link's, and is drawn only where it is found. */
export function hostsOf({ metadata, spec, status }: AzurePrivateLinkService): string[] {
  const inside = status?.dnsZoneName;
  if (metadata.name !== privateRouter || inside === undefined) return [];
  const [controlPlane = ""] = inside.split(".");
  const { baseDomain } = spec;
  return [
    ...[`api.${inside}`, `*.apps.${inside}`],
    ...(baseDomain ? [`api-${controlPlane}.${baseDomain}`] : []),
  ].map(plainName);
}

function zoneIds(status: AzurePrivateLinkService["status"]): string[] {
  return [status?.privateDNSZoneID, status?.baseDomainDNSZoneID].flatMap((id) => id ?? []);
}
