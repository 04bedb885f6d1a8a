import { type Clock, dateBy, realClock } from "@postern/core/clock.ts";
import type { ClusterPage, EventLine, ObjectText } from "@postern/core/dashboard/cluster-page.ts";
import type { Fleet, Overview } from "@postern/core/dashboard/fleet.ts";
import type { OperatorPresence, Picture, Unread } from "@postern/core/dashboard/picture.ts";
import type { HealthCondition } from "@postern/core/health.ts";
import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { redactData } from "@postern/core/redact.ts";
import { idKey, lastSegment } from "@postern/core/resource-id.ts";
import { messageInSentences } from "@postern/core/sentences.ts";
import { stringify } from "yaml";
import type { Budgets } from "../azure/budget.ts";
import type { KubeClient } from "../kube/client.ts";
import { type Planned, planOne } from "../kube/dry-run.ts";
import { KubeError } from "../kube/errors.ts";
import { eventKind } from "../kube/events.ts";
import type { Step } from "../kube/feature.ts";
import type { Journal } from "../kube/journal.ts";
import { silentLog } from "../kube/log.ts";
import type { Runtime } from "../kube/runtime.ts";
import { objectsOf } from "../view/cluster-objects.ts";
import { contradictedClusters } from "../view/contradictions.ts";
import { gatherKube } from "../view/gather.ts";
import { stateOfCondition } from "../view/parts/states.ts";
import { pictureOf } from "../view/picture.ts";
import { changesOf } from "../view/plan-diff.ts";
import { tracesOf } from "../view/trace.ts";
import type { KubeWorld, World } from "../view/world.ts";
import { fleetOf } from "./fleet.ts";

/** Where the dashboard gets its data. Nothing is read before someone asks. */
export interface SourceOptions {
  kube: () => KubeClient;
  runtime: () => Runtime | undefined;
  journal: () => Journal;
  budgets: () => ReturnType<Budgets["states"]>;
  /** The names of identities by their client ids, beside those that objects in Kubernetes name. */
  identityNames?: ReadonlyMap<string, string>;
  /** Reads both sides; with the records of the zones that are asked for. */
  gather: (zones: (zone: { id?: string }, kube: KubeWorld) => boolean) => Promise<World>;
  /** Whether an operator runs; that of `runtime`, where it is left out. */
  presence?: () => OperatorPresence;
  /** How often pages read everything again although nothing was heard of a change. */
  pulseMs?: number;
  clock?: Clock;
}

/** The overview: every cluster, without the records of its zones and without its resources, which its own page shows. */
export async function overview(options: SourceOptions): Promise<Overview> {
  const world = await observe(options, () => false);
  const picture = pictureOf(world);
  requestContradicted(picture, world, options.runtime());
  const nodes = picture.nodes.filter(({ cluster }) => cluster === undefined);
  return {
    picture: { ...picture, nodes, lines: [], networks: [], unread: unreadIn(picture, options) },
    fleet: fleetIn(options, world),
  };
}

/** Both sides, with the operator as this process knows it. */
async function observe(
  { gather, presence }: SourceOptions,
  zones: Parameters<SourceOptions["gather"]>[0],
): Promise<World> {
  const world = await gather(zones);
  return presence === undefined ? world : { ...world, operator: presence() };
}

function fleetIn(options: SourceOptions, { kube, operator = { state: "unknown" } }: World): Fleet {
  const { runtime, journal, budgets, identityNames, clock = realClock } = options;
  return fleetOf({
    ...(identityNames && { identityNames }),
    operator,
    runtime: runtime(),
    journal: journal(),
    budgets: budgets(),
    kube,
    clock,
  });
}

function unreadIn({ unread }: Picture, { runtime }: SourceOptions): Unread[] {
  return [...unread, ...elsewhere(runtime())];
}

/** The page of one cluster; undefined where there is none of this name. */
export async function clusterPage(
  options: SourceOptions,
  cluster: string,
): Promise<ClusterPage | undefined> {
  let isOpened: ((zone: string) => boolean) | undefined;
  const world = await observe(options, (zone, kube) => {
    isOpened ??= zonesOf(cluster, kube);
    return isOpened(zone.id ?? "");
  });
  const picture = pictureOf(world, cluster);
  if (picture.clusters.length === 0) return undefined;
  requestContradicted(picture, world, options.runtime());
  const objects = objectsOf(cluster, world.kube);
  const keys = new Set(objects.map(keyOf));
  const [plans, events] = await Promise.all([
    plansOf(options, keys),
    unlessForbidden(eventsOf(options.kube(), objects)),
  ]);
  const unread = [
    ...unreadIn(picture, options),
    ...("why" in events ? [{ what: "events", why: events.why }] : []),
  ];
  const hosts = picture.nodes.filter(({ kind }) => kind === "record").map(({ label }) => label);
  return {
    picture: { ...picture, unread },
    fleet: fleetIn(options, world),
    plans: plans.map((planned) => asData(planned, world)),
    steps: options.journal().steps(keys),
    conditions: objects.flatMap((object) => {
      const { status } = object as { status?: { conditions?: HealthCondition[] } };
      const named = `${object.kind ?? ""} ${keyOf(object)}`.trim();
      const now = dateBy(options.clock ?? realClock);
      const conditions = (status?.conditions ?? []).map((each) => ({
        ...each,
        // Cluster API writes no message, and no reason, where a condition is True.
        message: messageInSentences(each.message ?? ""),
        state: stateOfCondition(each, now),
      }));
      return conditions.length > 0 ? [{ object: named, conditions }] : [];
    }),
    events: "why" in events ? [] : events,
    traces: [...new Set(hosts)]
      .filter((host) => !host.startsWith("*"))
      .map((host) => ({ host, traces: tracesOf(world, host) })),
  };
}

