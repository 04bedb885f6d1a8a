import { examine } from "../view/checks/all.ts";
import type { Finding } from "../view/checks/check.ts";
import { gather, gatherKube } from "../view/gather.ts";
import { gatherKnown } from "../view/gather-known.ts";
import { orphansIn } from "../view/orphans.ts";
import { groupsIn } from "../view/places.ts";
import { azureFindings, rightsFindings } from "./doctor-azure.ts";
import { clusterFindings } from "./doctor-cluster.ts";
import type { Session } from "./session.ts";

/** Look for everything: first what stands by itself, then what needs both sides. */
export async function diagnose(session: Session, beforeInstall: boolean): Promise<Finding[]> {
  const { kube, reading: arm, signal, env } = session;
  const [cluster, azure] = await Promise.all([
    clusterFindings(session, beforeInstall),
    azureFindings(session),
  ]);
  const first = [...cluster, ...azure];
  // Without a credential or a cluster every later check would only say so again.
  if (first.some(({ check, verdict }) => verdict === "wrong" && /^(Azure|Kubernetes)/.test(check)))
    return first;
  const subscriptions = env.AZURE_SUBSCRIPTION_ID ? [env.AZURE_SUBSCRIPTION_ID] : [];
  if (beforeInstall) {
    const world = await gatherKube({ kube, signal }, []);
    return [...first, ...(await rightsFindings(session, groupsIn(world)))];
  }
  const world = await gather({ kube, arm, signal, subscriptions });
  const known = await gatherKnown(kube, signal);
  const orphans = orphansIn(world.azure, known).map(
    ({ id, what, elsewhere }): Finding => ({
      check: "orphans",
      about: id,
      verdict: "warning",
      found: `this ${what} carries our tag and belongs to no object here`,
      remedy: elsewhere.length === 0 ? "postern orphans --delete" : "postern orphans",
    }),
  );
  return [
    ...first,
    ...(await rightsFindings(session, groupsIn(world.kube))),
    ...examine(world),
    ...orphans,
  ];
}
