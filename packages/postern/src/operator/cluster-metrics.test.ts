import { dateBy } from "@postern/core/clock.ts";
import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { Registry } from "@prometheus-io/client";
import { expect, test, vi } from "vitest";
import { watchedCaches } from "../../../../test/kube/watched-caches.ts";
import { ManualClock } from "../../../../test/manual-clock.ts";
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

type WithKind = KubeObject & { kind: string };

/** The metrics of a process that leads and watches these objects. */
async function metricsOf(objects: readonly WithKind[]): Promise<string> {
  return (await start(objects)).text();
}

/** A process that leads and watches these objects, and what changes them. */
async function start(objects: readonly WithKind[]) {
  const { caches, send } = await watchedCaches(kinds, objects);
  const registry = new Registry();
  const clock = new ManualClock();
  const metrics = new ClusterMetrics(registry, { runtime: { leading: true, caches }, clock });
  metrics.follow();
  let version = 1;
  const change = async (type: "ADDED" | "MODIFIED" | "DELETED", changed: WithKind) => {
    const resourceVersion = String(++version);
    const metadata = { ...changed.metadata, resourceVersion };
    send(type, { ...changed, metadata });
    const cache = caches.all().find(({ kind }) => kind.kind === changed.kind);
    const inCache = () => cache?.get(keyOf(changed))?.metadata.resourceVersion;
    await vi.waitFor(() =>
      expect(inCache()).toBe(type === "DELETED" ? undefined : resourceVersion),
    );
  };
  return { text: () => registry.metrics(), change, clock };
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

test("attack: a link in another namespace that names a cluster does not change its health", async () => {
  const available = condition("AzurePrivateLinkServiceAvailable", "True", "AzureSuccess");
  const failed = condition("AzurePrivateLinkServiceAvailable", "False", "NotVerified");
  const text = await metricsOf([
    object("HostedCluster", "clusters", "victim", {
      spec: privateAzure,
      status: { conditions: [available] },
    }),
    object("AzurePrivateLinkService", "attacker", "router", {
      metadata: {
        ...object("", "attacker", "router", {}).metadata,
        annotations: { "hypershift.openshift.io/cluster": "clusters/victim" },
      },
      status: { conditions: [failed] },
    }),
  ]);
  expect(healthIn(text)).toEqual({ victim: "Healthy" });
});

test("the time to available is counted once for each cluster, and not after each interruption", async () => {
  const { text, change, clock } = await start([]);
  const secondsOf = async () =>
    /^postern_cluster_time_to_available_seconds_sum\{kind="HostedCluster"\} (\S+)$/m.exec(
      await text(),
    )?.[1];
  const clusterOf = (uid: string, status: "True" | "False") => {
    const now = dateBy(clock).toISOString();
    const conditions = [condition("AzurePrivateLinkServiceAvailable", status, "Reason")];
    const { metadata, ...rest } = object("HostedCluster", "clusters", "one", {
      spec: privateAzure,
      status: { conditions },
    });
    created[uid] ??= now;
    return { ...rest, metadata: { ...metadata, uid, creationTimestamp: created[uid] } };
  };
  const created: Record<string, string> = {};
  await change("ADDED", clusterOf("u-1", "False"));
  clock.moveTo(clock.now() + 40_000);
  await change("MODIFIED", clusterOf("u-1", "True"));
  expect(await secondsOf()).toBe("40");
  clock.moveTo(clock.now() + 86_400_000);
  await change("MODIFIED", clusterOf("u-1", "False"));
  await change("MODIFIED", clusterOf("u-1", "True"));
  expect(await secondsOf()).toBe("40");
  await change("DELETED", clusterOf("u-1", "True"));
  await change("ADDED", clusterOf("u-2", "False"));
  clock.moveTo(clock.now() + 20_000);
  await change("MODIFIED", clusterOf("u-2", "True"));
  expect(await secondsOf()).toBe("60");
});

test("attack: a tenant with thousands of clusters hides neither another's clusters nor its links, and the rest is counted", async () => {
  const pending = condition("AzurePrivateEndpointAvailable", "False", "PrivateEndpointPending");
  const status = { conditions: [condition("AzurePrivateLinkServiceAvailable", "True", "Ready")] };
  const text = await metricsOf([
    ...Array.from({ length: 2_500 }, (_, n) =>
      object("HostedCluster", "attacker", `many${n}`, { spec: privateAzure, status }),
    ),
    object("HostedCluster", "clusters", "victim", { spec: privateAzure, status }),
    object("AzureCluster", "org", "workload", {
      status: { conditions: [condition("GSPrivateLinksReady", "True", "Ready")] },
    }),
    object("AzurePrivateLinkService", "clusters-victim", "router", {
      status: { conditions: [pending] },
    }),
  ]);
  const { victim, workload, ...attackers } = healthIn(text);
  expect({ victim, workload }).toEqual({ victim: "Healthy", workload: "Healthy" });
  expect(Object.keys(attackers)).toHaveLength(1_998);
  for (const name of ["victim", "workload", "router"])
    expect(text).toMatch(
      new RegExp(`^postern_approval_pending_seconds\\{.*name="${name}"\\}`, "m"),
    );
  expect(text).toContain('postern_metrics_omitted{kind="HostedCluster"} 502');
  expect(text).toContain('postern_metrics_omitted{kind="AzurePrivateLinkService"} 0');
});
