import { definitions } from "@postern/core/definitions.ts";
import type { KubeObject } from "@postern/core/kind.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import {
  type AzurePrivateLinkService,
  azurePrivateLinkService,
} from "@postern/core/kinds/azure-private-link-service.ts";
import { type HostedCluster, hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { clusterIDKey } from "@postern/core/ownership.ts";
import { idKey } from "@postern/core/resource-id.ts";
import type { KubeClient } from "../kube/client.ts";
import { KubeError } from "../kube/errors.ts";
import { computedNames } from "./computed-names.ts";
import type { Known } from "./orphans.ts";

const metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/**
 * Everything in Kubernetes that something in Azure may belong to. A kind that may not be listed is an error and no empty list:
 * what belongs to one of its objects would look like an orphan.
 */
export async function gatherKnown(kube: KubeClient, signal: AbortSignal): Promise<Known> {
  const uids = new Set<string>();
  const places = new Set<string>();
  const clusterIDs = new Set<string>();
  const named = new Set<string>();
  const unserved: string[] = [];
  const whole = new Map<string, KubeObject[]>([
    [hostedCluster.kind, []],
    [azurePrivateLinkService.kind, []],
    [azureCluster.kind, []],
  ]);
  await Promise.all(
    definitions.map(async (kind) => {
      const objects = whole.get(kind.kind);
      const accept = objects ? "application/json" : metadataOnly;
      try {
        for await (const { items } of kube.list<KubeObject>(kind, { signal, accept }))
          for (const object of items) {
            const { uid = "", namespace = "", name } = object.metadata;
            uids.add(uid);
            objects?.push(object);
            if (/^(AzureCluster|Cluster)$/.test(kind.kind))
              places.add(`${namespace}/${name}`.toLowerCase());
            const { spec, status = {} } = object as {
              spec?: { clusterID?: string };
              status?: Record<string, unknown>;
            };
            if (spec?.clusterID) clusterIDs.add(clusterIDKey(spec.clusterID));
            for (const [field, id] of Object.entries(status))
              if (field.endsWith("ID") && typeof id === "string") named.add(idKey(id));
          }
      } catch (error) {
        if (!(error instanceof KubeError && error.status === 404)) throw error;
        unserved.push(kind.kind);
      }
    }),
  );
  const missing = unserved.filter((kind) =>
    /^(AzurePrivateLinkService|HostedControlPlane)$/.test(kind),
  );
  if (clusterIDs.size > 0 && missing.length > 0)
    throw new KubeError(
      "NotFound",
      `there are hosted clusters, but the API server does not serve ${missing.join(" and ")} · without it every Azure resource would look orphaned · install its CRD first`,
    );
  const computed = computedNames({
    hostedClusters: whole.get(hostedCluster.kind) as HostedCluster[],
    links: whole.get(azurePrivateLinkService.kind) as AzurePrivateLinkService[],
    azureClusters: whole.get(azureCluster.kind) as AzureCluster[],
  });
  return { uids, places, clusterIDs, named, computed };
}
