import { dryRun, type Planned } from "../kube/dry-run.ts";
import { silentLog } from "../kube/log.ts";
import { keyOf } from "../model/kind.ts";
import type { ClusterApiFlags } from "../operator/cluster-api.ts";
import { controllersToLookBy } from "../operator/dry-run.ts";
import { objectsOf } from "../view/cluster-objects.ts";
import { gatherKube } from "../view/gather.ts";
import type { Unread } from "../view/world.ts";
import { chosen } from "./chosen.ts";
import { CommandFailure } from "./command-failure.ts";
import type { Session } from "./session.ts";

/** The flags of the operator that a plan depends on. */
export type PlanFlags = ClusterApiFlags & { natSubnets?: "shared" | "per-cluster" };

/** What every controller would do next; for one cluster where it is named. */
export async function plansOf(
  session: Session,
  flags: PlanFlags,
  name: string | undefined,
): Promise<Planned[]> {
  const { kube, arm, azure, env, local, signal } = session;
  const unread: Unread[] = [];
  const world = await gatherKube({ kube, signal }, unread);
  const only = name === undefined ? undefined : chosen(name, world, unread);
  const features = await controllersToLookBy({
    arm,
    credential: azure.credential,
    kube,
    env,
    signal,
    settings: { natSubnets: "shared", natPrefixLength: 24, ...local?.operator, ...given(flags) },
  });
  const [hidden] = unread;
  if (hidden) throw new CommandFailure(`no plan can be made · ${hidden.what}: ${hidden.why}`);
  const all = await dryRun({ client: kube, features, log: silentLog, signal });
  if (only === undefined) return all;
  const keys = new Set(objectsOf(only, world).map(keyOf));
  return all.filter(({ key }) => keys.has(key));
}

/** Only the flags that say something: the others must not hide what local mode knows. */
function given({
  managementClusterName,
  managementClusterNamespace,
  baseDomain,
  baseDomainResourceGroup,
  natSubnets,
}: PlanFlags): PlanFlags {
  return {
    ...(natSubnets && { natSubnets }),
    ...(managementClusterName && { managementClusterName }),
    ...(managementClusterNamespace && { managementClusterNamespace }),
    ...(baseDomain && { baseDomain }),
    ...(baseDomainResourceGroup && { baseDomainResourceGroup }),
  };
}

/** A plan as data for other programs. */
export function asData(planned: Planned) {
  const { feature, kind, key } = planned;
  const about = { controller: feature, kind: kind.kind, object: key };
  if ("failure" in planned) return { ...about, failure: planned.failure };
  const { steps, conditions, again } = planned.plan;
  return {
    ...about,
    steps: steps.map(({ do: what, why }) => ({ do: what, why })),
    conditions,
    again,
  };
}
