import type { JournalStep } from "@postern/core/dashboard/journal-step.ts";
import { keyOf } from "@postern/core/kind.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { controlPlaneNamespace } from "postern/hosted/names.ts";
import type { Row } from "./clusters.ts";

/** One line for a step that has begun: when, for which cluster, by which controller, what and why. */
export function stepLine(
  step: JournalStep,
  seconds: number,
  hostedClusters: readonly HostedCluster[],
): string {
  const cluster = clusterOf(step.key, hostedClusters);
  return `${at(seconds)}  ${cluster}  ${step.controller}: ${step.do} ${step.name}: ${step.why}\n`;
}

/** One line for each cluster or appliance that has changed its state; that it is being created is no change. */
export function changeLines(
  before: ReadonlyMap<string, Row["state"]>,
  rows: readonly Row[],
  seconds: number,
): string[] {
  return rows
    .filter(({ name, state }) => (before.get(name) ?? "Progressing") !== state)
    .map(({ name, state, step }) => `${at(seconds)}  ${name}  ${state}${step && ` · ${step}`}\n`);
}

/** What lies in the namespace of a control plane is its cluster's. */
export function clusterOf(key: string, hostedClusters: readonly HostedCluster[]): string {
  const [namespace = ""] = key.split("/");
  const owner = hostedClusters.find(
    ({ metadata }) => controlPlaneNamespace(metadata.namespace ?? "", metadata.name) === namespace,
  );
  return owner ? keyOf(owner) : key;
}

function at(seconds: number): string {
  return `${seconds.toFixed(1).padStart(6)}s`;
}
