import { claimsIn } from "../model/claims.ts";
import { type Owner, ownerIn } from "../model/ownership.ts";
import type { Tags } from "../model/tags.ts";
import type { AzureWorld } from "./world.ts";

/** Something in Azure that carries our tag and belongs to no object of this cluster. */
export interface Orphan {
  id: string;
  what: "record" | "zone link" | "zone" | "endpoint" | "link service";
  owner: Owner;
  /**
   * `known`: its cluster is here, and only the object is gone. `unknown`: no cluster of this id is here; it may be gone, or
   * another management cluster's, so nobody deletes it without naming it.
   */
  cluster: "known" | "unknown";
}

/** What exists in Kubernetes. */
export interface Known {
  /** The uids of all objects that Postern makes things for. */
  uids: ReadonlySet<string>;
  /** `namespace/name` of all clusters of Cluster API: theirs is known by the place, which outlives a move. */
  places: ReadonlySet<string>;
  /** The ids of hosted clusters. */
  clusterIDs: ReadonlySet<string>;
}

/** The orphans, in the order in which Azure lets them be deleted. */
export function orphansIn(azure: AzureWorld, known: Known): Orphan[] {
  const found: Orphan[] = [];
  const add = (what: Orphan["what"], id: string | undefined, tags: Tags | null | undefined) => {
    const owner = loneOwner(tags, known);
    if (id === undefined || owner === undefined) return;
    found.push({
      id,
      what,
      owner,
      cluster: known.clusterIDs.has(owner.clusterID) ? "known" : "unknown",
    });
  };
  for (const { records } of azure.zones)
    for (const { id, properties } of records) add("record", id, properties.metadata);
  for (const { links } of azure.zones) for (const { id, tags } of links) add("zone link", id, tags);
  for (const { zone } of azure.zones) add("zone", zone.id, zone.tags);
  for (const { id, tags } of azure.endpoints) add("endpoint", id, tags);
  for (const { id, tags } of azure.linkServices) add("link service", id, tags);
  return found;
}

/** The owner that is gone. What several clusters use is an orphan only when all of them are gone. */
function loneOwner(tags: Tags | null | undefined, known: Known): Owner | undefined {
  const owner = ownerIn(tags);
  const claims = claimsIn(tags);
  const all = [...(owner ? [owner] : []), ...claims];
  if (all.length === 0 || all.some((each) => exists(each, known))) return undefined;
  return owner ?? claims[0];
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
