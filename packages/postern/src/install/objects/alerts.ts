/** An alert on the metrics of Postern. */
export interface Alert {
  name: string;
  severity: "critical" | "warning";
  /** A query of PromQL; it has results while something is wrong. */
  expr: string;
  /** How long that has to last. */
  for: string;
  summary: string;
}

const cluster = "{{ $labels.kind }} {{ $labels.namespace }}/{{ $labels.name }}";

/** Every alert. Each has a page in docs/runbooks, and two tests in monitoring/alerts.test.yaml. */
export const alerts: readonly Alert[] = [
  {
    name: "PosternClusterUnavailable",
    severity: "critical",
    expr: `max by (kind, namespace, name) (postern_cluster_health{health="Unavailable"}) == 1`,
    for: "5m",
    summary: `Clients cannot connect to ${cluster}.`,
  },
  {
    name: "PosternClusterDegraded",
    severity: "warning",
    expr: `max by (kind, namespace, name) (postern_cluster_health{health="Degraded"}) == 1`,
    for: "15m",
    summary: `${cluster} needs attention.`,
  },
  {
    name: "PosternApprovalPending",
    severity: "warning",
    expr: "max by (kind, namespace, name) (postern_approval_pending_seconds) > 900",
    for: "1m",
    summary: `${cluster} has waited {{ $value | humanizeDuration }} for an approval.`,
  },
  {
    name: "PosternNoLeader",
    severity: "critical",
    // Each process has a Lease of its own: one that leads says nothing about the others. One whose pods are all gone has no series now, only in the past.
    expr: "group by (namespace, name) (last_over_time(leader_election_master_status[1d])) unless sum by (namespace, name) (leader_election_master_status) > 0 or absent(last_over_time(leader_election_master_status[1d]))",
    for: "5m",
    summary: "No replica of {{ or $labels.name `Postern` }} leads: nothing is reconciled by it.",
  },
  {
    name: "PosternReconcileErrors",
    severity: "warning",
    expr: "sum by (controller) (rate(controller_runtime_reconcile_errors_total[15m])) / sum by (controller) (rate(controller_runtime_reconcile_total[15m])) > 0.5",
    for: "15m",
    summary: "More than half of the reconciles of {{ $labels.controller }} fail.",
  },
  {
    // Every reconcile that corrects something ends with it: somebody who changes it back does so for hours.
    name: "PosternDriftCorrectedAgain",
    severity: "warning",
    expr: "sum by (controller) (increase(postern_drift_corrected_total[1h])) > 2",
    for: "2h",
    summary:
      "{{ $labels.controller }} corrects drift again and again, {{ $value | humanize }} times in the last hour.",
  },
  {
    name: "PosternInternalError",
    severity: "warning",
    expr: "sum by (controller) (increase(controller_runtime_reconcile_panics_total[1h])) > 0 or sum by (controller) (increase(postern_unhandled_rejections_total[1h])) > 0",
    for: "0m",
    summary: "A bug in {{ $labels.controller }}: a reconcile ended unexpectedly.",
  },
  {
    name: "PosternNatAddressesLow",
    severity: "warning",
    expr: "min by (subnet) (postern_nat_subnet_free_addresses) < 8",
    for: "15m",
    summary: "Subnet {{ $labels.subnet }} has {{ $value }} free addresses left for link services.",
  },
  {
    name: "PosternLoadBalancerFull",
    severity: "warning",
    expr: "max by (load_balancer) (postern_load_balancer_link_services) >= 7",
    for: "15m",
    summary:
      "Load balancer {{ $labels.load_balancer }} has {{ $value }} of at most 8 link services.",
  },
  {
    name: "PosternOrphanedLinkServices",
    severity: "warning",
    expr: "max(postern_orphaned_link_services) > 0",
    for: "1h",
    summary: "{{ $value }} link services in Azure belong to no object.",
  },
  {
    name: "PosternCredentialExpires",
    severity: "warning",
    expr: "min by (client_id) (postern_azure_credential_expiry_timestamp_seconds) - time() < 14 * 86400",
    for: "1h",
    summary:
      "The certificate of Azure identity {{ $labels.client_id }} expires in {{ $value | humanizeDuration }}.",
  },
  {
    name: "PosternServingCertificateExpires",
    severity: "warning",
    expr: "min(postern_serving_certificate_expiry_timestamp_seconds) - time() < 7 * 86400",
    for: "1h",
    summary: "The certificate of Postern's metrics expires in {{ $value | humanizeDuration }}.",
  },
  {
    name: "PosternAzureThrottled",
    severity: "warning",
    expr: "sum by (subscription) (increase(postern_azure_throttled_total[15m])) > 10",
    for: "15m",
    summary: "Azure throttles requests to subscription {{ $labels.subscription }}.",
  },
  {
    name: "PosternAzureBudgetExhausted",
    severity: "warning",
    expr: "max by (subscription, kind) (postern_azure_budget_waiting) > 50",
    for: "15m",
    summary:
      "{{ $value }} {{ $labels.kind }} wait for the request budget of subscription {{ $labels.subscription }}.",
  },
];
