import { claimsIn, lastUserIn } from "@postern/core/claims.ts";
import type { Unread } from "@postern/core/dashboard/picture.ts";
import { isSameOwner, ownerIn } from "@postern/core/ownership.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { idKey } from "@postern/core/resource-id.ts";
import type { ArmClient } from "../azure/arm.ts";
import type { ArmResource, ResourceGateway } from "../azure/gateway.ts";
import {
  privateDnsZones,
  privateRecordSets,
  virtualNetworkLinks,
} from "../azure/gateways/private-dns.ts";
import { privateEndpoints } from "../azure/gateways/private-endpoints.ts";
import { privateLinkServices } from "../azure/gateways/private-link-services.ts";
import { subnets } from "../azure/gateways/subnets.ts";
import { gatherKnown } from "../view/gather-known.ts";
import { clusterOf, type Orphan, orphansIn } from "../view/orphans.ts";
import { hasOwnerTag, type NamedOrphan, orphansByName } from "../view/orphans-by-name.ts";
import { finish } from "./finish.ts";
import { gatherWorld } from "./gather-world.ts";
import type { Session } from "./session.ts";

/** The orphans that the credential of this command can read. */
export async function findOrphans(
  session: Session,
  subscriptions: readonly string[] = [],
): Promise<{ orphans: Orphan[]; byName: NamedOrphan[]; unread: Unread[] }> {
  // Azure first: what is created meanwhile has its object in the second list.
  const world = await gatherWorld(session, { subscriptions });
  const known = await gatherKnown(session.kube, session.signal);
  return {
    orphans: orphansIn(world, known),
    byName: orphansByName(world, known),
    unread: world.unread,
  };
}

/** Those of the named clusters. What was found by name belongs to the cluster whose id is in its name, if any. */
export function ofClusters<T extends { orphans: Orphan[]; byName: NamedOrphan[] }>(
  found: T,
  clusters: readonly string[] | undefined,
): T {
  if (clusters === undefined) return found;
  const wanted = clusters.map((each) => each.toLowerCase());
  const isWanted = ({ owner, elsewhere }: Orphan) =>
    [owner.clusterID, clusterOf(owner), ...elsewhere].some((each) =>
      wanted.includes(each.toLowerCase()),
    );
  return {
    ...found,
    orphans: found.orphans.filter(isWanted),
    byName: found.byName.filter(({ id }) => wanted.some((each) => idKey(id).includes(each))),
  };
}

/** Those that may be deleted. A zone is deleted with its contents, so only if all of them may be deleted. */
export function deletableOrphans(
  orphans: readonly Orphan[],
  named: readonly string[] = [],
): Orphan[] {
  const may = orphans.filter((each) => mayDelete(each, named));
  const ids = new Set(may.map(({ id }) => id));
  const within = (zone: string) => orphans.filter(({ id }) => id.startsWith(`${zone}/`));
  return may.filter(
    ({ what, id }) => what !== "zone" || within(id).every((each) => ids.has(each.id)),
  );
}

/** What may belong to another management cluster is deleted only where every cluster of it is named. */
export function mayDelete(
  { elsewhere }: Pick<Orphan, "elsewhere">,
  named: readonly string[] = [],
): boolean {
  const known = named.map((each) => each.toLowerCase());
  return elsewhere.every((each) => known.includes(each.toLowerCase()));
}

/**
 * Those of the orphans found by name that were named for deletion. A zone is deleted with everything in it, so everything in it
 * that is listed must be deleted too.
 */
export function deletableByName(
  { orphans, byName }: { orphans: readonly Orphan[]; byName: readonly NamedOrphan[] },
  selected: readonly Orphan[],
  resources: readonly string[] = [],
): NamedOrphan[] {
  const named = new Set(resources.map(idKey));
  const unknown = resources.filter((id) => !byName.some((each) => idKey(each.id) === idKey(id)));
  if (unknown.length > 0)
    throw new UsageError(
      `--resource ${unknown.join(" ")} is not among the orphans found by name: list them with postern orphans`,
    );
  const may = byName.filter(({ id }) => named.has(idKey(id)));
  const deleted = new Set([...selected, ...may].map(({ id }) => idKey(id)));
  const isEmptied = (zone: string) =>
    [...orphans, ...byName].every(
      ({ id }) => !idKey(id).startsWith(`${idKey(zone)}/`) || deleted.has(idKey(id)),
    );
  return may.filter(({ what, id }) => what !== "zone" || isEmptied(id));
}

type Gateways = Record<
  Orphan["what"] | NamedOrphan["what"],
  (arm: ArmClient) => ResourceGateway<ArmResource>
>;

const gateways = {
  record: privateRecordSets,
  "zone link": virtualNetworkLinks,
  zone: privateDnsZones,
  endpoint: privateEndpoints,
  "link service": privateLinkServices,
  "NAT subnet": subnets,
} as unknown as Gateways;

/** Delete an orphan, and wait until it is deleted. It is read once more before: if it has a new owner it is not deleted. */
export async function deleteOrphan(session: Session, { id, what, owner }: Orphan): Promise<void> {
  await remove(session, { id, what }, (found) => {
    const { metadata } = found.properties as { metadata?: Record<string, string> };
    const tags = what === "record" ? metadata : found.tags;
    const owners = [ownerIn(tags), lastUserIn(tags), ...claimsIn(tags)];
    return owners.some((each) => isSameOwner(each, owner));
  });
}

/** Delete an orphan that was found by name, and wait until it is deleted. If it has an owner or is in use by now it is not. */
export async function deleteByName(session: Session, orphan: NamedOrphan): Promise<void> {
  await remove(session, orphan, ({ tags, properties }) => {
    const { ipConfigurations = [] } = properties as { ipConfigurations?: unknown[] };
    const isUsed = orphan.what === "NAT subnet" && ipConfigurations.length > 0;
    return !hasOwnerTag(tags) && !isUsed;
  });
}

async function remove(
  { writing: arm, signal }: Session,
  { id, what }: Pick<Orphan | NamedOrphan, "id" | "what">,
  isOrphan: (found: ArmResource) => boolean,
): Promise<void> {
  const gateway = gateways[what](arm);
  const found = await gateway.get(id);
  if (found === undefined) return;
  if (!isOrphan(found))
    throw new UsageError(`${id} was not deleted: it has an owner or is in use again`);
  await finish(arm, await gateway.remove(id, { ifMatch: found.etag ?? "*" }), signal);
}
