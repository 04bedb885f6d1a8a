import { type Clock, dateBy } from "@postern/core/clock.ts";
import {
  type Health,
  type HealthCondition,
  healthOfConditions,
  healthOrder,
  isApprovalPending,
} from "@postern/core/health.ts";
import type { KubeObject } from "@postern/core/kind.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import {
  type AzurePrivateLinkService,
  azurePrivateLinkService,
} from "@postern/core/kinds/azure-private-link-service.ts";
import { type HostedCluster, hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { Gauge, Histogram, type Registry } from "@prometheus-io/client";
import { conditions as capi } from "../cluster-api/names.ts";
import { conditions as hosted } from "../hosted/names.ts";
import type { WatchCache } from "../kube/cache.ts";
import type { Runtime } from "../kube/runtime.ts";

/** A cluster, or a private link, as metrics show it. */
interface Subject {
  kind: string;
  object: KubeObject;
  conditions: readonly HealthCondition[];
  /** The condition that says whether clients can connect. */
  available: string;
  types: readonly string[];
}

/** Clusters after these are counted in `postern_clusters` only: a tenant can create as many as it likes. */
const mostClusters = 2_000;
const connectionStates = ["Approved", "NotApproved", "Unknown"] as const;
const timeBuckets = [15, 30, 60, 120, 180, 300, 600, 900, 1_800, 3_600];
const capiTypes = [capi.links, capi.privateLinks, capi.dnsZone, capi.privateEndpoints];

/** The metrics of clusters. They are computed when they are read, from the caches of the process that leads. */
export class ClusterMetrics {
  readonly #runtime: Runtime;
  readonly #clock: Clock;
  readonly #timeToAvailable: Histogram<"kind">;

  constructor(registry: Registry, given: { runtime: Runtime; clock: Clock }) {
    this.#runtime = given.runtime;
    this.#clock = given.clock;
    const cluster = ["kind", "namespace", "name"];
    const registers = [registry];
    const gauge = (
      name: string,
      help: string,
      labelNames: string[],
      fill: (gauge: Gauge<string>) => void,
    ) =>
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        collect() {
          this.reset();
          fill(this);
        },
      });
    gauge(
      "postern_clusters",
      "Clusters by health: Healthy, Progressing, Degraded, Unavailable or Unknown",
      ["kind", "health"],
      (all) => this.#count(all),
    );
    gauge(
      "postern_cluster_health",
      "The health of a cluster: 1 for the one that it has",
      [...cluster, "health"],
      (all) =>
        this.#each(clusterKinds, (subject, labels) => {
          const health = this.#healthOf(subject);
          for (const each of healthOrder)
            all.set({ ...labels, health: each }, Number(each === health));
        }),
    );
    gauge(
      "postern_connection_state",
      "The connection of the private endpoint of an AzurePrivateLinkService: 1 for the state that it has",
      [...cluster, "state"],
      (all) =>
        this.#each([azurePrivateLinkService.kind], (subject, labels) => {
          const state = connectionOf(subject);
          for (const each of connectionStates)
            all.set({ ...labels, state: each }, Number(each === state));
        }),
    );
    gauge(
      "postern_approval_pending_seconds",
      "How long a cluster or a private link has waited for the approval of a connection; 0 where it does not",
      cluster,
      (all) =>
        this.#each([...clusterKinds, azurePrivateLinkService.kind], (subject, labels) =>
          all.set(labels, this.#approvalSeconds(subject)),
        ),
    );
    this.#timeToAvailable = new Histogram({
      name: "postern_cluster_time_to_available_seconds",
      help: "From the creation of a cluster until clients could connect, of clusters created while this process led",
      labelNames: ["kind"],
      buckets: timeBuckets,
      registers,
    });
    for (const kind of clusterKinds) this.#timeToAvailable.zero({ kind });
  }

  /** Observe when new clusters become available, from now on. */
  follow(): void {
    const runtime = this.#runtime;
    // Kubernetes writes down whole seconds.
    const since = Math.floor(dateBy(this.#clock).getTime() / 1_000) * 1_000;
    for (const cache of runtime.caches.all()) {
      if (!clusterKinds.includes(cache.kind.kind)) continue;
      cache.onChange(({ before, after }) => {
        if (!runtime.leading || before === undefined || after === undefined) return;
        const created = Date.parse(after.metadata.creationTimestamp ?? "");
        if (!(created >= since) || isAvailable(before) || !isAvailable(after)) return;
        const seconds = (dateBy(this.#clock).getTime() - created) / 1_000;
        this.#timeToAvailable.observe({ kind: cache.kind.kind }, Math.max(0, seconds));
      });
    }
  }

  #count(gauge: Gauge<string>): void {
    const caches = this.#caches().filter(({ kind }) => clusterKinds.includes(kind.kind));
    for (const { kind } of caches)
      for (const health of healthOrder) gauge.set({ kind: kind.kind, health }, 0);
    for (const subject of subjectsIn(caches))
      gauge.inc({ kind: subject.kind, health: this.#healthOf(subject) });
  }

  #each(
    kinds: readonly string[],
    fill: (subject: Subject, labels: Record<string, string>) => void,
  ): void {
    const caches = this.#caches().filter(({ kind }) => kinds.includes(kind.kind));
    for (const subject of subjectsIn(caches).slice(0, mostClusters)) {
      const { namespace = "", name } = subject.object.metadata;
      fill(subject, { kind: subject.kind, namespace, name });
    }
  }

  /** Only those of the leader: of two replicas each cluster would count twice. */
  #caches(): WatchCache[] {
    return this.#runtime.leading ? this.#runtime.caches.all() : [];
  }

  #healthOf({ object, ...subject }: Subject): Health {
    const { deletionTimestamp, creationTimestamp } = object.metadata;
    return healthOfConditions({
      ...subject,
      isDeleting: deletionTimestamp !== undefined,
      ...(creationTimestamp !== undefined && { createdAt: creationTimestamp }),
      now: dateBy(this.#clock),
    }).health;
  }

  #approvalSeconds({ conditions }: Subject): number {
    const now = dateBy(this.#clock).getTime();
    const ages = conditions
      .filter(isApprovalPending)
      .map(({ lastTransitionTime = "" }) => (now - Date.parse(lastTransitionTime)) / 1_000);
    return Math.max(0, ...ages.filter(Number.isFinite));
  }
}

const clusterKinds: readonly string[] = [hostedCluster.kind, azureCluster.kind];

function subjectsIn(caches: readonly WatchCache[]): Subject[] {
  return caches.flatMap((cache) =>
    cache.list().flatMap((object) => subjectOf(cache.kind.kind, object) ?? []),
  );
}

/** What metrics show of an object; undefined of one that Postern has nothing to do with. */
function subjectOf(kind: string, object: KubeObject): Subject | undefined {
  const { status } = object as HostedCluster | AzureCluster | AzurePrivateLinkService;
  const conditions = (status?.conditions ?? []) as readonly HealthCondition[];
  const has = (type: string) => conditions.some((each) => each.type === type);
  if (kind === azureCluster.kind) {
    const available = capiTypes.find(has);
    return available && { kind, object, conditions, available, types: capiTypes };
  }
  const types = Object.values(hosted);
  const isPrivate = kind !== hostedCluster.kind || types.some(has) || isPrivateLink(object);
  return isPrivate ? { kind, object, conditions, available: hosted.available, types } : undefined;
}

function isPrivateLink(object: KubeObject): boolean {
  const { platform } = (object as HostedCluster).spec ?? {};
  const { private: link, endpointAccess = "Public" } = platform?.azure ?? {};
  return link?.type === "PrivateLink" || endpointAccess !== "Public";
}

function isAvailable(object: KubeObject): boolean {
  const { status } = object as HostedCluster;
  const types: readonly string[] = [hosted.available, capi.links];
  return (status?.conditions ?? []).some(
    (each) => types.includes(each.type) && each.status === "True",
  );
}

function connectionOf({ conditions }: Subject): (typeof connectionStates)[number] {
  const endpoint = conditions.find(({ type }) => type === hosted.endpoint);
  if (endpoint?.status === "True") return "Approved";
  return endpoint && isApprovalPending(endpoint) ? "NotApproved" : "Unknown";
}
