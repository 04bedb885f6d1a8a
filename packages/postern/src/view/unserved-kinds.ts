import type { Unread } from "@postern/core/dashboard/picture.ts";
import { definitions } from "@postern/core/definitions.ts";
import type { Kind } from "@postern/core/kind.ts";
import { azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import type { Definition } from "@postern/core/kinds/definition.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { hostedControlPlane } from "@postern/core/kinds/hosted-control-plane.ts";

/** A kind that the API server does not serve, reported as one that could not be read. */
export function unservedKind(missing: Kind): Unread {
  const { kind, group, version, plural } = missing;
  const name = `${plural}.${group}`;
  const own = definitions.find((each) => each.group === group && each.plural === plural);
  return {
    what: name,
    why: `The API server does not serve ${kind} ${group}/${version}.`,
    type: plural,
    isUnserved: true,
    remedy:
      own?.standIn === false
        ? `Install it: kubectl apply -f manifests/crds/${group}_${plural}.yaml`
        : `Install a release of its project that serves ${name} in ${version}.`,
  };
}

/**
 * Which of the kinds that are not served are needed. Hosted clusters and clusters of Cluster API do without the kinds of the
 * other; where neither is served, that of Postern itself is missing in any case.
 */
export function neededKinds(
  unserved: ReadonlySet<Definition>,
  { hasHosted, hasClusterApi }: { hasHosted: boolean; hasClusterApi: boolean },
): Definition[] {
  const isServed = (kind: Definition) => !unserved.has(kind);
  const needs: [Definition, boolean][] = [
    [azurePrivateLinkService, isServed(hostedCluster) || !isServed(azureCluster)],
    [hostedCluster, hasHosted],
    [hostedControlPlane, hasHosted || isServed(hostedCluster)],
    [azureCluster, hasClusterApi],
  ];
  return needs.flatMap(([kind, isNeeded]) => (isNeeded && !isServed(kind) ? [kind] : []));
}
