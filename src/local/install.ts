import { collectionPath, type KubeClient, parseBody } from "../kube/client.ts";
import { KubeError } from "../kube/errors.ts";
import { type Clock, wait } from "../model/clock.ts";
import { crdOf } from "../model/crd.ts";
import { definitions } from "../model/definitions.ts";
import type { Definition } from "../model/kinds/definition.ts";

const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const lookAgainMs = 50;

/**
 * Make our kinds known to the API server. One that is known already stays as it is: on a real cluster it may be the
 * original that ours only stands in for.
 */
export async function installKinds(
  client: KubeClient,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(definitions.map((each) => install(client, each, signal)));
  await Promise.all(definitions.map((each) => served(client, each, clock, signal)));
}

async function install(
  client: KubeClient,
  definition: Definition,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.request("POST", path, { body: JSON.stringify(crdOf(definition)), signal });
  } catch (error) {
    if (!(error instanceof KubeError && error.code === "AlreadyExists")) throw error;
  }
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
