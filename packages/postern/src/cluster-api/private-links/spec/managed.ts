import type { AzureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { conditions } from "../../names.ts";
import { hasLinksInSpec } from "../../requested-links.ts";
import { isOurReason } from "../reasons.ts";

/** The two things that can be requested, each of which may be created by Postern or by Cluster API Provider Azure (CAPZ). */
export type Scope = "links" | "endpoints";

/** The condition of each scope. */
export const conditionOfScope = {
  links: conditions.privateLinks,
  endpoints: conditions.privateEndpoints,
} as const;

/** Which scopes Postern manages, whatever else runs: `links`, `endpoints`, both with a comma, or `none`. */
export const managedAnnotation = "postern.io/managed-resources";

/** What to do with endpoints of others when their link service is deleted: `disconnect`, or `refuse`. */
export const foreignEndpointsAnnotation = "postern.io/foreign-endpoints";

/** On every AzureCluster that a CAPZ looks after. */
export const capzFinalizer = "azurecluster.infrastructure.cluster.x-k8s.io";

const all: readonly Scope[] = ["links", "endpoints"];

/**
 * The scopes that Postern manages on an AzureCluster. The first row that fits counts:
 *
 *   on the object                                            Postern's
 *   postern.io/managed-resources                             what it names
 *   the side's condition, with a reason that is not ours     no: whoever writes it makes it
 *   CAPZ's finalizer, and endpoints                          no: every CAPZ makes them
 *   CAPZ's finalizer, and links in the spec                  no: a schema with a place for them comes with a CAPZ that makes them
 *   otherwise                                                yes
 */
export function managedScopes(object: AzureCluster): readonly Scope[] {
  const named = object.metadata.annotations?.[managedAnnotation];
  if (named !== undefined) {
    const words = named.toLowerCase().split(/[\s,]+/);
    return all.filter((scope) => words.includes(scope));
  }
  const capz = object.metadata.finalizers?.includes(capzFinalizer) === true;
  return all.filter((scope) => {
    const present = object.status?.conditions?.find(({ type }) => type === conditionOfScope[scope]);
    if (present !== undefined && !isOurReason(present.reason)) return false;
    return !capz || (scope === "links" && !hasLinksInSpec(object));
  });
}
