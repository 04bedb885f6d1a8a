import type { Stored } from "../resource.ts";
import type { ListMeta } from "./tables.ts";

/** What a client gets that asks for the metadata alone. */
export function metadataOf({ metadata }: Stored, version: "v1" | "v1beta1") {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata };
}

/** The same of a list. */
export function metadataListOf(
  objects: readonly Stored[],
  metadata: ListMeta,
  version: "v1" | "v1beta1",
) {
  return {
    kind: "PartialObjectMetadataList",
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    items: objects.map((object) => metadataOf(object, version)),
  };
}
