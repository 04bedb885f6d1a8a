import type { JournalStep } from "@postern/core/dashboard/journal-step.ts";
import type { ClusterSummary } from "@postern/core/dashboard/picture.ts";
import type { Health } from "@postern/core/health.ts";
import type { Appliance } from "./appliances.ts";

/** A cluster or an appliance, as a person looks at it. */
export interface Row {
  name: string;
  what: string;
  /** In the words of the dashboard. */
  state: Health;
  /** Why, and what is under way. */
  step: string;
}

/** What there is to look at. */
export interface Known {
  /** Undefined until they were read for the first time. */
  clusters: readonly ClusterSummary[] | undefined;
  appliances: readonly Appliance[];
  /** The operations that go on in Azure, by cluster. */
  operations: ReadonlyMap<string, readonly JournalStep[]>;
  /** Why the clusters could not be read; how they were before is not how they are. */
  failure?: string | undefined;
  now: number;
}

/** One row for each cluster and appliance, by name; none before the clusters were read, so that nobody takes the rest for all. */
export function rowsOf({ clusters, appliances, operations, failure, now }: Known): Row[] {
  if (clusters === undefined) return [];
  const rows = clusters.map((cluster): Row => {
    const { key: name, kind, access, health } = cluster;
    const what = kind === "AzureCluster" ? "Cluster API" : access;
    if (failure !== undefined) return { name, what, state: "Unknown", step: failure };
    // Steps are settled together when their object comes to rest: only the newest is sure to be running still.
    const running = (operations.get(name) ?? []).slice(-1);
    const texts = running.map((step) => operationText(step, now));
    return { name, what, state: health, step: stepOf(cluster, texts) };
  });
  return [...rows.sort(byName), ...appliances.toSorted(byName).map(applianceRow)];
}

/** While all goes well the operation says most; where something is wrong, the cause. */
function stepOf({ health, causes: [cause] }: ClusterSummary, running: readonly string[]): string {
  const why = cause === undefined ? [] : [cause.message];
  const parts = health === "Progressing" ? [...running, ...why] : [...why, ...running];
  return parts.join(" · ");
}

/** What Azure is at, for how long, and how long that usually takes. */
export function operationText(step: JournalStep, now: number): string {
  const elapsed = seconds(now - Date.parse(step.at));
  const usual = step.expectedMs === undefined ? "" : ` of about ${seconds(step.expectedMs)}`;
  return `${step.do}, ${elapsed}${usual}`;
}

function seconds(ms: number): string {
  return `${Math.max(0, Math.round(ms / 1_000))} s`;
}

function applianceRow({ name, pool, state, message }: Appliance): Row {
  const row = { name, what: "appliance" };
  switch (state) {
    case "member":
      return { ...row, state: "Healthy", step: `in pool ${pool}` };
    case "joining":
      return { ...row, state: "Progressing", step: `joining pool ${pool}` };
    case "left":
      return { ...row, state: "Progressing", step: `has left pool ${pool}` };
    case "failed":
      return { ...row, state: "Unavailable", step: message ?? "failed" };
  }
}

function byName(a: { name: string }, b: { name: string }): number {
  return a.name.localeCompare(b.name, "en", { numeric: true });
}
