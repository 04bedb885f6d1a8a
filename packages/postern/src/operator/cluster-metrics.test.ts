import type { KubeObject } from "@postern/core/kind.ts";
import { azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { Registry } from "@prometheus-io/client";
import { expect, onTestFinished, test } from "vitest";
import { serve } from "../../../../test/loopback.ts";
import { ManualClock } from "../../../../test/manual-clock.ts";
import { Caches } from "../kube/caches.ts";
import { KubeClient } from "../kube/client.ts";
import { silentLog } from "../kube/log.ts";
import { ClusterMetrics } from "./cluster-metrics.ts";

const kinds = [hostedCluster, azurePrivateLinkService, azureCluster];
const yesterday = "1969-12-31T00:00:00Z";
const condition = (type: string, status: string, reason: string) => ({
  type,
  status,
  reason,
  message: "",
  lastTransitionTime: yesterday,
  observedGeneration: 1,
});
const object = (kind: string, namespace: string, name: string, rest: object) => ({
  kind,
  metadata: { namespace, name, resourceVersion: "1", creationTimestamp: yesterday },
  ...rest,
});
const privateAzure = {
  platform: { azure: { topology: "Private", private: { type: "PrivateLink" } } },
};

/** The metrics of a process that leads and watches these objects. */
async function metricsOf(objects: readonly (KubeObject & { kind: string })[]): Promise<string> {
  const { url } = await serve(({ url: path }, response) => {
    const kind = kinds.find(({ plural }) => path.includes(`/${plural}?`));
    const events = objects
      .filter((each) => each.kind === kind?.kind)
      .map((each) => ({ type: "ADDED", object: each }));
    const annotations = { "k8s.io/initial-events-end": "true" };
    const end = { type: "BOOKMARK", object: { metadata: { resourceVersion: "1", annotations } } };
    const text = [...events, end].map((each) => `${JSON.stringify(each)}\n`).join("");
    response.writeHead(200, { "content-type": "application/json" }).write(text);
  });
  const server = new URL(url);
  const proof = async () => ({});
  const client = new KubeClient({ server, namespace: "default", source: "the test", proof });
  const caches = new Caches({ client, log: silentLog });
  const stop = new AbortController();
  const running = kinds.map((kind) => {
    const cache = caches.of<KubeObject>(kind);
    return { cache, end: cache.run(stop.signal) };
  });
  onTestFinished(async () => {
    stop.abort();
    await Promise.all(running.map(({ end }) => end));
    client.close();
  });
  await Promise.all(running.map(({ cache }) => cache.filled));
  const registry = new Registry();
  new ClusterMetrics(registry, { runtime: { leading: true, caches }, clock: new ManualClock() });
  return registry.metrics();
}

const healthIn = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/^postern_cluster_health\{.*name="(\w+)",health="(\w+)"\} 1$/gm)].map(
      ([, name, health]) => [name, health],
    ),
  );

test("a cluster has the health that the dashboard shows by conditions: with its links, and its Services and Routes", async () => {
  const available = condition("AzurePrivateLinkServiceAvailable", "True", "AzureSuccess");
  const hosted = (name: string, conditions: object[], spec: object = privateAzure) =>
    object("HostedCluster", "clusters", name, { spec, status: { conditions } });
  const failed = condition("AzurePrivateDNSAvailable", "False", "PrivateDNSZoneCreationFailed");
  const topology = condition("TopologyApplied", "False", "HostnameMissing");
  const published = { platform: { azure: { topology: "Public" } } };
  const text = await metricsOf([
    hosted("healthy", [available]),
    hosted("degraded", [available]),
    object("AzurePrivateLinkService", "clusters-degraded", "router", {
      metadata: {
        ...object("", "clusters-degraded", "router", {}).metadata,
        annotations: { "hypershift.openshift.io/cluster": "clusters/degraded" },
      },
      status: { conditions: [available, failed] },
    }),
    hosted("topology", [available, topology]),
    hosted("published", [topology], published),
    hosted("elsewhere", [], published),
    object("AzureCluster", "org", "workload", {
      status: { conditions: [condition("GSPrivateLinksReady", "True", "Ready")] },
    }),
    object("AzureCluster", "org", "unserved", { status: { conditions: [] } }),
  ]);
  expect(healthIn(text)).toEqual({
    healthy: "Healthy",
    degraded: "Degraded",
    topology: "Degraded",
    published: "Unavailable",
    workload: "Healthy",
  });
  expect(text).toContain('postern_clusters{kind="HostedCluster",health="Degraded"} 2');
  expect(text).toContain('postern_clusters{kind="AzureCluster",health="Healthy"} 1');
});
