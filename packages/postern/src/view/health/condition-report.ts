import {
  type Cause,
  type HealthCondition,
  type HealthReport,
  healthOfConditions,
  reportOf,
} from "@postern/core/health.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { AzurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { privateAccess } from "@postern/core/kinds/private-access.ts";
import { messageInSentences } from "@postern/core/sentences.ts";
import { conditions as capiConditions } from "../../cluster-api/names.ts";
import { conditions as hostedConditions } from "../../hosted/names.ts";
import { hostedClusterOf } from "../../hosted/tenancy.ts";
import { topologyApplied } from "../../hosted/topology/reasons.ts";

/** The conditions of hosted clusters and of links that count. */
export const hostedTypes = [...Object.values(hostedConditions), topologyApplied];

/** The health of a hosted cluster by its own conditions and those of its links. */
export function hostedReport(
  { metadata, status }: HostedCluster,
  links: readonly AzurePrivateLinkService[],
  access: string,
  now: Date,
): HealthReport {
  // A public cluster has no private link, and only its Services and Routes are reported.
  const available = access === "Public" ? topologyApplied : hostedConditions.available;
  const types = access === "Public" ? [topologyApplied] : hostedTypes;
  const deletedAt = metadata.deletionTimestamp;
  const createdAt = metadata.creationTimestamp;
  const own = healthOfConditions({
    conditions: status?.conditions,
    available,
    types,
    deletedAt,
    now,
    ...(createdAt !== undefined && { createdAt }),
  });
  const unreported = access === "Public" && own.causes[0]?.reason === "NotReported";
  const parts = links
    .filter((link) => (link.status?.conditions ?? []).length > 0)
    .map((link) =>
      healthOfConditions({
        conditions: link.status?.conditions,
        available: hostedConditions.available,
        types: hostedTypes,
        deletedAt: deletedAt ?? link.metadata.deletionTimestamp,
        now,
        ...(deletedAt === undefined && { subject: `Private link ${link.metadata.name}` }),
      }),
    )
    // A link that has only part of its conditions is judged by those, and by its cluster.
    .flatMap(({ causes }) => causes.filter(({ reason }) => reason !== "NotReported"));
  return reportOf([...(unreported ? [] : own.causes), ...parts], own.since);
}

/** From where clients reach a cluster; `none` on another platform, and `invalid` where its fields contradict each other. */
export function accessOf({ spec }: HostedCluster): string {
  try {
    const azure = spec?.platform?.azure;
    return azure === undefined ? "none" : privateAccess(azure).topology;
  } catch {
    return "invalid";
  }
}

/** Links by the key of their cluster; those that belong to none are under the empty key. */
export function linksByCluster(
  links: readonly AzurePrivateLinkService[],
): Map<string, AzurePrivateLinkService[]> {
  return Map.groupBy(links, (link) => hostedClusterOf(link) ?? "");
}

/** The condition that says whether clients can connect: the first of these that the cluster has. */
const capiAvailable = [capiConditions.links, capiConditions.privateLinks, capiConditions.dnsZone];
/** The conditions of clusters of Cluster API that count. */
export const capiTypes = [...capiAvailable, capiConditions.privateEndpoints];

/** The health of a cluster of Cluster API by its conditions; one for which Postern has nothing to do has none. */
export function clusterApiReport(
  { metadata, status }: AzureCluster,
  now: Date,
  isServed: boolean,
): HealthReport {
  const conditions = status?.conditions as readonly HealthCondition[] | undefined;
  const available = capiAvailable.find((type) => conditions?.some((each) => each.type === type));
  const deletedAt = metadata.deletionTimestamp;
  if (available === undefined && !isServed && deletedAt === undefined) return reportOf([]);
  return healthOfConditions({
    conditions,
    available: available ?? capiConditions.links,
    types: capiTypes,
    deletedAt,
    now,
    ...(metadata.creationTimestamp !== undefined && { createdAt: metadata.creationTimestamp }),
  });
}

/** How a sentence begins that tells somebody what to do. */
const advice = [
  "Accept Add Annotate Approve Ask Assign Change Check Choose Clear Configure Correct Create Delete Detach Disable Enable End",
  "Enlarge Free Give Grant Have Increase Install Label Let List Make Move Name Or Publish Raise Register Remove Rename Renew",
  "Repair Replace Restart Restore Run See Set Shorten Specify Start Stop Tag To Update Upgrade Use Wait az kubectl postern",
];
const adviceStart = new RegExp(`(?<=[.!?] )(?:${advice.join(" ").replaceAll(" ", "|")})\\b`);

/** A message says what and why, and then what to do: the remedy begins with the first advice. */
export function inSentences(cause: Cause): Cause {
  const message = messageInSentences(cause.message);
  const at = message.search(adviceStart);
  if (at < 0) return { ...cause, message };
  return { ...cause, message: message.slice(0, at).trimEnd(), remedy: message.slice(at) };
}
