import type { Tags } from "@postern/core/tags.ts";

/** Begins every tag that names the owner of a resource: Postern's and Cluster API Provider Azure's. */
const reserved = ["postern_", "sigs.k8s.io_cluster-api-provider-azure_"];

/** Tags that a tenant requests, without those that name the owner of a resource. Azure compares their names without case. */
export function withoutReserved(tags: Tags): Tags {
  return Object.fromEntries(
    Object.entries(tags).filter(
      ([name]) => !reserved.some((each) => name.toLowerCase().startsWith(each)),
    ),
  );
}
