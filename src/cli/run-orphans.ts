import type { ArmResource, ResourceGateway } from "../azure/gateway.ts";
import {
  privateDnsZones,
  privateRecordSets,
  virtualNetworkLinks,
} from "../azure/gateways/private-dns.ts";
import { privateEndpoints } from "../azure/gateways/private-endpoints.ts";
import { privateLinkServices } from "../azure/gateways/private-link-services.ts";
import { claimsIn } from "../model/claims.ts";
import { ownerIn } from "../model/ownership.ts";
import { gatherKnown } from "../view/gather-known.ts";
import { type Orphan, orphansIn } from "../view/orphans.ts";
import type { Unread } from "../view/world.ts";
import { finish } from "./finish.ts";
import { look } from "./look.ts";
import type { Session } from "./session.ts";
import { UsageError } from "./usage-error.ts";

/** The orphans that the credential of whoever asks can see. */
export async function findOrphans(
  session: Session,
  subscriptions: readonly string[] = [],
): Promise<{ orphans: Orphan[]; unread: Unread[] }> {
  // Azure first: what is made in between has its object in the second list.
  const world = await look(session, { subscriptions });
  const known = await gatherKnown(session.kube, session.signal);
  return { orphans: orphansIn(world, known), unread: world.unread };
}

/** Those that may go. A zone takes along what is in it: it goes only together with all of that. */
export function chosenOf(orphans: readonly Orphan[], named: readonly string[] = []): Orphan[] {
  const may = orphans.filter((each) => mayGo(each, named));
  const ids = new Set(may.map(({ id }) => id));
  const within = (zone: string) => orphans.filter(({ id }) => id.startsWith(`${zone}/`));
  return may.filter(
    ({ what, id }) => what !== "zone" || within(id).every((each) => ids.has(each.id)),
  );
}

/** What may belong to another management cluster goes only where every cluster of it is named. */
export function mayGo(
  { elsewhere }: Pick<Orphan, "elsewhere">,
  named: readonly string[] = [],
): boolean {
  const known = named.map((each) => each.toLowerCase());
  return elsewhere.every((each) => known.includes(each.toLowerCase()));
}

/**
 * Delete an orphan, and wait until it is gone. It is looked at once more before: whoever took it over meanwhile keeps it.
 */
export async function deleteOrphan(
  { writing: arm, signal }: Session,
  { id, what, owner }: Orphan,
): Promise<void> {
  const gateways: Record<Orphan["what"], () => ResourceGateway<ArmResource>> = {
    record: () => privateRecordSets(arm),
    "zone link": () => virtualNetworkLinks(arm),
    zone: () => privateDnsZones(arm),
    endpoint: () => privateEndpoints(arm),
    "link service": () => privateLinkServices(arm),
  } as Record<Orphan["what"], () => ResourceGateway<ArmResource>>;
  const gateway = gateways[what]();
  const found = await gateway.get(id);
  if (found === undefined) return;
  const { metadata } = found.properties as { metadata?: Record<string, string> };
  const marks = what === "record" ? metadata : found.tags;
  const owners = [ownerIn(marks), ...claimsIn(marks)];
  if (!owners.some((each) => each?.clusterID === owner.clusterID && each.uid === owner.uid))
    throw new UsageError(`${id} is left alone: somebody has taken it over meanwhile`);
  await finish(arm, await gateway.remove(id, { ifMatch: found.etag ?? "*" }), signal);
}
