import {
  type Document,
  forEach,
  type ObjectTemplate,
  releaseNamespace,
  setting,
  type TemplateMap,
  textOf,
  when,
} from "../template/template.ts";
import { alerts } from "./alerts.ts";
import { grafanaDashboard } from "./grafana-dashboard.ts";
import {
  type Component,
  clusterApiApart,
  labels,
  labelsOf,
  namespaceOf,
  selectorOf,
  split,
} from "./names.ts";

const apiVersion = "monitoring.coreos.com/v1";

/** What the Prometheus operator and Grafana's sidecar read: who scrapes which pods, the alerts, and the dashboard. */
export function monitoring(): Document {
  return [
    monitors("postern-operator"),
    when<Document>(clusterApiApart, monitors("postern-cluster-api")),
    when<Document>(
      split,
      forEach<Document>(setting("hosted.controlPlanes"), monitors("postern-control-plane")),
    ),
    when<Document>(setting("metrics.prometheusRule.enabled"), prometheusRule()),
    when<Document>(setting("metrics.grafanaDashboard.enabled"), dashboardConfigMap()),
  ];
}

function monitors(component: Component): Document {
  return [
    when<Document>(setting("metrics.serviceMonitor.enabled"), serviceMonitor(component)),
    when<Document>(setting("metrics.podMonitor.enabled"), podMonitor(component)),
  ];
}

/** How every pod is scraped, by TLS with a token. The label `namespace` of a metric is that of the cluster, not of the pod. */
const endpoint: TemplateMap = {
  port: "metrics",
  honorLabels: true,
  path: "/metrics",
  interval: "30s",
  scheme: "https",
};

function serviceMonitor(component: Component): ObjectTemplate {
  return {
    apiVersion,
    kind: "ServiceMonitor",
    metadata: {
      name: component,
      namespace: namespaceOf(component),
      labels: { ...labelsOf(component), "...": setting("metrics.serviceMonitor.labels") },
    },
    spec: {
      selector: { matchLabels: selectorOf(component) },
      endpoints: [
        {
          ...endpoint,
          bearerTokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token",
          tlsConfig: setting("metrics.serviceMonitor.tlsConfig"),
        },
      ],
    },
  };
}

/** A PodMonitor has no token file: its token is in a Secret beside it. */
function podMonitor(component: Component): ObjectTemplate {
  return {
    apiVersion,
    kind: "PodMonitor",
    metadata: {
      name: component,
      namespace: namespaceOf(component),
      labels: { ...labelsOf(component), "...": setting("metrics.podMonitor.labels") },
    },
    spec: {
      selector: { matchLabels: selectorOf(component) },
      podMetricsEndpoints: [
        {
          ...endpoint,
          authorization: {
            credentials: {
              name: setting("metrics.podMonitor.tokenSecret.name"),
              key: setting("metrics.podMonitor.tokenSecret.key"),
            },
          },
          tlsConfig: setting("metrics.podMonitor.tlsConfig"),
        },
      ],
    },
  };
}

function prometheusRule(): ObjectTemplate {
  const base = setting("metrics.prometheusRule.runbookUrl");
  return {
    apiVersion,
    kind: "PrometheusRule",
    metadata: {
      name: "postern",
      namespace: releaseNamespace,
      labels: { ...labels, "...": setting("metrics.prometheusRule.labels") },
    },
    spec: {
      groups: [
        {
          name: "postern",
          rules: alerts.map(({ name, severity, expr, for: duration, summary }) => ({
            alert: name,
            expr,
            for: duration,
            labels: { severity },
            annotations: {
              summary,
              runbook: `docs/runbooks/${name}.md`,
              runbook_url: when(base, textOf([base, `/${name}`])),
            },
          })),
        },
      ],
    },
  };
}

function dashboardConfigMap(): ObjectTemplate {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: "postern-grafana-dashboard",
      namespace: releaseNamespace,
      labels: { ...labels, "...": setting("metrics.grafanaDashboard.labels") },
      annotations: when(
        setting("metrics.grafanaDashboard.annotations"),
        setting("metrics.grafanaDashboard.annotations"),
      ),
    },
    data: { "postern.json": JSON.stringify(grafanaDashboard) },
  };
}
