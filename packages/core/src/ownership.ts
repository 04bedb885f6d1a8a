import { checkedTags, type Tags, tagOf } from "./tags.ts";

declare const brand: unique symbol;

/** Who owns a resource, as its owner tag says it. Each source of resources has one function that makes its keys. */
export type OwnerKey = string & { readonly [brand]: "OwnerKey" };

/** The key of an owner: an object within a scope, which is a cluster or a namespace; those differ by more than case. */
export function ownerKey(scope: string, object: string): OwnerKey {
  return `${scope}/${object}` as OwnerKey;
}

/** Whether a resource has this owner. */
export function isOwnedBy(tags: Tags | undefined | null, key: OwnerKey): boolean {
  return isSameOwner(ownerIn(tags), parseOwner(key));
}

/** Whose a resource is: a hosted cluster, and the object there that it was made for. */
export interface Owner {
  clusterID: string;
  uid: string;
}

/** Something that may say of which cluster it is. */
interface OfCluster {
  clusterID?: string | undefined;
}

/**
 * Whether two owners are of one cluster, whatever their objects: the one comparison of cluster ids. Case does not count, because
 * Azure ignores it in the names of tags, which hold cluster ids. Where an id is missing nothing is known to be the same.
 */
export function isSameCluster(one: OfCluster | undefined, other: OfCluster | undefined): boolean {
  if (!one?.clusterID || !other?.clusterID) return false;
  return clusterIDKey(one.clusterID) === clusterIDKey(other.clusterID);
}

/** Whether two owners are the same object of the same cluster. Kubernetes' uids and names differ by case. */
export function isSameOwner(one: Owner | undefined, other: Owner | undefined): boolean {
  return isSameCluster(one, other) && one?.uid === other?.uid;
}

/** A cluster id as the key of a map or an index: equal for one cluster. */
export function clusterIDKey(clusterID: string): string {
  return clusterID.toLowerCase();
}

/** Whether we may change or delete a resource, and whose it is where we may not. */
export type Ownership =
  | { is: "ours" }
  /** `owner` is absent where the tag is ours in name but says nothing that we can read. */
  | { is: "another"; described: string; owner?: Owner }
  /** `hostedCluster` is the one that HyperShift's own tags name: a resource that could be taken over. */
  | { is: "nobody"; hostedCluster?: string };

/** The tag that makes a resource ours: `<clusterID>/<uid of the object>`. */
export const ownerTag = "postern_owner";

/** The tag that says which installation of Postern looks after a resource: uids mean nothing in another management cluster. */
export const installationTag = "postern_installation";

/** HyperShift's tag for what a resource is to the cluster. */
export const resourceTypeTag = "hypershift.openshift.io_resource-type";

const clusterTagPrefix = "kubernetes.io_cluster_";

/** The tags that we write: HyperShift's, so that its tools know the resource, and our owner tag. */
export function ownedTags(
  hostedCluster: string,
  resourceType: string,
  { clusterID, uid }: Owner,
): Tags {
  return checkedTags({
    [`${clusterTagPrefix}${hostedCluster}`]: "owned",
    [resourceTypeTag]: resourceType,
    [ownerTag]: ownerKey(clusterID, uid),
  });
}

/** The owner that the tags of a resource name. */
export function ownerIn(tags: Tags | undefined | null): Owner | undefined {
  return parseOwner(tagOf(tags, ownerTag));
}

/** Parse `<clusterID>/<uid>`, as tags have it. */
export function parseOwner(text: string | undefined): Owner | undefined {
  const [, clusterID, uid] = /^([^/]+)\/([^/]+)$/.exec(text ?? "") ?? [];
  return clusterID === undefined || uid === undefined ? undefined : { clusterID, uid };
}

/** Decide by its tags whether a resource is ours. */
export function ownership(tags: Tags | undefined | null, us: Owner): Ownership {
  const text = tagOf(tags, ownerTag);
  if (text === undefined) {
    const hostedCluster = hostedClusterIn(tags);
    return { is: "nobody", ...(hostedCluster === undefined ? {} : { hostedCluster }) };
  }
  const owner = ownerIn(tags);
  if (owner === undefined)
    return {
      is: "another",
      described: `whoever wrote its tag ${ownerTag}, in a form that is not ours`,
    };
  if (isSameOwner(owner, us)) return { is: "ours" };
  const described = isSameCluster(owner, us)
    ? `object ${owner.uid} of the same cluster`
    : "another cluster";
  return { is: "another", described, owner };
}

/**
 * Whether a resource was left by an object of the same cluster that does not exist any more: somebody took its finalizers
 * off, or it came back from a backup with another uid. Nobody else will ever look after it.
 */
export function isOrphaned(
  tags: Tags | undefined | null,
  us: OfCluster & { uid: string },
  exists: (uid: string) => boolean,
): boolean {
  const owner = ownerIn(tags);
  return (
    owner !== undefined && isSameCluster(owner, us) && owner.uid !== us.uid && !exists(owner.uid)
  );
}

function hostedClusterIn(tags: Tags | undefined | null): string | undefined {
  const names = Object.entries(tags ?? {})
    .filter(([name, value]) => name.toLowerCase().startsWith(clusterTagPrefix) && value === "owned")
    .map(([name]) => name.slice(clusterTagPrefix.length));
  // Two of them name nobody: we cannot tell whose it is.
  return names.length === 1 ? names[0] : undefined;
}
