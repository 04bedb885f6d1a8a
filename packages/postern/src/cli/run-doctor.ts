import { examine } from "../view/checks/all.ts";
import type { Finding } from "../view/checks/check.ts";
import { gatherKnown } from "../view/gather-known.ts";
import { orphansIn } from "../view/orphans.ts";
import type { World } from "../view/world.ts";
import { azureFindings, rightsFindings } from "./doctor-azure.ts";
import { clusterFindings } from "./doctor-cluster.ts";
import { gatherWorld } from "./gather-world.ts";
import type { Session } from "./session.ts";

/** Look for everything: first what stands by itself, then what needs both sides, which may have been seen already. */
export async function diagnose(
  session: Session,
  beforeInstall: boolean,
  seen?: World,
): Promise<Finding[]> {
  const { kube, signal } = session;
  const [cluster, azure] = await Promise.all([
    clusterFindings(session, beforeInstall),
    azureFindings(session),
  ]);
  const first = [...cluster, ...azure];
  if (first.some(({ blocks }) => blocks)) return first;
  const world = seen ?? (await gatherWorld(session));
  const both = [...first, ...(await rightsFindings(session, world.kube)), ...examine(world)];
  if (beforeInstall) return both;
  const known = await gatherKnown(kube, signal);
  const orphans = orphansIn(world, known).map(
    ({ id, what, elsewhere }): Finding => ({
      check: "orphans",
      about: id,
      verdict: "warning",
      found: `this ${what} carries our tag and belongs to no object here`,
      remedy: elsewhere.length === 0 ? "postern orphans --delete" : "postern orphans",
    }),
  );
  return [...both, ...orphans];
}
