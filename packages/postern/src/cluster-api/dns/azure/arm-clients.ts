import { type Explained, type Failure, isExplained } from "@postern/core/failure.ts";
import type { KubeObject } from "@postern/core/kind.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { TenantPolicy } from "@postern/core/tenant-policy.ts";
import type { ArmView } from "../../../azure/arm.ts";
import type { Pass } from "../../../kube/pass.ts";
import type { Also, Parts } from "../../../kube/runtime.ts";
import type { Objects } from "../objects/facts.ts";
import type { ZoneRole } from "../observed.ts";
import type { DnsMetrics } from "./metrics.ts";

/** Azure as this feature reaches it, by three identities. What cannot be had is an `Explained` error. */
export interface DnsViews {
  /** By the identity of an AzureCluster. */
  of(cluster: AzureCluster, pass: Pass): ArmView;
  /** Which namespace may use what. */
  readonly policy?: TenantPolicy;
  /** Why Postern does not act for an AzureCluster. */
  refusalOf?(cluster: AzureCluster): Explained | undefined;
  /** For a cluster that is no AzureCluster, in the resource group that it is to have. */
  forReference(infrastructure: KubeObject, pass: Pass, group?: ResourceId): ArmView;
  /** Why Postern does not act for such a cluster. */
  referenceRefusalOf?(infrastructure: KubeObject, group?: ResourceId): Explained | undefined;
  management(pass: Pass): ArmView;
  baseZone(pass: Pass): ArmView;
  /** What wakes this feature when an identity changes. */
  watch?(parts: Parts, keysOf: (cluster: AzureCluster) => string[]): Also[];
}

/** The roads of one pass. One that is missing is told in `problems`. */
export interface Roads {
  cluster: ArmView | undefined;
  management: ArmView | undefined;
  base: ArmView;
  problems: readonly Failure[];
}

/** Open the roads that a cluster needs: one that cannot be had does not close the others. */
export function openRoads(
  { infrastructure, management }: Objects,
  views: DnsViews,
  pass: Pass,
  metrics: DnsMetrics | undefined,
  group: ResourceId | undefined,
): Roads {
  const problems: Failure[] = [];
  const open = (make: () => ArmView): ArmView | undefined => {
    try {
      return counted(make(), metrics);
    } catch (error) {
      if (!isExplained(error)) throw error;
      problems.push(error.explain());
      return undefined;
    }
  };
  const cluster =
    infrastructure &&
    open(() =>
      infrastructure.is === "azure"
        ? views.of(infrastructure.object as AzureCluster, pass)
        : views.forReference(infrastructure.object, pass, group),
    );
  const reachesIt = management && (infrastructure === undefined || infrastructure.is === "azure");
  return {
    cluster,
    management: reachesIt ? open(() => views.management(pass)) : undefined,
    base: counted(views.baseZone(pass), metrics),
    problems,
  };
}

/** The road by which what has this role is reached. */
export function roadTo(roads: Roads, role: ZoneRole): ArmView {
  const road =
    role === "base" ? roads.base : role === "toWorkload" ? roads.management : roads.cluster;
  if (road === undefined)
    throw new Error(`a step on the ${role} side of a pass that has no road there`);
  return road;
}

function counted(arm: ArmView, metrics: DnsMetrics | undefined): ArmView {
  if (metrics === undefined) return arm;
  return {
    ...arm,
    request: (method, path, options) => metrics.asked(method, arm.request(method, path, options)),
  };
}
