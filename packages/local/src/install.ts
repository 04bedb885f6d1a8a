import { type Clock, wait } from "@postern/core/clock.ts";
import { crdOf } from "@postern/core/crd.ts";
import { definitions } from "@postern/core/definitions.ts";
import type { KubeObject } from "@postern/core/kind.ts";
import type { Definition } from "@postern/core/kinds/definition.ts";
import { collectionPath, type KubeClient, parseBody } from "postern/kube/client.ts";
import { KubeError } from "postern/kube/errors.ts";

const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const lookAgainMs = 50;

interface Crd extends KubeObject {
  spec: { versions: { name: string; served: boolean }[] };
}

/**
 * Make our kinds known to the API server. On a real cluster one that is known already stays as it is: it may be the
 * original that ours only stands in for. On our own it may be of an earlier version, and is replaced. Gives those that are
 * not served in the version that we know: an original may be older.
 */
export async function installKinds(
  client: KubeClient,
  real: boolean,
  clock: Clock,
  signal: AbortSignal,
): Promise<Definition[]> {
  const held = await Promise.all(definitions.map((each) => install(client, each, real, signal)));
  const isOlder = (definition: Definition, at: number) => {
    const versions = held[at]?.spec.versions ?? [];
    return !versions.some(({ name, served }) => served && name === definition.version);
  };
  const older = definitions.filter(isOlder);
  const known = definitions.filter((each) => !older.includes(each));
  await Promise.all(known.map((each) => served(client, each, clock, signal)));
  return older;
}

/** Gives the definition that counts. */
async function install(
  client: KubeClient,
  definition: Definition,
  real: boolean,
  signal: AbortSignal,
): Promise<Crd> {
  const wanted = crdOf(definition);
  try {
    return parseBody(await client.request("POST", path, { body: JSON.stringify(wanted), signal }));
  } catch (error) {
    if (!(error instanceof KubeError && error.code === "AlreadyExists")) throw error;
  }
  const place = `${path}/${wanted.metadata.name}`;
  const held = parseBody<Crd>(await client.request("GET", place, { signal }));
  if (real) return held;
  const { resourceVersion } = held.metadata;
  const body = JSON.stringify({ ...wanted, metadata: { ...wanted.metadata, resourceVersion } });
  return parseBody(await client.request("PUT", place, { body, signal }));
}

async function served(
  client: KubeClient,
  definition: Definition,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      const query = `${collectionPath(definition, undefined)}?limit=1`;
      parseBody(await client.request("GET", query, { signal }));
      return;
    } catch (error) {
      if (!(error instanceof KubeError && error.status === 404)) throw error;
      await wait(clock, lookAgainMs, signal);
    }
  }
}
