import { definitions } from "@postern/core/definitions.ts";
import { apiVersionOf } from "@postern/core/kind.ts";
import { expect } from "vitest";
import type { HostedWorld, Thing } from "./hosted/world.ts";

/** What a restore keeps of the metadata, besides name, namespace, labels and annotations. */
export type Kept = readonly ("finalizers" | "ownerReferences")[];

/** Items of a list do not name their version. */
const versions = new Map(definitions.map((each) => [each.kind, apiVersionOf(each)]));

/** Every object of these kinds, as a backup has it. */
export async function backup(world: HostedWorld, kinds: readonly string[]): Promise<Thing[]> {
  const all: Thing[] = [];
  for (const kind of kinds) all.push(...(await world.list(kind)));
  return all.filter(({ metadata }) => metadata.name !== "kubernetes");
}

/** The objects are lost with etcd: no finalizer is honoured, and Azure keeps everything. */
export async function lose(world: HostedWorld, objects: readonly Thing[]): Promise<void> {
  const find = ({ kind, metadata }: Thing) => world.get(kind, metadata.namespace, metadata.name);
  for (const thing of objects) {
    if ((await find(thing)) === undefined) continue;
    await world.patch(thing, { metadata: { finalizers: null } });
    await world.remove(thing);
  }
  for (const thing of objects) expect(await find(thing)).toBeUndefined();
}

/** Create an object again, as Velero does: another uid, no status. */
export async function restore(world: HostedWorld, thing: Thing, kept: Kept): Promise<Thing> {
  const { kind, status: _status, ...rest } = thing;
  const { name, namespace, labels, annotations, uid } = thing.metadata;
  const metadata = {
    name,
    namespace,
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...Object.fromEntries(kept.map((field) => [field, thing.metadata[field]])),
  };
  const { clusterIP: _one, clusterIPs: _all, ...spec } = thing.spec;
  const apiVersion = thing.apiVersion ?? versions.get(kind) ?? "v1";
  const made = await world.make({ ...rest, apiVersion, kind, metadata, spec } as never);
  expect(made.metadata.uid).not.toBe(uid);
  return { ...made, kind };
}

/**
 * All ids in Azure, without the numbers that Azure and Kubernetes choose for a new object. The load balancer belongs to the
 * cloud provider, which names frontends by the uid of the Service and keeps those of a lost one.
 */
export function idsOf(world: HostedWorld): string[] {
  const guid = /[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}/g;
  return (
    world.azure
      .ids()
      .filter((id) => !id.includes("/loadbalancers/kubernetes-internal"))
      .map((id) => id.replace(guid, "*").replace(/\ba[0-9a-f]{31}\b/g, "*"))
      // Two clusters share a resource group: the second to ask gets the longer name.
      .map((id) => id.replace("private-router-pe-*", "private-router-pe"))
      .toSorted()
  );
}
