import { KubeError } from "../kube/errors.ts";
import { crdCheck, examine } from "../view/checks/all.ts";
import type { Finding } from "../view/checks/check.ts";
import { gatherKnown } from "../view/gather-known.ts";
import { type Known, orphansIn } from "../view/orphans.ts";
import type { World } from "../view/world.ts";
import { azureFindings, rightsFindings } from "./doctor-azure.ts";
import { clusterFindings } from "./doctor-cluster.ts";
import { providerFindings } from "./doctor-providers.ts";
import { gatherWorld } from "./gather-world.ts";
import { reportContradictions } from "./request-reconcile.ts";
import type { Session } from "./session.ts";

/** Run all checks: first those of Kubernetes and of Azure alone, then those that need both, which may have been read already. */
export async function diagnose(
  session: Session,
  { beforeInstall = false, as }: { beforeInstall?: boolean; as?: string | undefined } = {},
  seen?: World,
): Promise<Finding[]> {
  const [cluster, azure] = await Promise.all([
    clusterFindings(session, beforeInstall),
    azureFindings(session),
  ]);
  const first = [...cluster, ...azure];
  if (first.some(({ blocks }) => blocks)) return first;
  const world = seen ?? (await gatherWorld(session));
  // Before anything is installed no kind is missing.
  const unread = world.unread.filter(({ isUnserved }) => !(beforeInstall && isUnserved));
  const unserved = new Set(unread.flatMap(({ what, isUnserved }) => (isUnserved ? [what] : [])));
  const both = [
    ...first.filter(({ check, about }) => check !== crdCheck || !unserved.has(about)),
    ...(await rightsFindings(session, world.kube, as)),
    ...(await providerFindings(session.reading, world, session.env.AZURE_SUBSCRIPTION_ID)),
    ...examine({ ...world, unread }),
  ];
  if (beforeInstall) return both;
  if (seen === undefined) await reportContradictions(session, world);
  const known = await knownOrWhy(session);
  if ("why" in known)
    return [
      ...both,
      { check: "orphans", about: "Kubernetes API", result: "not checked", found: known.why },
    ];
  const orphans = orphansIn(world, known).map(
    ({ id, what, elsewhere }): Finding => ({
      check: "orphans",
      about: id,
      result: "warning",
      found: `This ${what} has Postern's tag, and its object does not exist in this cluster.`,
      remedy:
        elsewhere.length === 0
          ? "Delete it: postern orphans --delete"
          : "Find out whether another management cluster owns it: postern orphans",
    }),
  );
  return [...both, ...orphans];
}

/** What Azure's resources may belong to, or why that cannot be known: the other findings count all the same. */
async function knownOrWhy({ kube, signal }: Session): Promise<Known | { why: string }> {
  try {
    return await gatherKnown(kube, signal);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return { why: error.explain().message };
  }
}
