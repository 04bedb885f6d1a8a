import { type Clock, dateBy } from "@postern/core/clock.ts";
import {
  type HealthCondition,
  type HealthReport,
  healthOrder,
  isApprovalPending,
} from "@postern/core/health.ts";
import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import {
  type AzurePrivateLinkService,
  azurePrivateLinkService,
} from "@postern/core/kinds/azure-private-link-service.ts";
import { type HostedCluster, hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { Gauge, Histogram, type Registry } from "@prometheus-io/client";
import { conditions as capi } from "../cluster-api/names.ts";
import { reasons } from "../hosted/endpoint/reasons.ts";
import { conditions as hosted } from "../hosted/names.ts";
import type { WatchCache } from "../kube/cache.ts";
import type { Runtime } from "../kube/runtime.ts";
import {
  accessOf,
  capiTypes,
  clusterApiReport,
  hostedReport,
  hostedTypes,
  linksByCluster,
} from "../view/health/condition-report.ts";

/** A cluster, or a private link, as metrics show it. */
interface Subject {
  kind: string;
  object: KubeObject;
  conditions: readonly HealthCondition[];
}

/** A cluster with its health, by the rules of the dashboard for conditions. Azure is not read for a metric. */
interface Cluster extends Subject {
  health(now: Date): HealthReport;
}

/** Whether this process leads, and what it watches. */
type ClustersOf = Pick<Runtime, "leading" | "caches">;

/** So many clusters, and so many private links, have metrics of their own: a tenant can create as many as it likes. */
const most = 2_000;
const connectionStates = ["Approved", "NotApproved", "Unknown"] as const;
const notApproved = new Set<string>([
  reasons.endpointNotApproved,
  reasons.endpointApprovalOverdue,
  reasons.endpointRejected,
]);
const timeBuckets = [15, 30, 60, 120, 180, 300, 600, 900, 1_800, 3_600];

/** The metrics of clusters. They are computed when they are read, from the caches of the process that leads. */
export class ClusterMetrics {
  readonly #runtime: ClustersOf;
  readonly #clock: Clock;
  readonly #timeToAvailable: Histogram<"kind">;

  constructor(registry: Registry, given: { runtime: ClustersOf; clock: Clock }) {
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
        this.#each(shown(this.#clusters()), (cluster, labels) => {
          const { health } = cluster.health(dateBy(this.#clock));
          for (const each of healthOrder)
            all.set({ ...labels, health: each }, Number(each === health));
        }),
    );
    gauge(
      "postern_connection_state",
      "The connection of the private endpoint of an AzurePrivateLinkService: 1 for the state that it has",
      [...cluster, "state"],
      (all) =>
        this.#each(shown(linksIn(this.#caches())), (subject, labels) => {
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
        this.#each(
          [...shown<Subject>(this.#clusters()), ...shown(linksIn(this.#caches()))],
          (subject, labels) => all.set(labels, this.#approvalSeconds(subject)),
        ),
    );
    gauge(
      "postern_metrics_omitted",
      `Clusters and private links without metrics of their own, because there are more than ${most}`,
      ["kind"],
      (all) => this.#countOmitted(all),
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
      // By uid: a cluster that is interrupted later becomes available again, and is not new then.
      const known = new Set<string>();
      cache.onChange(({ before, after }) => {
        if (before?.metadata.uid !== after?.metadata.uid) known.delete(before?.metadata.uid ?? "");
        if (after === undefined || !isAvailable(after)) return;
        const { uid = "", creationTimestamp = "" } = after.metadata;
        if (known.has(uid)) return;
        known.add(uid);
        const created = Date.parse(creationTimestamp);
        if (!runtime.leading || !(created >= since)) return;
        if (before === undefined || isAvailable(before)) return;
        const seconds = (dateBy(this.#clock).getTime() - created) / 1_000;
        this.#timeToAvailable.observe({ kind: cache.kind.kind }, Math.max(0, seconds));
      });
    }
  }

  #count(gauge: Gauge<string>): void {
    const caches = this.#caches().filter(({ kind }) => clusterKinds.includes(kind.kind));
    for (const { kind } of caches)
      for (const health of healthOrder) gauge.set({ kind: kind.kind, health }, 0);
    const now = dateBy(this.#clock);
    for (const cluster of this.#clusters())
      gauge.inc({ kind: cluster.kind, health: cluster.health(now).health });
  }

  #countOmitted(gauge: Gauge<string>): void {
    if (!this.#runtime.leading) return;
    for (const kind of [...clusterKinds, azurePrivateLinkService.kind]) gauge.set({ kind }, 0);
    for (const all of [this.#clusters(), linksIn(this.#caches())]) {
      for (const { kind } of all) gauge.inc({ kind });
      for (const { kind } of shown<Subject>(all)) gauge.dec({ kind });
    }
  }

  #each<T extends Subject>(
    subjects: readonly T[],
    fill: (subject: T, labels: Record<string, string>) => void,
  ): void {
    for (const subject of subjects) {
      const { namespace = "", name } = subject.object.metadata;
      fill(subject, { kind: subject.kind, namespace, name });
    }
  }

  #clusters(): Cluster[] {
    const caches = this.#caches();
    return [...hostedClustersIn(caches), ...clusterApiClustersIn(caches)];
  }

  /** Only those of the leader: of two replicas each cluster would count twice. */
  #caches(): WatchCache[] {
    return this.#runtime.leading ? this.#runtime.caches.all() : [];
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

/** Those with metrics of their own. Namespaces take turns, so that one with many objects displaces no object of another. */
function shown<T extends Subject>(subjects: readonly T[]): readonly T[] {
  if (subjects.length <= most) return subjects;
  const counts = new Map<string, number>();
  const ranked = subjects.map((subject) => {
    const { namespace = "" } = subject.object.metadata;
    const rank = counts.get(namespace) ?? 0;
    counts.set(namespace, rank + 1);
    return { subject, rank };
  });
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .slice(0, most)
    .map(({ subject }) => subject);
}

/** The objects of a kind; none where this process does not watch it. */
function objectsIn<T extends KubeObject>(caches: readonly WatchCache[], kind: string): T[] {
  const cache = caches.find((each) => each.kind.kind === kind);
  return (cache?.list() ?? []) as unknown as T[];
}

function linksIn(caches: readonly WatchCache[]): Subject[] {
  const { kind } = azurePrivateLinkService;
  return objectsIn<AzurePrivateLinkService>(caches, kind).map((object) => ({
    kind,
    object,
    conditions: object.status?.conditions ?? [],
  }));
}

/** Without those that Postern has nothing to do with: public ones on which it reports nothing. */
function hostedClustersIn(caches: readonly WatchCache[]): Cluster[] {
  const links = linksByCluster(
    objectsIn<AzurePrivateLinkService>(caches, azurePrivateLinkService.kind),
  );
  return objectsIn<HostedCluster>(caches, hostedCluster.kind).flatMap((object): Cluster[] => {
    const conditions = object.status?.conditions ?? [];
    const access = accessOf(object);
    const isReported = conditions.some(({ type }) => hostedTypes.includes(type));
    if (!isReported && (access === "Public" || access === "none")) return [];
    const health = (now: Date) => hostedReport(object, links.get(keyOf(object)) ?? [], access, now);
    return [{ kind: hostedCluster.kind, object, conditions, health }];
  });
}

/** Those on which Postern reports. */
function clusterApiClustersIn(caches: readonly WatchCache[]): Cluster[] {
  return objectsIn<AzureCluster>(caches, azureCluster.kind).flatMap((object): Cluster[] => {
    const conditions = (object.status?.conditions ?? []) as readonly HealthCondition[];
    if (!conditions.some(({ type }) => capiTypes.some((each) => each === type))) return [];
    const health = (now: Date) => clusterApiReport(object, now, true);
    return [{ kind: azureCluster.kind, object, conditions, health }];
  });
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
  return notApproved.has(endpoint?.reason ?? "") ? "NotApproved" : "Unknown";
}
