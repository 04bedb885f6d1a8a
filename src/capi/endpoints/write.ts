import { type KubeClient, type Place, parseBody } from "../../kube/client.ts";
import { withoutManagedFields } from "../../kube/lines.ts";
import { versionIn } from "../../kube/status.ts";
import { apiVersionOf, keyOf } from "../../model/kind.ts";
import { type AzureCluster, azureCluster } from "../../model/kinds/azure-cluster.ts";
import type { PrivateEndpointSpec } from "../../model/kinds/azure-cluster-network.ts";
import type { ClusterFacts } from "./facts.ts";

/** By this name the API server knows which endpoints are ours. */
const fieldManager = "postern-endpoints";

/** The endpoints that are ours in one subnet of a cluster, all of them, and those that must be gone. */
export interface EndpointsWrite {
  subnet: string;
  endpoints: readonly PrivateEndpointSpec[];
  removed: readonly string[];
}

/** Which object is written; with the uid never another of the same name. */
export type Target = Pick<ClusterFacts, "namespace" | "name" | "uid">;

/**
 * Apply our endpoints and nothing else, so that nothing of another's is ever sent back. What the operator before us wrote is
 * its field, and outlives an apply that leaves it out: it is taken away in the version that the apply has made.
 */
export async function writeEndpoints(
  kube: KubeClient,
  target: Target,
  { subnet, endpoints, removed }: EndpointsWrite,
  signal: AbortSignal,
): Promise<string> {
  const { namespace, name, uid } = target;
  const place: Place = { kind: azureCluster, namespace, name };
  const subnets = [{ name: subnet, privateEndpoints: endpoints }];
  const body = {
    apiVersion: apiVersionOf(azureCluster),
    kind: azureCluster.kind,
    metadata: { namespace, name, uid },
    ...(endpoints.length > 0 && { spec: { networkSpec: { subnets } } }),
  };
  const answer = await kube.patch(place, "apply", body, { fieldManager, force: true, signal });
  const left = removed.length === 0 ? [] : leftOver(answer, subnet, removed);
  if (left.length === 0) return versionIn(answer);
  const version = { op: "replace", path: "/metadata/resourceVersion", value: versionIn(answer) };
  return versionIn(await kube.patch(place, "json", [version, ...left], { fieldManager, signal }));
}

/** What takes the endpoints of these names out of an answer, the last one first: the others keep their places. */
function leftOver(answer: string, subnet: string, names: readonly string[]): object[] {
  const { spec } = parseBody<AzureCluster>(withoutManagedFields(answer));
  const subnets = spec.networkSpec?.subnets ?? [];
  const at = subnets.findIndex((each) => each?.name === subnet);
  const found = subnets[at]?.privateEndpoints ?? [];
  const path = `/spec/networkSpec/subnets/${at}/privateEndpoints`;
  return found
    .flatMap((each, n) => (names.includes(each?.name) ? [n] : []))
    .reverse()
    .map((n) => ({ op: "remove", path: `${path}/${n}` }));
}

/** Set annotations of a cluster; null takes one away. */
export async function writeAnnotations(
  kube: KubeClient,
  { namespace, name, uid }: Target,
  annotations: Readonly<Record<string, string | null>>,
  signal: AbortSignal,
): Promise<string> {
  const place: Place = { kind: azureCluster, namespace, name };
  const body = { metadata: { uid, annotations } };
  return versionIn(await kube.patch(place, "merge", body, { fieldManager, signal }));
}

/** Our last writes, for as long as the cache has not heard of them: else a second pass would do again what the first did. */
export class LastWrites {
  readonly #kube: KubeClient;
  readonly #versions = new Map<string, string>();

  constructor(kube: KubeClient) {
    this.#kube = kube;
  }

  wrote(target: Target, version: string): void {
    this.#versions.set(keyOf({ metadata: target }), version);
  }

  /** The object as it is after our last write. */
  async newest(cached: AzureCluster, signal: AbortSignal): Promise<AzureCluster> {
    const key = keyOf(cached);
    const version = this.#versions.get(key);
    if (version === undefined) return cached;
    this.#versions.delete(key);
    // The API server promises that versions of one kind can be compared as numbers.
    if (Number(cached.metadata.resourceVersion) >= Number(version)) return cached;
    const { namespace, name, uid } = cached.metadata;
    const found = await this.#kube.get<AzureCluster>(
      { kind: azureCluster, namespace, name },
      signal,
    );
    return found?.metadata.uid === uid && found !== undefined ? found : cached;
  }
}
