import type { KubeClient } from "../kube/client.ts";
import { KubeError } from "../kube/errors.ts";
import { definitions } from "../model/definitions.ts";
import type { KubeObject } from "../model/kind.ts";
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
  await Promise.all(
    definitions.map(async (kind) => {
      const hosted = kind.kind === "HostedCluster";
      const accept = hosted ? "application/json" : metadataOnly;
      try {
        for await (const { items } of kube.list<KubeObject>(kind, { signal, accept }))
          for (const object of items) {
            const { uid = "", namespace = "", name } = object.metadata;
            uids.add(uid);
            if (/^(AzureCluster|Cluster)$/.test(kind.kind))
              places.add(`${namespace}/${name}`.toLowerCase());
            const { spec } = object as { spec?: { clusterID?: string } };
            if (spec?.clusterID) clusterIDs.add(spec.clusterID);
          }
      } catch (error) {
        if (!(error instanceof KubeError && error.status === 404)) throw error;
      }
    }),
  );
  return { uids, places, clusterIDs };
}
