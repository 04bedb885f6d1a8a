import { type Owner, ownerIn, ownerTag } from "../../model/ownership.ts";
import { type Tags, tagOf } from "../../model/tags.ts";
import { capzTagPrefix } from "./place.ts";

/** Whose a resource is. */
export type Whose =
  | { is: "ours" }
  /** CAPZ made it for this very cluster. Where it is Postern's turn to look after it, it is taken over. */
  | { is: "capz" }
  | { is: "another"; whose: string };

/** Decide by its tags whose a resource is. */
export function whose(tags: Tags | undefined | null, us: Owner, cluster: string): Whose {
  const owner = tagOf(tags, ownerTag);
  if (owner !== undefined) {
    if (isOurs(tags, us)) return { is: "ours" };
    return { is: "another", whose: `its tag ${ownerTag} is that of another object` };
  }
  if (tagOf(tags, capzTagPrefix + cluster) === "owned") return { is: "capz" };
  const other = otherCluster(tags);
  return {
    is: "another",
    whose:
      other === undefined ? "nobody put an owner on it" : "CAPZ's tag on it names another cluster",
  };
}

/** Whether nothing on a resource says whose it is. */
export function isUnmarked(tags: Tags | undefined | null): boolean {
  return tagOf(tags, ownerTag) === undefined && otherCluster(tags) === undefined;
}

/** Whether our own mark is on a resource. Only such are ever deleted. */
export function isOurs(tags: Tags | undefined | null, us: Owner): boolean {
  const owner = ownerIn(tags);
  return owner?.clusterID === us.clusterID && owner.uid === us.uid;
}

/** The cluster that CAPZ's tag names. */
export function otherCluster(tags: Tags | undefined | null): string | undefined {
  const found = Object.entries(tags ?? {}).find(
    ([name, value]) => name.toLowerCase().startsWith(capzTagPrefix) && value === "owned",
  );
  return found?.[0].slice(capzTagPrefix.length);
}
