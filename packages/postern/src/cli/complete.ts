import { keyOf } from "@postern/core/kind.ts";
import { azureCluster } from "@postern/core/kinds/azure-cluster.ts";
import { namespace } from "@postern/core/kinds/core.ts";
import { hostedCluster } from "@postern/core/kinds/hosted-cluster.ts";
import { print } from "@postern/core/process/output.ts";
import { KubeClient } from "../kube/client.ts";
import { findConnection } from "../kube/credentials.ts";

/** A person who presses Tab does not wait longer. */
const longestMs = 2_000;

/** `postern __complete`, which the scripts of shells call: the names in the cluster, one a line; none where it does not answer. */
export async function complete([what]: readonly string[]): Promise<void> {
  const names = await namesOf(what).catch(() => []);
  print(offered(names).join("\n"));
}

/** The names in order, without those that mean something to a shell: the API server chooses them, and the shell types them. */
export function offered(names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => /^[a-z0-9][a-z0-9./-]*$/.test(name)).sort();
}

async function namesOf(what: string | undefined): Promise<string[]> {
  const signal = AbortSignal.timeout(longestMs);
  const client = new KubeClient(await findConnection({}, process.env));
  try {
    if (what === "namespaces")
      return (await listed(client, namespace, signal)).map(({ metadata }) => metadata.name);
    if (what !== "clusters") return [];
    const kinds = [hostedCluster, azureCluster];
    const found = await Promise.all(
      kinds.map((kind) => listed(client, kind, signal).catch(() => [])),
    );
    return found.flat().flatMap((each) => [keyOf(each), each.metadata.name]);
  } finally {
    client.close();
  }
}

async function listed(
  client: KubeClient,
  kind: typeof hostedCluster | typeof azureCluster | typeof namespace,
  signal: AbortSignal,
) {
  const accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
  const found: { metadata: { name: string; namespace?: string } }[] = [];
  for await (const { items } of client.list(kind, { signal, accept })) found.push(...items);
  return found;
}
