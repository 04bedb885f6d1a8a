import { conditionOf } from "@postern/core/conditions.ts";
import type { Unread } from "@postern/core/dashboard/picture.ts";
import { type KubeObject, keyOf } from "@postern/core/kind.ts";
import { openPolicy } from "@postern/core/tenant-policy.ts";
import { clusterAnnotation, conditions } from "../hosted/names.ts";
import { dryRun, type Planned, type Unplanned } from "../kube/dry-run.ts";
import { silentLog } from "../kube/log.ts";
import { dryRunControllers, type NotPlanned, type Side } from "../operator/dry-run.ts";
import { type PlanFlags, planDefaults } from "../operator/plan-options.ts";
import { readTenantPolicy } from "../operator/tenant-policy.ts";
import { capiClustersIn, objectsOf } from "../view/cluster-objects.ts";
import { gatherKube } from "../view/gather.ts";
import { unservedKind } from "../view/unserved-kinds.ts";
import type { KubeWorld } from "../view/world.ts";
import { CommandFailure } from "./command-failure.ts";
import { findClusterKey } from "./find-cluster-key.ts";
import { hasClusterApi } from "./gather-world.ts";
import { requestReconcile } from "./request-reconcile.ts";
import type { Session } from "./session.ts";

/** What every controller would do next, for all clusters or for the named one. */
export async function plansOf(
  session: Session,
  flags: Partial<PlanFlags>,
  name: string | undefined,
): Promise<{ plans: Planned[]; notPlanned: NotPlanned[] }> {
  const { kube, arm, azure, env, local, signal } = session;
  const unread: Unread[] = [];
  const world = await gatherKube({ kube, signal, hasClusterApi: hasClusterApi(session) }, unread);
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
  await requestReconcile(session, contradictedBy(all, world), world);
  const notPlanned = [...leftOut(without, world, only), ...unservedIn(unplanned)];
  if (only === undefined) return { plans: all, notPlanned };
  const keys = new Set(objectsOf(only, world).map(keyOf));
  return { plans: all.filter(({ key }) => keys.has(key)), notPlanned };
}

/** The clusters of links whose condition is Available although their plan has steps. */
function contradictedBy(plans: readonly Planned[], { links }: KubeWorld): string[] {
  const acting = new Set(
    plans.flatMap((each) => ("plan" in each && each.plan.steps.length > 0 ? each.key : [])),
  );
  const available = links.filter(
    (link) =>
      acting.has(keyOf(link)) &&
      conditionOf(link.status?.conditions, conditions.available)?.status === "True",
  );
  return [
    ...new Set(
      available.flatMap(({ metadata }) => metadata.annotations?.[clusterAnnotation] ?? []),
    ),
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
export function asData({ plans, notPlanned }: Awaited<ReturnType<typeof plansOf>>) {
  return { plans: plans.map(planAsData), notPlanned };
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
