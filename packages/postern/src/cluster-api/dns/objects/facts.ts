import { conditionOf } from "@postern/core/conditions.ts";
import { plainName } from "@postern/core/dns-name.ts";
import { keyOf } from "@postern/core/kind.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import type { Tags } from "@postern/core/tags.ts";
import { fittingUserTags } from "@postern/core/user-tags.ts";
import type { WatchCache } from "../../../kube/cache.ts";
import type { Problem } from "../../../kube/part.ts";
import type { WithStatus } from "../../../kube/status.ts";
import { annotations, conditions, dnsFinalizer, groupTagPrefix } from "../../names.ts";
import { isPaused } from "../../paused.ts";
import { withoutReserved } from "../../reserved-tags.ts";
import type { Observed, ObservedInfrastructure } from "../observed.ts";
import { ownerFor } from "../zones/owner.ts";
import type { Infrastructure } from "./infrastructure.ts";

/** Which management cluster this is, and below which domain the clusters have their names. */
export interface Setting {
  management: { namespace: string; name: string };
  baseDomain: string;
}

/** The objects of Kubernetes that one reconcile goes by. */
export interface Objects {
  cluster: CapiCluster;
  infrastructure: Infrastructure | undefined;
  /** The management cluster's own; undefined for the management cluster itself, which has nothing to reach. */
  management: AzureCluster | undefined;
  /** Whether this is the management cluster. */
  itself: boolean;
  managementCluster: CapiCluster | undefined;
  namesake: Observed["namesake"];
  refused: Problem | undefined;
}

/** The two objects of the management cluster, for any cluster but itself. */
export function managementOf(
  cluster: CapiCluster,
  { management }: Setting,
  caches: { clusters: WatchCache<CapiCluster>; azureClusters: WatchCache<AzureCluster> },
): Pick<Objects, "management" | "managementCluster"> & { itself: boolean } {
  const key = keyOf({ metadata: management });
  return {
    itself: keyOf(cluster) === key,
    management: caches.azureClusters.get(key),
    managementCluster: caches.clusters.get(key),
  };
}

/** What Kubernetes alone tells; of Azure nothing is known yet. */
export function factsOf(objects: Objects, setting: Setting): Observed {
  const { cluster, infrastructure, managementCluster, namesake, refused } = objects;
  const { namespace = "", name, uid = "" } = cluster.metadata;
  const base = plainName(setting.baseDomain);
  return {
    cluster: {
      name,
      deleting: cluster.metadata.deletionTimestamp !== undefined,
      paused: isPaused(cluster, infrastructure?.object),
      ready: isReady(cluster, infrastructure),
    },
    infrastructure: infrastructure && infrastructureFacts(infrastructure),
    namesake,
    refused,
    us: ownerFor(setting.management.name, { namespace, name, uid }),
    domains: {
      base,
      cluster: `${name}.${base}`.toLowerCase(),
      management: `${setting.management.name}.${base}`.toLowerCase(),
    },
    publicZoneId: undefined,
    zones: [],
    networks: {},
    served: { toWorkload: false, toManagement: false },
    expected: { toWorkload: false, toManagement: false },
    api: { state: "none" },
    bastion: { state: "none" },
    services: [],
    toWorkload: { state: "none" },
    toManagement: {},
    wildcards: {
      cluster: wildcardOf(cluster),
      management: managementCluster && wildcardOf(managementCluster),
    },
    group: undefined,
    problems: [],
  };
}

function infrastructureFacts({ is, object, kind }: Infrastructure): ObservedInfrastructure {
  const { finalizers, deletionTimestamp, annotations: on = {} } = object.metadata;
  const { apiServerAddress, managementAddress } = annotations;
  return {
    is,
    called: `${kind.kind} ${keyOf(object)}`,
    deleting: deletionTimestamp !== undefined,
    hasFinalizer: finalizers?.includes(dnsFinalizer) ?? false,
    condition: conditionOf(object.status?.conditions, conditions.dnsZone),
    tags: is === "azure" ? additionalTags(object as AzureCluster) : undefined,
    published: [on[apiServerAddress], on[managementAddress]].filter((each) => each !== undefined),
  };
}

/** The tags that an AzureCluster names for everything, as far as zones and their links take them. */
export function additionalTags({ spec }: AzureCluster): Tags {
  const given = Object.entries(spec?.additionalTags ?? {});
  return fittingUserTags(
    Object.fromEntries(
      given.filter((each): each is [string, string] => typeof each[1] === "string"),
    ),
  );
}

/** Before that there are no addresses, and perhaps no resource group. */
function isReady({ status }: CapiCluster, infrastructure: Infrastructure | undefined): boolean {
  if (status?.phase !== "Provisioned") return false;
  if (infrastructure?.is !== "azure") return true;
  // That it is there is enough: CAPZ sets it when it has come that far.
  return (
    conditionOf(infrastructure.object.status?.conditions, conditions.loadBalancers) !== undefined
  );
}

function wildcardOf({ metadata }: CapiCluster): string | undefined {
  return metadata.annotations?.[annotations.wildcardTarget]?.trim().toLowerCase() || undefined;
}

/** The tags that annotations of an infrastructure object name for the resource group. */
export function groupTags({ metadata }: Pick<WithStatus, "metadata">): Tags {
  const tags = Object.entries(metadata.annotations ?? {}).flatMap(([name, value]) =>
    name.startsWith(groupTagPrefix) && name.length > groupTagPrefix.length
      ? [[name.slice(groupTagPrefix.length), value] as const]
      : [],
  );
  return withoutReserved(Object.fromEntries(tags));
}
