import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { HostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { conditions as capiConditions } from "postern/cluster-api/names.ts";
import { conditions as hostedConditions } from "postern/hosted/names.ts";
import type { Appliance } from "./appliances.ts";

/** A cluster or an appliance, as a person looks at it. */
export interface Row {
  name: string;
  what: string;
  state: "available" | "working" | "failed" | "going";
  /** What it is at. */
  step: string;
}

/** What there is to look at. */
export interface Known {
  hostedClusters: readonly HostedCluster[];
  azureClusters: readonly AzureCluster[];
  /** The AzureCluster that the others connect to. */
  managementCluster: string | undefined;
  appliances: readonly Appliance[];
}

/** One row for each cluster and appliance, by name. */
export function rowsOf(known: Known): Row[] {
  const { hostedClusters, azureClusters, managementCluster, appliances } = known;
  return [
    ...hostedClusters.toSorted(byKey).map(hostedRow),
    ...azureClusters
      .toSorted(byKey)
      .map((each) => (keyOf(each) === managementCluster ? managementRow(each) : workloadRow(each))),
    ...appliances.map(applianceRow),
  ];
}

const hostedSteps = [
  [hostedConditions.loadBalancer, "load balancer"],
  [hostedConditions.link, "link service"],
  [hostedConditions.endpoint, "private endpoint"],
  [hostedConditions.dns, "names"],
  [hostedConditions.available, "connection"],
] as const;

const workloadSteps = [
  [capiConditions.privateLinks, "link services"],
  [capiConditions.privateEndpoints, "private endpoints"],
  [capiConditions.links, "addresses"],
  [capiConditions.dnsZone, "names"],
] as const;

function hostedRow(cluster: HostedCluster): Row {
  const { topology = "Public" } = cluster.spec.platform.azure ?? {};
  return topology === "Public"
    ? { ...rowOf(cluster, topology, []), state: "available", step: "not private" }
    : rowOf(cluster, topology, hostedSteps);
}

function workloadRow(cluster: AzureCluster): Row {
  return rowOf(cluster, "Cluster API", workloadSteps);
}

function managementRow(cluster: AzureCluster): Row {
  return rowOf(cluster, "management", workloadSteps.slice(0, 1));
}

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

/** The first condition that does not hold says what it is at; where all hold it is available. */
function rowOf(
  object: KubeObject & { status?: { conditions?: readonly Condition[] } },
  what: string,
  steps: readonly (readonly [type: string, words: string])[],
): Row {
  const name = keyOf(object);
  const held = object.status?.conditions ?? [];
  const found = steps.map(([type, words]) => ({
    words,
    condition: held.find((each) => each.type === type),
  }));
  const open = found.find(({ condition }) => condition?.status !== "True");
  if (object.metadata.deletionTimestamp !== undefined)
    return { name, what, state: "going", step: stepOf(open) ?? "being deleted" };
  if (open === undefined) return { name, what, state: "available", step: "" };
  return { name, what, state: "working", step: stepOf(open) ?? open.words };
}

function stepOf(open: { words: string; condition: Condition | undefined } | undefined) {
  const { reason, message } = open?.condition ?? {};
  if (open === undefined || reason === undefined) return undefined;
  // The first part of a message says what it is; the rest is for whoever has to act.
  const said = message?.split(" · ")[0] || reason;
  return `${open.words}: ${said}`;
}

function applianceRow({ name, pool, state, message }: Appliance): Row {
  const row = { name, what: "appliance" };
  switch (state) {
    case "member":
      return { ...row, state: "available", step: `in pool ${pool}` };
    case "joining":
      return { ...row, state: "working", step: `joining pool ${pool}` };
    case "left":
      return { ...row, state: "going", step: `has left pool ${pool}` };
    case "failed":
      return { ...row, state: "failed", step: message ?? "failed" };
  }
}

function byKey(a: KubeObject, b: KubeObject): number {
  return keyOf(a) < keyOf(b) ? -1 : 1;
}
