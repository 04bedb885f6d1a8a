import type { Kind, KubeObject } from "@postern/core/kind.ts";
import { azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { azurePrivateLinkService } from "@postern/core/kinds/azure-private-link-service.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { KubeError } from "../kube/errors.ts";
import { requestAnnotation } from "../kube/requests.ts";
import { objectsOf } from "../view/cluster-objects.ts";
import { contradictedClusters } from "../view/contradictions.ts";
import { pictureOf } from "../view/picture.ts";
import type { KubeWorld, World } from "../view/world.ts";
import { paint } from "./output.ts";
import type { Session } from "./session.ts";

/** Have the operator reconcile the clusters whose status contradicts what this command has observed. */
export async function reportContradictions(session: Session, world: World): Promise<void> {
  await requestContradicted(session, contradictedClusters(pictureOf(world)), world.kube);
}

/** The same for clusters that are known to be contradicted. What was requested is said. */
export async function requestContradicted(
  session: Pick<Session, "kube" | "signal">,
  clusters: readonly string[],
  world: KubeWorld,
): Promise<void> {
  const requested = await requestReconcile(session, clusters, world);
  if (requested.length === 0) return;
  const line = `The conditions of ${requested.join(", ")} contradict what was observed; the operator was asked to reconcile.`;
  process.stderr.write(`${paint("grey", line)}\n`);
}

/** Annotate the objects of these clusters, so that the operator reconciles them now. Whoever may not do that has no need to. */
export async function requestReconcile(
  { kube, signal }: Pick<Session, "kube" | "signal">,
  clusters: readonly string[],
  world: KubeWorld,
): Promise<string[]> {
  const value = new Date().toISOString();
  const requested: string[] = [];
  for (const cluster of clusters) {
    const asked = await Promise.all(
      reportedObjects(cluster, world).map(async ({ object, kind }) => {
        const { namespace, name } = object.metadata;
        const change = { metadata: { annotations: { [requestAnnotation]: value } } };
        const options = { fieldManager: "postern-cli", signal };
        try {
          await kube.patch({ kind, namespace, name }, "merge", change, options);
          return true;
        } catch (error) {
          if (!(error instanceof KubeError)) throw error;
          return false;
        }
      }),
    );
    if (asked.includes(true)) requested.push(cluster);
  }
  return requested;
}

/** The objects of a cluster that report its state, each with its kind. A HostedControlPlane reports none. */
function reportedObjects(cluster: string, world: KubeWorld): { object: KubeObject; kind: Kind }[] {
  const own = new Set(objectsOf(cluster, world));
  const all: [readonly KubeObject[], Kind][] = [
    [world.hostedClusters, hostedCluster],
    [world.links, azurePrivateLinkService],
    [world.azureClusters, azureCluster],
  ];
  return all.flatMap(([objects, kind]) =>
    objects.filter((object) => own.has(object)).map((object) => ({ object, kind })),
  );
}
