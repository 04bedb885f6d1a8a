import type { Clock } from "@postern/core/clock.ts";
import type { ResourceId } from "@postern/core/resource-id.ts";
import type { Registry } from "@prometheus-io/client";
import type { Log } from "../kube/log.ts";
import type { Runtime } from "../kube/runtime.ts";
import type { OperatorAzure } from "./azure.ts";
import { showBudgets } from "./azure-metrics.ts";
import { ClusterMetrics } from "./cluster-metrics.ts";
import { startLinkInventory } from "./link-inventory.ts";

/** Register the metrics of clusters, of the budget, and of the management group where this process has one. */
export function startOwnMetrics(
  registry: Registry,
  given: {
    runtime: Runtime;
    azure: Pick<OperatorAzure, "arm">;
    clock: Clock;
    log: Log;
    management?: { managementGroup: ResourceId; installation: string } | undefined;
  },
): () => void {
  const { azure, clock, log, management, runtime } = given;
  new ClusterMetrics(registry, { runtime, clock }).follow();
  showBudgets(registry, () => azure.arm.budgets.states());
  if (!management) return () => undefined;
  return startLinkInventory({ registry, runtime, arm: azure.arm, clock, log, ...management });
}
