import type { Drawn, Node } from "@postern/core/dashboard/picture.ts";
import { isSameCluster, ownerIn } from "@postern/core/ownership.ts";
import { idKey, lastSegment } from "@postern/core/resource-id.ts";
import type { PrivateRecordSet } from "../../azure/gateways/private-dns.ts";
import { addressesIn, linksTo } from "../records.ts";
import type { Zone } from "../world.ts";
import { resolution } from "./states.ts";

/** The zones of a cluster and the records in them, drawn under the endpoint to which the names lead. */
export function nameParts(given: {
  cluster: string;
  under: string;
  network: string | undefined;
  addresses: readonly string[];
  zones: readonly Zone[];
  /** The id of the cluster in the metadata of its records; a zone may hold records of others. */
  clusterID?: string | undefined;
}): Pick<Drawn, "nodes" | "lines"> {
  const { cluster, under, network, addresses, zones, clusterID } = given;
  const nodes: Node[] = [];
  const lines: Drawn["lines"] = [];
  for (const each of zones) {
    const { zone, links, records } = each;
    const zoneNode = `${cluster}|${idKey(zone.id ?? "")}`;
    const leading = network === undefined ? [] : linksTo(each, network);
    nodes.push({
      id: zoneNode,
      kind: "zone",
      label: lastSegment(zone.id ?? ""),
      cluster,
      under,
      ...(network && { network }),
      ...(leading.length > 0 || network === undefined
        ? resolution(zone, leading)
        : {
            state: "broken" as const,
            reason: "NotLinked",
            message: "the zone is not linked to the network of the endpoint",
          }),
      facts: { links: String(links.length) },
      azureId: zone.id ?? "",
    });
    for (const record of records.filter(isAddress)) {
      const values = addressesIn(record);
      const right = values.some((value) => addresses.includes(value));
      const own = isSameCluster(ownerIn(record.properties.metadata), { clusterID });
      if (!right && !own) continue;
      const name = lastSegment(record.id ?? "");
      nodes.push({
        id: `${cluster}|${idKey(record.id ?? "")}`,
        kind: "record",
        label: name === "@" ? lastSegment(zone.id ?? "") : `${name}.${lastSegment(zone.id ?? "")}`,
        cluster,
        under: zoneNode,
        ...(network && { network }),
        ...(right
          ? { state: "ok" as const }
          : addresses.length === 0
            ? {
                // Azure deletes or creates the endpoint: that is the problem, and the records follow it.
                state: "degraded" as const,
                reason: "NoEndpoint",
                message: "the private endpoint has no address",
              }
            : {
                state: "broken" as const,
                reason: "WrongAddress",
                message: `it names ${values.join(", ") || "nothing"}, and the endpoint has ${addresses.join(", ")}`,
              }),
        facts: { address: values.join(", ") },
        azureId: record.id ?? "",
      });
      lines.push({
        from: `${cluster}|${idKey(record.id ?? "")}`,
        to: under,
        state: right ? "ok" : "broken",
      });
    }
  }
  return { nodes, lines };
}

function isAddress(record: PrivateRecordSet): boolean {
  return /\/(A|AAAA)$/i.test(record.type ?? "") || addressesIn(record).length > 0;
}
