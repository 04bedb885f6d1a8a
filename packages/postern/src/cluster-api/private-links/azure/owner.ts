import { isOwnedBy, type OwnerKey, ownerTag } from "@postern/core/ownership.ts";
import { type Tags, tagOf } from "@postern/core/tags.ts";
import type { ArmResource } from "../../../azure/gateway.ts";
import { type Part, wait, waits } from "../../../kube/part.ts";
import { capzTagPrefix } from "../../names.ts";
import type { Subject } from "../observed.ts";
import { reasons } from "../reasons.ts";

/** Whose a resource is. */
export type Ownership =
  | { is: "ours" }
  /** CAPZ created it for this cluster. Where Postern manages the scope, it is adopted. */
  | { is: "capz" }
  | { is: "another"; ownership: string };

/** Decide by its tags who owns a resource. */
export function ownership(tags: Tags | undefined | null, us: OwnerKey, cluster: string): Ownership {
  const owner = tagOf(tags, ownerTag);
  if (owner !== undefined) {
    if (isOwnedBy(tags, us)) return { is: "ours" };
    return { is: "another", ownership: `its tag ${ownerTag} names another object` };
  }
  if (tagOf(tags, capzTagPrefix + cluster) === "owned") return { is: "capz" };
  const other = otherCluster(tags);
  return {
    is: "another",
    ownership:
      other === undefined ? "it has no owner tag" : "CAPZ's tag on it names another cluster",
  };
}

/** What keeps a resource that is desired from being changed: somebody else owns it, and its tags were not removed. */
export function checkOwner(
  found: ArmResource,
  desired: { tags: Tags },
  { owner, cluster }: Subject,
  lacksTags: boolean,
  words: { thing: string; remedy: string },
): Part<never> | undefined {
  const is = ownership(found.tags, owner, cluster);
  if (is.is !== "another" || lacksTags) return undefined;
  const tag = Object.entries(desired.tags).at(-1)?.join(": ");
  const message = `${words.thing} is not changed · ${is.ownership} · ${words.remedy} ${tag}`;
  return wait({ reason: reasons.ownedByAnother, message }, waits.changeMs);
}

/** Whether nothing on a resource names its owner. */
export function isUnmarked(tags: Tags | undefined | null): boolean {
  return tagOf(tags, ownerTag) === undefined && otherCluster(tags) === undefined;
}

/** The cluster that CAPZ's tag names. */
export function otherCluster(tags: Tags | undefined | null): string | undefined {
  const found = Object.entries(tags ?? {}).find(
    ([name, value]) => name.toLowerCase().startsWith(capzTagPrefix) && value === "owned",
  );
  return found?.[0].slice(capzTagPrefix.length);
}
