import { checkedTags, type Tags, tagOf } from "./tags.ts";

declare const brand: unique symbol;

/** Who owns a resource, as its owner tag says it. Each source of resources has one function that makes its keys. */
export type OwnerKey = string & { readonly [brand]: "OwnerKey" };

/** The key of an owner: an object within a scope, which is a cluster or a namespace. */
export function ownerKey(scope: string, object: string): OwnerKey {
  return `${scope}/${object}` as OwnerKey;
}

/** Whether a resource has this owner. Uids and names of Kubernetes differ by case, so keys do. */
export function isOwnedBy(tags: Tags | undefined | null, key: OwnerKey): boolean {
  return tagOf(tags, ownerTag) === key;
}

/** Whose a resource is: a hosted cluster, and the object there that it was made for. */
export interface Owner {
  clusterID: string;
  uid: string;
}

/** Whether two owners are the same cluster, whatever its objects. Azure ignores the case of tag names, which hold cluster ids. */
export function isSameCluster(
  one: Pick<Owner, "clusterID"> | undefined,
  other: Pick<Owner, "clusterID">,
): boolean {
  return one?.clusterID.toLowerCase() === other.clusterID.toLowerCase();
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
  if (isOwnedBy(tags, ownerKey(us.clusterID, us.uid))) return { is: "ours" };
  const described =
    owner.clusterID === us.clusterID
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
  { clusterID, uid }: { clusterID: string | undefined; uid: string },
  exists: (uid: string) => boolean,
): boolean {
  const owner = ownerIn(tags);
  return (
    owner !== undefined && owner.clusterID === clusterID && owner.uid !== uid && !exists(owner.uid)
  );
}

function hostedClusterIn(tags: Tags | undefined | null): string | undefined {
  const names = Object.entries(tags ?? {})
    .filter(([name, value]) => name.toLowerCase().startsWith(clusterTagPrefix) && value === "owned")
    .map(([name]) => name.slice(clusterTagPrefix.length));
  // Two of them name nobody: we cannot tell whose it is.
  return names.length === 1 ? names[0] : undefined;
}
