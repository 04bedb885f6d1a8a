// Writes docs/reference/metrics.md from the metrics in the code; with --check it only says whether they are in step.
import { readFileSync, writeFileSync } from "node:fs";
import { realClock } from "@postern/core/clock.ts";
import { Registry } from "@prometheus-io/client";
import { DnsMetrics } from "postern/cluster-api/dns/azure/metrics.ts";
import { Metrics } from "postern/kube/metrics.ts";
import { countRequests } from "postern/operator/azure.ts";
import { showBudgets, showCertificates } from "postern/operator/azure-metrics.ts";
import { ClusterMetrics } from "postern/operator/cluster-metrics.ts";
import { showInventory } from "postern/operator/link-inventory.ts";
import { showServingExpiry } from "postern/operator/pages.ts";

const page = new URL("../docs/reference/metrics.md", import.meta.url);

/** The page as it should be. */
export function metricsPage(): string {
  const kube = new Metrics().registry;
  const process = new Metrics({ processMetrics: true }).registry;
  const azure = new Registry();
  countRequests(azure);
  showBudgets(azure, () => []);
  showCertificates(azure, realClock);
  const clusters = new Registry();
  new ClusterMetrics(clusters, { runtime: undefined as never, clock: realClock });
  const inventory = new Registry();
  showInventory(inventory, () => undefined);
  const serving = new Registry();
  showServingExpiry(serving, () => 0);
  const dns = new Registry();
  new DnsMetrics(dns);
  const code = (text: string) => `\`${text}\``;
  return [
    "# Metrics",
    `${code("postern operator")} and ${code("postern local")} serve these metrics on ${code("/metrics")}, in addition to those of the process (${code("process_*")}, ${code("nodejs_*")}).\nThis page is generated from the code by ${code("npm run generate")}.`,
    [
      `On a loopback address, every user of that machine can read the metrics. On any other address (${code("--metrics")}) they are served over TLS, to clients that present a Kubernetes token (TokenReview)`,
      `and may ${code("get")} the nonResourceURL ${code("/metrics")} (SubjectAccessReview), for example through the ClusterRole ${code("postern-metrics-reader")}. Responses of the API server are cached for`,
      "30 seconds. Metrics contain cluster names, ids, DNS names and addresses: bind that role only to Prometheus.",
    ].join("\n"),
    "## Controllers, queues and the Kubernetes API",
    `The names and labels are those of Go's controller-runtime, so that its dashboards work. In ${code("workqueue_depth")} the\n${code("priority")} is ${code("change")}, ${code("retry")} or ${code("drift")}.`,
    table(kube),
    "## The event loop",
    `While the event loop is blocked, nothing is reconciled and no probe is answered. An input that takes long to parse shows in\n${code("nodejs_eventloop_lag_max_seconds")}. All but the first are since the last scrape.`,
    table(process, /^nodejs_eventloop_lag/),
    "## Azure",
    table(azure),
    "## The certificate",
    "Where metrics or the dashboard are served elsewhere than on a loopback address.",
    table(serving),
    "## Clusters",
    [
      `Computed when they are read, by the process that leads (${code("leader_election_master_status")}). ${code("kind")} is ${code("HostedCluster")} or ${code("AzureCluster")}, of connections`,
      `${code("AzurePrivateLinkService")}. Of more than 2,000 clusters of a process, or private links, 2,000 have metrics of their own; namespaces take turns.`,
      `The others are counted in ${code("postern_clusters")} and ${code("postern_metrics_omitted")}.`,
    ].join("\n"),
    table(clusters),
    "## The management group",
    "Read with the lowest priority every five minutes, by the process that leads the management side.",
    table(inventory),
    "## The names of clusters of Cluster API",
    `The names and labels are those of dns-operator-azure. ${code("type")} is ${code("public")} or ${code("private")}, ${code("method")} that of HTTP.\n${code("tenant_id")} is that of the AzureClusterIdentity by which the zone is reached, and empty for clusters that are no AzureClusters.`,
    table(dns),
    "",
  ]
    .join("\n\n")
    .trimEnd()
    .concat("\n");
}

function table(registry: Registry, only = /./): string {
  const all = registry.getMetricsAsArray().filter(({ name }) => only.test(name));
  const rows = all.map((metric) => {
    const { name, help, type, labelNames } = metric as unknown as {
      name: string;
      help: string;
      type?: string;
      labelNames: string[];
    };
    const kind = type ?? (metric as object).constructor.name.toLowerCase();
    return `| \`${name}\` | ${kind} | ${labelNames.map((label) => `\`${label}\``).join(", ")} | ${help} |`;
  });
  return ["| name | kind | labels | what it counts |", "|---|---|---|---|", ...rows].join("\n");
}

if (import.meta.main) {
  const wanted = metricsPage();
  if (!process.argv.includes("--check")) writeFileSync(page, wanted);
  else if (readFileSync(page, "utf8") !== wanted) {
    console.error("docs/reference/metrics.md is not in step with the code: run npm run generate");
    process.exitCode = 1;
  }
}
