import type { Explained, Failure } from "@postern/core/failure.ts";
import type { KubeObject } from "@postern/core/kind.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { TenantPolicy } from "@postern/core/tenant-policy.ts";
import type { ArmClient } from "../../../azure/arm.ts";
import type { Reconcile } from "../../../kube/reconcile.ts";
import type { Parts, WatchedKind } from "../../../kube/runtime.ts";
import { tryReadNow } from "../../../kube/try-read.ts";
import type { Objects } from "../objects/facts.ts";
import type { ZoneRole } from "../observed.ts";
import type { DnsMetrics } from "./metrics.ts";

/** Azure as this feature reaches it, by three identities. What cannot be had is an `Explained` error. */
export interface DnsArmClients {
  /** By the identity of an AzureCluster. */
  of(cluster: AzureCluster, reconcile: Reconcile): ArmClient;
  /** Which namespace may use what. */
  readonly policy?: TenantPolicy;
  /** Why Postern does not act for an AzureCluster. */
  refusalOf?(cluster: AzureCluster): Explained | undefined;
  /** For a cluster that is no AzureCluster, in the resource group that it is to have. */
  forReference(infrastructure: KubeObject, reconcile: Reconcile, group?: ResourceId): ArmClient;
  /** Why Postern does not act for such a cluster. */
  referenceRefusalOf?(infrastructure: KubeObject, group?: ResourceId): Explained | undefined;
  management(reconcile: Reconcile): ArmClient;
  baseZone(reconcile: Reconcile): ArmClient;
  /** What requeues this feature when an identity changes. */
  watch?(parts: Parts, keysOf: (cluster: AzureCluster) => string[]): WatchedKind[];
}

/** The ARM clients of one reconcile. Why one is missing is in `problems`. */
export interface ArmClients {
  cluster: ArmClient | undefined;
  management: ArmClient | undefined;
  base: ArmClient;
  problems: readonly Failure[];
}

/** Open the ARM clients that a cluster needs: one that cannot be had does not close the others. */
export function openArmClients(
  { infrastructure, management }: Objects,
  clients: DnsArmClients,
  reconcile: Reconcile,
  metrics: DnsMetrics | undefined,
  group: ResourceId | undefined,
): ArmClients {
  const problems: Failure[] = [];
  const open = (make: () => ArmClient): ArmClient | undefined => {
    const made = tryReadNow(reconcile, make);
    if (!("failed" in made)) return counted(made, metrics);
    problems.push(made.failed);
    return undefined;
  };
  const cluster =
    infrastructure &&
    open(() =>
      infrastructure.is === "azure"
        ? clients.of(infrastructure.object as AzureCluster, reconcile)
        : clients.forReference(infrastructure.object, reconcile, group),
    );
  const reachesIt = management && (infrastructure === undefined || infrastructure.is === "azure");
  return {
    cluster,
    management: reachesIt ? open(() => clients.management(reconcile)) : undefined,
    base: counted(clients.baseZone(reconcile), metrics),
    problems,
  };
}

/** The road by which what has this role is reached. */
export function armClientFor(armClients: ArmClients, role: ZoneRole): ArmClient {
  const armClient =
    role === "base"
      ? armClients.base
      : role === "toWorkload"
        ? armClients.management
        : armClients.cluster;
  if (armClient === undefined) throw new Error(`a step in role ${role} without an ARM client`);
  return armClient;
}

function counted(arm: ArmClient, metrics: DnsMetrics | undefined): ArmClient {
  if (metrics === undefined) return arm;
  return {
    ...arm,
    request: (method, path, options) =>
      metrics.countRequest(method, path, arm.request(method, path, options)),
  };
}
