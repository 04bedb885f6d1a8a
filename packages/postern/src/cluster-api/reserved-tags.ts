import type { Tags } from "@postern/core/tags.ts";

/** Begins every tag that says whose a resource is: Postern's and Cluster API Provider Azure's. */
const reserved = ["postern_", "sigs.k8s.io_cluster-api-provider-azure_"];

/** Tags that a tenant asks for, without those that say whose a resource is. Azure compares their names without case. */
export function withoutReserved(tags: Tags): Tags {
  return Object.fromEntries(
    Object.entries(tags).filter(
      ([name]) => !reserved.some((each) => name.toLowerCase().startsWith(each)),
    ),
  );
}
