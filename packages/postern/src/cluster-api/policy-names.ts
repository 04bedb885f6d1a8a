import { keyOf } from "@postern/core/kind.ts";
import type { AzureClusterIdentity } from "@postern/core/kinds/azure-cluster-identity.ts";

/**
 * The names by which a tenant policy may allow an AzureClusterIdentity: its client id and, where its own Secret proves that,
 * `namespace/name`. The other types are proved by the operator or by Crossplane, and whoever writes the object chooses the
 * client id: `namespace/name` would allow every identity that trusts these.
 */
export function policyNamesOf({ metadata, spec }: AzureClusterIdentity): string[] {
  const { clientID = "", type } = spec;
  const isProvedForIt = type === "WorkloadIdentity" || type === "UserAssignedMSI";
  const names = [...(isProvedForIt ? [] : [keyOf({ metadata })]), clientID.trim()];
  return names.filter((each) => each !== "");
}
