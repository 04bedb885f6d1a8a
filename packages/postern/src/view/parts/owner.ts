import type { Node } from "@postern/core/dashboard/picture.ts";
import { keyOf } from "@postern/core/kind.ts";
import { isSameCluster, ownerIn, ownerTag } from "@postern/core/ownership.ts";
import { idKey, sameId } from "@postern/core/resource-id.ts";
import { tagOf } from "@postern/core/tags.ts";
import type { WorldIndex } from "../index-of.ts";

/** Who owns a resource in Azure, by its owner tag: the cluster by name where it is known here, else what the tag says. */
export function ownerOf(index: WorldIndex, node: Node): string | undefined {
  const tags = tagsOf(index, node);
  const tag = tagOf(tags, ownerTag);
  if (tag === undefined) return tags === undefined ? undefined : "no owner tag";
  const owner = ownerIn(tags);
  const cluster = index.world.kube.hostedClusters.find(({ spec }) => isSameCluster(spec, owner));
  return cluster ? keyOf(cluster) : tag;
}

/** The tags of a resource, in DNS the metadata; undefined where it does not exist or was not read. */
function tagsOf(index: WorldIndex, { kind, azureId = "" }: Node) {
  const found = (resource: { tags?: Record<string, string> } | undefined) =>
    resource && (resource.tags ?? {});
  switch (kind) {
    case "load-balancer":
      return found(index.loadBalancer(azureId));
    case "link-service":
      return found(index.linkService(azureId));
    case "endpoint":
      return found(index.endpoint(azureId));
    case "zone":
      return found(index.zone(azureId)?.zone);
    case "record": {
      const [zone = ""] = azureId.split(/\/(?:A|AAAA|CNAME)\/[^/]+$/i);
      const record = index.zone(idKey(zone))?.records.find(({ id = "" }) => sameId(id, azureId));
      return record && (record.properties.metadata ?? {});
    }
    default:
      return undefined;
  }
}
