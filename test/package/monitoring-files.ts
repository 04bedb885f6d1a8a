import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

/** The path of a file of `monitoring`. */
export function monitoring(file: string): string {
  return fileURLToPath(new URL(`../../monitoring/${file}`, import.meta.url));
}

/** An alert of the PrometheusRule. */
export interface Alert {
  alert: string;
  expr: string;
  annotations: { summary: string; runbook: string };
}

/** All alerts. */
export function alertRules(): Alert[] {
  const { spec } = parse(readFileSync(monitoring("prometheus-rule.yaml"), "utf8")) as {
    spec: { groups: { rules: Alert[] }[] };
  };
  return spec.groups.flatMap(({ rules }) => rules);
}

/** The queries of all panels of the dashboard. */
export function dashboardQueries(): string[] {
  const { panels } = JSON.parse(readFileSync(monitoring("grafana-dashboard.json"), "utf8")) as {
    panels: { targets: { expr: string }[] }[];
  };
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
}

/** How the PodMonitor has a pod scraped. */
export function podMonitorEndpoint(): { honorLabels?: boolean } {
  const { spec } = parse(readFileSync(monitoring("pod-monitor.yaml"), "utf8")) as {
    spec: { podMetricsEndpoints: { honorLabels?: boolean }[] };
  };
  return spec.podMetricsEndpoints[0] ?? {};
}
