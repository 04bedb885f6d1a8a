/** A panel: its title, its unit, and its queries with their legends. */
type Panel = readonly [title: string, unit: string, ...queries: (readonly [string, string])[]];

const timeToAvailable = "postern_cluster_time_to_available_seconds";

const panels: readonly Panel[] = [
  ["Clusters by health", "short", ["sum by (health) (postern_clusters)", "{{health}}"]],
  [
    "Clusters that are not healthy",
    "short",
    [`sum by (kind, health) (postern_clusters{health!="Healthy"})`, "{{kind}} {{health}}"],
  ],
  [
    "Time to available",
    "s",
    [
      `sum(rate(${timeToAvailable}_sum[1h])) / (sum(rate(${timeToAvailable}_count[1h])) > 0) or vector(0)`,
      "mean",
    ],
    [
      `(histogram_quantile(0.95, sum by (le) (increase(${timeToAvailable}_bucket[1h]))) >= 0) or vector(0)`,
      "95 %",
    ],
  ],
  ["Connections", "short", ["sum by (state) (postern_connection_state)", "{{state}}"]],
  ["Longest pending approval", "s", ["max(postern_approval_pending_seconds)", "longest"]],
  [
    "Drift corrected",
    "ops",
    ["sum by (controller) (rate(postern_drift_corrected_total[15m]))", "{{controller}}"],
  ],
  [
    "Reconciles",
    "ops",
    [
      "sum by (controller, result) (rate(controller_runtime_reconcile_total[5m]))",
      "{{controller}} {{result}}",
    ],
  ],
  [
    "Reconcile errors",
    "ops",
    ["sum by (controller) (rate(controller_runtime_reconcile_errors_total[5m]))", "{{controller}}"],
  ],
  ["Queue depth", "short", ["sum by (name, priority) (workqueue_depth)", "{{name}} {{priority}}"]],
  [
    "Requests to Azure",
    "reqps",
    ["sum by (verb, code) (rate(postern_azure_requests_total[5m]))", "{{verb}} {{code}}"],
  ],
  [
    "Azure budget left",
    "short",
    ["min by (subscription, kind) (postern_azure_budget_remaining)", "{{subscription}} {{kind}}"],
  ],
  [
    "Requests that wait for the budget",
    "short",
    ["sum by (subscription, kind) (postern_azure_budget_waiting)", "{{subscription}} {{kind}}"],
  ],
  [
    "Link services by load balancer (at most 8)",
    "short",
    ["max by (load_balancer) (postern_load_balancer_link_services)", "{{load_balancer}}"],
  ],
  [
    "Free NAT addresses",
    "short",
    ["min by (subnet) (postern_nat_subnet_free_addresses)", "{{subnet}}"],
  ],
  ["Orphaned link services", "short", ["max(postern_orphaned_link_services)", "orphaned"]],
  [
    "Leaders",
    "short",
    ["sum by (namespace, name) (leader_election_master_status)", "{{namespace}} {{name}}"],
  ],
];

const width = 12;
const height = 8;

/** The dashboard of Grafana: two panels in a row, all of one data source that the viewer chooses. */
export const grafanaDashboard = {
  uid: "postern-overview",
  title: "Postern",
  tags: ["postern"],
  schemaVersion: 39,
  version: 1,
  editable: true,
  time: { from: "now-3h", to: "now" },
  refresh: "1m",
  templating: {
    list: [
      {
        name: "datasource",
        label: "Data source",
        type: "datasource",
        query: "prometheus",
        current: {},
      },
    ],
  },
  panels: panels.map(([title, unit, ...queries], at) => ({
    id: at + 1,
    title,
    type: "timeseries",
    datasource: { type: "prometheus", uid: "$datasource" },
    gridPos: { x: (at % 2) * width, y: Math.floor(at / 2) * height, w: width, h: height },
    fieldConfig: { defaults: { unit }, overrides: [] },
    targets: queries.map(([expr, legendFormat], query) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + query),
      expr,
      legendFormat,
    })),
  })),
};
