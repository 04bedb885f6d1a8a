import type { Column } from "./place.ts";
import { healthOrder } from "./state.tsx";
import type { ClusterSummary, Health } from "./types.ts";

/** What a person asks of the list of clusters. */
export interface Query {
  search: string;
  health?: Health;
  sort: Column;
  descending: boolean;
}

/** The clusters that match, sorted; the worst first where nothing else is asked for. */
export function find(clusters: readonly ClusterSummary[], query: Query): ClusterSummary[] {
  const { search, health, sort, descending } = query;
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = clusters.filter(
    (each) => (health ?? each.health) === each.health && words.every((word) => has(each, word)),
  );
  const direction = descending ? -1 : 1;
  return found.sort(
    (a, b) => direction * compare(a, b, sort) || rank(a) - rank(b) || byText(a.key, b.key),
  );
}

function has(
  { key, hosts, endpoints, linkServices, terms }: ClusterSummary,
  word: string,
): boolean {
  return [key, ...hosts, ...endpoints, ...linkServices, ...terms].some((text) =>
    text.toLowerCase().includes(word),
  );
}

function compare(a: ClusterSummary, b: ClusterSummary, sort: Column): number {
  switch (sort) {
    case "name":
      return byText(a.key, b.key);
    case "access":
      return byText(a.access, b.access);
    case "health":
    case "checked":
      return rank(a) - rank(b);
    case "cause":
      return byText(a.causes[0]?.message ?? "", b.causes[0]?.message ?? "");
    case "since":
      // The latest change first.
      return byText(b.since ?? "", a.since ?? "");
    case "endpoint":
      return byText(a.endpoints[0] ?? "", b.endpoints[0] ?? "");
    case "service":
      return byText(a.linkServices[0] ?? "", b.linkServices[0] ?? "");
  }
}

function rank({ health }: ClusterSummary): number {
  return healthOrder.indexOf(health);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