/** The objects of a cluster as kubectl shows them. */
export async function clusterObjects(
  { kube }: SourceOptions,
  cluster: string,
): Promise<ObjectText[]> {
  const signal = AbortSignal.timeout(objectsMs);
  const world = await gatherKube({ kube: kube(), signal }, []);
  return objectsOf(cluster, world).map((object) => {
    const { managedFields: _, ...metadata } = object.metadata as typeof object.metadata & {
      managedFields?: unknown;
    };
    return {
      object: `${object.kind ?? ""} ${keyOf(object)}`.trim(),
      yaml: stringify(redactData({ ...object, metadata })),
    };
  });
}

/** What this look has observed counts at once, where the status of a cluster says otherwise. */
function requestContradicted(picture: Picture, { kube }: World, runtime: Runtime | undefined) {
  for (const cluster of contradictedClusters(picture))
    runtime?.request(objectsOf(cluster, kube).map(keyOf));
}

/** Steps and plans are known only where the controllers are at work. */
function elsewhere(runtime: Runtime | undefined): Unread[] {
  if (runtime?.leading) return [];
  const leader = runtime?.lease?.holder;
  // That nobody leads is said once, by the health of every cluster.
  if (!leader) return [];
  return [{ what: "steps and plans", why: `This replica is not the leader; ${leader} is.` }];
}

/** Which zones may hold names of a cluster. Opening all zones of all clusters would be two lists for each. */
function zonesOf(cluster: string, kube: KubeWorld): (zone: string) => boolean {
  const named = new Set(
    objectsOf(cluster, kube)
      .map((object) => (object as { status?: Record<string, unknown> }).status ?? {})
      .flatMap(({ privateDNSZoneID, baseDomainDNSZoneID }) => [
        privateDNSZoneID,
        baseDomainDNSZoneID,
      ])
      .flatMap((id) => (typeof id === "string" ? [idKey(id)] : [])),
  );
  const azure = kube.azureClusters.find((each) => keyOf(each) === cluster);
  const group = azure && (azure.spec.resourceGroup ?? azure.metadata.name).toLowerCase();
  return (zone) =>
    named.has(idKey(zone)) ||
    (azure !== undefined &&
      (lastSegment(zone).split(".")[0] === azure.metadata.name ||
        idKey(zone).includes(`/resourcegroups/${group}/`)));
}

const plansMs = 20_000;
const objectsMs = 20_000;

/** What the controllers of this process would do next with these objects. */
async function plansOf(
  { runtime, clock = realClock }: SourceOptions,
  keys: ReadonlySet<string>,
): Promise<Planned[]> {
  const running = runtime();
  if (!running?.leading) return [];
  const signal = AbortSignal.timeout(plansMs);
  const all = running.controllers.flatMap(({ feature }) =>
    [...keys].flatMap((key) => {
      const object = running.caches.of(feature.kind).get(key);
      return object ? [{ feature, object }] : [];
    }),
  );
  return Promise.all(
    all.map(({ feature, object }) =>
      planOne(feature, object, { clock, log: silentLog, signal, policy: running.policy }),
    ),
  );
}

function asData(planned: Planned, world: World): ClusterPage["plans"][number] {
  const about = { controller: planned.feature, kind: planned.kind.kind, object: planned.key };
  if ("failure" in planned)
    return { ...about, steps: [], withheld: [], failure: planned.failure.message };
  const asLine = (step: Step) => ({
    do: step.do,
    name: step.name,
    why: step.why,
    changes: changesOf(step, world),
  });
  const { steps, withheld = [] } = planned.plan;
  return { ...about, steps: steps.map(asLine), withheld: withheld.map(asLine) };
}

interface EventObject extends KubeObject {
  eventTime?: string;
  deprecatedLastTimestamp?: string;
  type?: string;
  reason?: string;
  note?: string;
  regarding?: { kind?: string; name?: string; namespace?: string; uid?: string };
}

const mostEvents = 200;
const eventsMs = 20_000;

/** What a replica may not read is said on the page, and the rest of it is there all the same. */
async function unlessForbidden<T>(read: Promise<T[]>): Promise<T[] | { why: string }> {
  try {
    return await read;
  } catch (error) {
    if (!(error instanceof KubeError) || error.status !== 403) throw error;
    return { why: error.explain().message };
  }
}

async function eventsOf(kube: KubeClient, objects: readonly KubeObject[]): Promise<EventLine[]> {
  const uids = new Set(objects.map(({ metadata }) => metadata.uid));
  const namespaces = new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []));
  const found: EventLine[] = [];
  const signal = AbortSignal.timeout(eventsMs);
  for (const namespace of namespaces)
    for await (const { items } of kube.list<EventObject>(eventKind, { namespace, signal }))
      for (const event of items)
        if (uids.has(event.regarding?.uid))
          found.push({
            at:
              event.eventTime ??
              event.deprecatedLastTimestamp ??
              event.metadata.creationTimestamp ??
              "",
            type: event.type ?? "Normal",
            reason: event.reason ?? "",
            note: event.note ?? "",
            object: `${event.regarding?.kind} ${event.regarding?.name}`,
          });
  return found.sort((a, b) => a.at.localeCompare(b.at)).slice(-mostEvents);
}
