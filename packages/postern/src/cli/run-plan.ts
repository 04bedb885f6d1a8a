import { conditionOf } from "@postern/core/conditions.ts";
import type { ClusterSummary, Unread } from "@postern/core/dashboard/picture.ts";
import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { openPolicy } from "@postern/core/tenant-policy.ts";
import { AzureError } from "../azure/errors.ts";
import { clusterAnnotation, conditions } from "../hosted/names.ts";
import { dryRun, type Planned, type Unplanned } from "../kube/dry-run.ts";
import { silentLog } from "../kube/log.ts";
import { dryRunControllers, type NotPlanned, type Side } from "../operator/dry-run.ts";
import { type PlanFlags, planDefaults } from "../operator/plan-options.ts";
import { readTenantPolicy } from "../operator/tenant-policy.ts";
import { capiClustersIn, objectsOf } from "../view/cluster-objects.ts";
import { contradictedClusters } from "../view/contradictions.ts";
import { gatherKube } from "../view/gather.ts";
import { clusterApiReport } from "../view/health/condition-report.ts";
import { pictureOf } from "../view/picture.ts";
import { unservedKind } from "../view/unserved-kinds.ts";
import type { KubeWorld } from "../view/world.ts";
import { CommandFailure } from "./command-failure.ts";
import { findClusterKey } from "./find-cluster-key.ts";
import { gatherWorld, managementOf } from "./gather-world.ts";
import { requestContradicted } from "./request-reconcile.ts";
import type { Session } from "./session.ts";

/** What every controller would do next, for all clusters or for the named one. */
export async function plansOf(
  session: Session,
  flags: Partial<PlanFlags>,
  name: string | undefined,
): Promise<Plans> {
  const { kube, arm, azure, env, local, signal } = session;
  const observedAt = new Date().toISOString();
  const { world, unread, clusters } = await observe(session);
  const only = name === undefined ? undefined : findClusterKey(name, world, unread);
  const { features, without } = await dryRunControllers({
    arm,
    credential: azure.credential,
    kube,
    env,
    signal,
    settings: { ...planDefaults, ...local?.operator, ...flags },
    // The operator of local mode serves one person.
    policy: (await readTenantPolicy(flags.tenantPolicy)) ?? (local && openPolicy),
  });
  // What is not served is named beside the plans of everything else.
  const [hidden] = unread.filter(({ isUnserved }) => !isUnserved);
  if (hidden)
    throw new CommandFailure(
      `the plan cannot be computed, because ${hidden.what} could not be read: ${hidden.why}`,
    );
  const { plans: all, unplanned } = await dryRun({
    client: kube,
    features,
    log: silentLog,
    signal,
    policy: flags.policy,
  });
  const contradicted = [...contradictedClusters({ clusters }), ...contradictedBy(all, world)];
  await requestContradicted(session, [...new Set(contradicted)], world);
  const unhealthy = clusters.filter(
    ({ key, health }) => health !== "Healthy" && (only === undefined || only === key),
  );
  const notPlanned = [...leftOut(without, world, only), ...unservedIn(unplanned)];
  if (only === undefined) return { plans: all, notPlanned, unhealthy, observedAt };
  const keys = new Set(objectsOf(only, world).map(keyOf));
  return { plans: all.filter(({ key }) => keys.has(key)), notPlanned, unhealthy, observedAt };
}

/** What is planned, what is not, and the clusters that are not Healthy. */
export interface Plans {
  plans: Planned[];
  notPlanned: NotPlanned[];
  unhealthy: ClusterSummary[];
  observedAt: string;
}

/** The clusters and their health; where Azure does not answer, there are plans all the same, which say so. */
async function observe(
  session: Session,
): Promise<{ world: KubeWorld; unread: Unread[]; clusters: ClusterSummary[] }> {
  try {
    const world = await gatherWorld(session, { zones: () => false });
    const unread = world.unread.filter(({ scope }) => scope === undefined);
    return { world: world.kube, unread, clusters: pictureOf(world).clusters };
  } catch (error) {
    if (!(error instanceof AzureError)) throw error;
    const { kube, signal } = session;
    const unread: Unread[] = [];
    const world = await gatherKube({ kube, signal, management: managementOf(session) }, unread);
    return { world, unread, clusters: [] };
  }
}

/** The clusters whose conditions are Available although their plan has steps. */
function contradictedBy(plans: readonly Planned[], kube: KubeWorld): string[] {
  const acting = new Set(
    plans.flatMap((each) => ("plan" in each && each.plan.steps.length > 0 ? each.key : [])),
  );
  const available = kube.links.filter(
    (link) =>
      acting.has(keyOf(link)) &&
      conditionOf(link.status?.conditions, conditions.available)?.status === "True",
  );
  const now = new Date();
  const healthy = capiClustersIn(kube).filter(
    (each) => acting.has(keyOf(each)) && clusterApiReport(each, now, true).health === "Healthy",
  );
  return [
    ...available.flatMap(({ metadata }) => metadata.annotations?.[clusterAnnotation] ?? []),
    ...healthy.map(keyOf),
  ];
}

/** The kinds without which features have no plans, each once. */
function unservedIn(unplanned: readonly Unplanned[]): NotPlanned[] {
  const kinds = new Map(unplanned.map(({ kind }) => [kind.kind, kind]));
  return [...kinds.values()].map((kind) => {
    const { why, remedy } = unservedKind(kind);
    return { of: kind.kind, why: `${why} ${remedy}` };
  });
}

/** Which of these have objects, and so are missing from the plans. */
function leftOut(
  without: readonly (NotPlanned & { of: Side })[],
  kube: KubeWorld,
  only: string | undefined,
): NotPlanned[] {
  const objects: Record<Side, readonly KubeObject[]> = {
    "hosted clusters": [...kube.hostedClusters, ...kube.links],
    "Cluster API": capiClustersIn(kube),
  };
  return without.filter(({ of }) =>
    objects[of].some((each) => only === undefined || keyOf(each) === only),
  );
}

/** Plans as data for other programs. */
export function asData({ plans, notPlanned, unhealthy, observedAt }: Plans) {
  const clusters = unhealthy.map(({ key, health, causes: [cause] }) => ({
    cluster: key,
    health,
    ...(cause && { cause }),
  }));
  return { observedAt, plans: plans.map(planAsData), notPlanned, unhealthy: clusters };
}

function planAsData(planned: Planned) {
  const { feature, kind, key } = planned;
  const about = { controller: feature, kind: kind.kind, object: key };
  if ("failure" in planned) return { ...about, failure: planned.failure };
  const { steps, withheld = [], conditions, requeue } = planned.plan;
  const inWords = (all: typeof steps) =>
    all.map(({ do: what, name, why }) => ({ do: what, name, why }));
  return {
    ...about,
    steps: inWords(steps),
    ...(withheld.length > 0 && { withheld: inWords(withheld) }),
    conditions,
    requeue,
    ...(planned.failedReads.length > 0 && {
      unread: planned.failedReads.map(({ reason, message }) => ({ reason, message })),
    }),
  };
}
