import { claimsIn, lastUserIn } from "@postern/core/claims.ts";
import type { Unread } from "@postern/core/dashboard/picture.ts";
import { clusterIDKey, type Owner, ownerIn } from "@postern/core/ownership.ts";
import { idKey } from "@postern/core/resource-id.ts";
import type { Tags } from "@postern/core/tags.ts";
import type { PrivateRecordSet } from "../azure/gateways/private-dns.ts";
import type { ComputedNames } from "./computed-names.ts";
import type { World, Zone } from "./world.ts";

/** Something in Azure that carries our tag and belongs to no object of this cluster. */
export interface Orphan {
  id: string;
  what: "record" | "zone link" | "zone" | "endpoint" | "link service";
  owner: Owner;
  /**
   * The clusters of it that are not here: they may be gone, or another management cluster's, so nobody deletes it without
   * naming them all. None: its clusters are here, and only the objects are gone.
   */
  elsewhere: string[];
}

/** What exists in Kubernetes. */
export interface Known {
  /** The uids of all objects that Postern makes things for. */
  uids: ReadonlySet<string>;
  /** `namespace/name` of all clusters of Cluster API: theirs is known by the place, which outlives a move. */
  places: ReadonlySet<string>;
  /** The ids of hosted clusters, as `clusterIDKey` has them. */
  clusterIDs: ReadonlySet<string>;
  /** What the status of a link names, as `idKey` has it: it is in use, whatever its tags say. */
  named: ReadonlySet<string>;
  /** The names of what the objects have in Azure, or will have. */
  computed: ComputedNames;
}

/** The orphans, in the order in which Azure lets them be deleted. */
export function orphansIn(
  { azure, unread }: Pick<World, "azure" | "unread">,
  known: Known,
): Orphan[] {
  const found: Orphan[] = [];
  const add = (what: Orphan["what"], id: string | undefined, tags: Tags | null | undefined) => {
    const owners = goneOwners(tags, known);
    const [owner] = owners;
    if (id === undefined || owner === undefined || known.named.has(idKey(id))) return;
    const elsewhere = owners.filter(({ clusterID }) => !isHere(clusterID, known));
    found.push({ id, what, owner, elsewhere: [...new Set(elsewhere.map(clusterOf))] });
  };
  for (const { records } of azure.zones)
    for (const { id, properties } of records) add("record", id, properties.metadata);
  for (const { links } of azure.zones) for (const { id, tags } of links) add("zone link", id, tags);
  const orphaned = new Set(found.map(({ id }) => idKey(id)));
  for (const { zone, records, links } of azure.zones) {
    // Deleting a zone takes along what is in it: it goes only where all of that is without an owner too.
    const within = [...records.filter((record) => !isAzures(record)), ...links];
    // Of one that may not be opened it is not known what is in it.
    if (isPartlyUnread(zone, unread)) continue;
    if (within.every(({ id = "" }) => orphaned.has(idKey(id)))) add("zone", zone.id, zone.tags);
  }
  for (const { id, tags } of azure.endpoints) add("endpoint", id, tags);
  for (const { id, tags } of azure.linkServices) add("link service", id, tags);
  return found;
}

/** All who own or use it, where all of them are gone: what one of several clusters still uses is no orphan. */
export function goneOwners(tags: Tags | null | undefined, known: Known): Owner[] {
  const owner = ownerIn(tags);
  const claims = claimsIn(tags);
  // After a restore the uids are others: a cluster that is here still uses what it claims.
  if (claims.some(({ clusterID }) => isHere(clusterID, known))) return [];
  const last = lastUserIn(tags);
  const all = [...(owner ? [owner] : []), ...claims, ...(last ? [last] : [])];
  return all.some((each) => exists(each, known)) ? [] : all;
}

function isHere(clusterID: string, { clusterIDs }: Known): boolean {
  return clusterIDs.has(clusterIDKey(clusterID));
}

/** Whether the records or the links of a zone could not be listed. */
export function isPartlyUnread({ id = "" }: Zone["zone"], unread: readonly Unread[]): boolean {
  return unread.some(({ scope }) => scope !== undefined && idKey(scope) === idKey(id));
}

/** Azure puts one record into every zone, and those of machines come and go by themselves. */
export function isAzures({ id = "", properties }: PrivateRecordSet): boolean {
  return (
    /\/SOA\//i.test(id) ||
    properties.soaRecord !== undefined ||
    properties.isAutoRegistered === true
  );
}

/** How the cluster of an owner is called: links and endpoints of Cluster API have namespace and name in place of two ids. */
export function clusterOf({ clusterID, uid }: Owner): string {
  return clusterID.includes(".") || isGuid(clusterID) ? clusterID : `${clusterID}/${uid}`;
}

function isGuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

function exists({ clusterID, uid }: Owner, { uids, places }: Known): boolean {
  // Links and endpoints of Cluster API say namespace/name; its names say management.namespace.name/uid.
  const [, ...place] = clusterID.split(".");
  const [namespace = "", ...name] = place;
  return (
    uids.has(uid) ||
    places.has(`${clusterID}/${uid}`.toLowerCase()) ||
    places.has(`${namespace}/${name.join(".")}`.toLowerCase())
  );
}
