import { apiVersionOf, keyOf } from "@postern/core/kind.ts";
import { type AzureCluster, azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import type { PrivateEndpointSpec } from "@postern/core/kinds/azure-cluster-network.ts";
import type { KubeClient, Place } from "../../../kube/client.ts";
import { KubeError } from "../../../kube/errors.ts";
import { versionIn } from "../../../kube/status.ts";
import { ownFieldsOf } from "../claims/desired.ts";
import { appliedTo, fieldManager, type Stray } from "./applied.ts";
import type { ClusterFacts } from "./facts.ts";

/** The endpoints that are ours in one subnet of a cluster, all of them, and those that must be gone. */
export interface EndpointsWrite {
  subnet: string;
  endpoints: readonly PrivateEndpointSpec[];
  removed: readonly string[];
  /** Whether any of them is not there as it should be. */
  differs: boolean;
  /** What is ours in other subnets and stays there. */
  retained?: readonly Stray[];
}

/** Which object is written; with the uid never another of the same name. */
export type Target = Pick<ClusterFacts, "namespace" | "name" | "uid">;

/** How often what others write too is read again. */
const mostTries = 4;

/**
 * Apply our endpoints and nothing else, so that nothing of another's is ever sent back. What is to go is taken out before,
 * by its place in the version that was read: an apply that leaves it out would leave what the operator before us wrote,
 * and of a list whose last entry it takes away the API server makes a null, which it then refuses.
 */
export async function writeEndpoints(
  kube: KubeClient,
  target: Target,
  write: EndpointsWrite,
  signal: AbortSignal,
): Promise<string> {
  const { namespace, name, uid } = target;
  const place: Place = { kind: azureCluster, namespace, name };
  const { version, remaining } = await removeEndpoints(kube, place, target, write, signal);
  if (!write.differs) return version;
  const body = {
    apiVersion: apiVersionOf(azureCluster),
    kind: azureCluster.kind,
    metadata: { namespace, name, uid },
    spec: {
      networkSpec: { subnets: subnetsIn(write, remaining) },
    },
  };
  return versionIn(await kube.patch(place, "apply", body, { fieldManager, force: true, signal }));
}

/** All that we have applied and that stays, by subnet: what an apply leaves out goes. */
function subnetsIn(
  { subnet, endpoints, retained = [] }: EndpointsWrite,
  remaining: readonly PrivateEndpointSpec[],
): object[] {
  const others = Map.groupBy(retained, (each) => each.subnet);
  return [
    { name: subnet, privateEndpoints: [...endpoints, ...remaining.map(ownFieldsOf)] },
    ...[...others].map(([name, strays]) => ({
      name,
      privateEndpoints: strays.map(({ endpoint }) => ownFieldsOf(endpoint)),
    })),
  ];
}

interface TakenOut {
  version: string;
  /** What we have applied and nobody decided about: where it leads, no cluster is known. It is left alone. */
  remaining: readonly PrivateEndpointSpec[];
}

async function removeEndpoints(
  kube: KubeClient,
  place: Place,
  { uid }: Target,
  write: EndpointsWrite,
  signal: AbortSignal,
): Promise<TakenOut> {
  for (let tries = 1; ; tries++) {
    const found = await kube.get<AzureCluster>(place, signal);
    const { resourceVersion = "" } = found?.metadata ?? {};
    if (found === undefined || found.metadata.uid !== uid)
      return { version: resourceVersion, remaining: [] };
    const remaining = remainingAfter(found, write);
    const removals = removalsFrom(found, write);
    if (removals.length === 0) return { version: resourceVersion, remaining };
    const version = { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion };
    try {
      const options = { fieldManager, signal };
      const patched = await kube.patch(place, "json", [version, ...removals], options);
      return { version: versionIn(patched), remaining };
    } catch (error) {
      const isConflict = error instanceof KubeError && error.status === 409;
      if (!isConflict || tries === mostTries) throw error;
    }
  }
}

/** What takes out the endpoints that must be gone, the last one first: the others keep their places. */
function removalsFrom(
  found: AzureCluster,
  { subnet, removed, retained = [] }: EndpointsWrite,
): object[] {
  const applied = appliedTo(found);
  return (found.spec.networkSpec?.subnets ?? []).flatMap((each, at) => {
    const path = `/spec/networkSpec/subnets/${at}/privateEndpoints`;
    const isOwned = (name: string) => applied.has(`${each?.name}/${name}`);
    const isRemoved = (name: string) =>
      each?.name === subnet
        ? removed.includes(name)
        : // The nodes have got another subnet: ours move there.
          isOwned(name) &&
          !retained.some((one) => one.subnet === each?.name && one.endpoint.name === name);
    return (each?.privateEndpoints ?? [])
      .flatMap((endpoint, n) => (endpoint && isRemoved(endpoint.name) ? [n] : []))
      .reverse()
      .map((n) => ({ op: "remove", path: `${path}/${n}` }));
  });
}

function remainingAfter(
  found: AzureCluster,
  { subnet, endpoints, removed }: EndpointsWrite,
): PrivateEndpointSpec[] {
  const applied = appliedTo(found);
  const decided = new Set([...endpoints.map(({ name }) => name), ...removed]);
  const there = (found.spec.networkSpec?.subnets ?? []).find((each) => each?.name === subnet);
  return (there?.privateEndpoints ?? []).filter(
    (each) => each && !decided.has(each.name) && applied.has(`${subnet}/${each.name}`),
  );
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

/** Our last writes, for as long as the cache has not heard of them: else a second reconcile would do again what the first did. */
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
    // The API server promises that versions of one kind can be compared as numbers.
    if (Number(cached.metadata.resourceVersion) >= Number(version)) {
      this.#versions.delete(key);
      return cached;
    }
    const { namespace, name, uid } = cached.metadata;
    const found = await this.#kube.get<AzureCluster>(
      { kind: azureCluster, namespace, name },
      signal,
    );
    if (found !== undefined && found.metadata.uid === uid) return found;
    this.#versions.delete(key);
    return cached;
  }
}
