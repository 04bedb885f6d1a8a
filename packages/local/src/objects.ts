import { definitions } from "@postern/core/definitions.ts";
import {
  apiVersionOf,
  type Kind,
  type KubeObject,
  type OwnerReference,
} from "@postern/core/kind.ts";
import { collectionPath, type KubeClient, parseBody, pathOf } from "postern/kube/client.ts";
import { KubeError } from "postern/kube/errors.ts";
import { localLabel } from "./own-objects.ts";
import type { ScenarioObject } from "./scenario.ts";
import { scenarioError } from "./scenario-node.ts";

/**
 * Make the objects of a scenario, in their order. One that exists already stays as it is. What the API server refuses is told
 * with the place in the file.
 */
export async function makeObjects(
  client: KubeClient,
  objects: readonly ScenarioObject[],
  signal: AbortSignal,
): Promise<void> {
  const kinds = kindsOf(client, signal);
  for (const { object, at } of objects) {
    try {
      await make(client, kinds, object as unknown as Thing, signal);
    } catch (error) {
      if (!(error instanceof KubeError) || error.status === 0) throw error;
      throw scenarioError(at, `the API server rejected this ${object.kind}: ${error.message}`);
    }
  }
}

type Thing = KubeObject & { apiVersion: string; kind: string; status?: unknown };
type FindKind = (apiVersion: string, kind: string) => Promise<Kind>;

async function make(
  client: KubeClient,
  kinds: FindKind,
  object: Thing,
  signal: AbortSignal,
): Promise<void> {
  const kind = await kinds(object.apiVersion, object.kind);
  const { namespace, name, ownerReferences } = object.metadata;
  const owners = ownerReferences && (await withUids(client, kinds, ownerReferences, namespace));
  const labels = { ...object.metadata.labels, [localLabel]: "true" };
  const metadata = { ...object.metadata, labels, ...(owners && { ownerReferences: owners }) };
  const { status, ...rest } = object;
  const body = JSON.stringify({ ...rest, metadata });
  try {
    // A field that nobody knows is a mistake of whoever wrote the scenario, and is told with its line.
    const path = `${collectionPath(kind, namespace)}?fieldValidation=Strict`;
    await client.request("POST", path, { body, signal });
  } catch (error) {
    if (error instanceof KubeError && error.code === "AlreadyExists") return;
    throw error;
  }
  if (status === undefined) return;
  await client.patch({ kind, namespace, name }, "merge", { status }, { subresource: "status" });
}

/** Whoever writes a scenario cannot know the uid of an owner. */
function withUids(
  client: KubeClient,
  kinds: FindKind,
  owners: readonly OwnerReference[],
  namespace: string | undefined,
): Promise<OwnerReference[]> {
  return Promise.all(
    owners.map(async (owner) => {
      if (owner.uid !== undefined) return owner;
      const kind = await kinds(owner.apiVersion, owner.kind);
      const place = { kind, name: owner.name, namespace: kind.namespaced ? namespace : undefined };
      const found = parseBody<KubeObject>(await client.request("GET", pathOf(place)));
      return { ...owner, uid: found.metadata.uid ?? "" };
    }),
  );
}

interface Resources {
  resources?: { name: string; kind: string; namespaced: boolean }[];
}

/** Where kinds are served: ours are known, the others are asked for once for each group. */
function kindsOf(client: KubeClient, signal: AbortSignal): FindKind {
  const known = new Map<string, Promise<Resources>>();
  return async (apiVersion, kind) => {
    // The API server serves a new kind some seconds before it lists it.
    const own = definitions.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
    if (own) return own;
    const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    const path = group === "" ? `/api/${version}` : `/apis/${apiVersion}`;
    const asked = known.get(path) ?? client.request("GET", path, { signal }).then(parseBody);
    known.set(path, asked as Promise<Resources>);
    const { resources = [] } = (await asked) as Resources;
    const found = resources.find((each) => each.kind === kind && !each.name.includes("/"));
    if (!found)
      throw new KubeError(
        "NotFound",
        `the API server does not serve the kind ${kind} of ${apiVersion}`,
        {
          status: 404,
        },
      );
    const { name: plural, namespaced } = found;
    return { group: group ?? "", version: version ?? "", kind, plural, namespaced };
  };
}
