import { dateBy } from "@postern/core/clock.ts";
import { conflict, deleted, forbidden } from "../answers.ts";
import type { Answer, Call, World } from "../call.ts";
import { convertTo, storageCollection, type VersionedObject } from "../conversion.ts";
import { isDefinition, terminating } from "../definitions.ts";
import { type DeleteOptions, deleteOptions } from "../options.ts";
import type { Resource, Stored } from "../resource.ts";
import type { Entry } from "../store.ts";
import { timestamp } from "./create.ts";
import { find } from "./get.ts";
import { list } from "./list.ts";
import { storeObject } from "./store-object.ts";

/** The finalizers that the garbage collector takes away when it has done its part. */
export const orphanFinalizer = "orphan";
export const foregroundFinalizer = "foregroundDeletion";

/** Delete an object: at once, or when its finalizers are removed. */
export function remove(call: Call, world: World): Answer {
  const options = deleteOptions(call.query, call.body);
  const { resource } = call;
  const entry = find(call, world);
  const { gone, seen } = deleteObject(world, resource, entry, options);
  if (!gone || showsDeleted(resource)) return { code: 200, object: seen, resource };
  const { name, uid } = seen.object.metadata;
  return { code: 200, status: deleted(resource, name, uid) };
}

/** Let go of all objects of a list. What comes back is the list as it was. */
export function removeAll(call: Call, world: World): Answer {
  const options = deleteOptions(call.query, call.body);
  const answer = list(call, world);
  if (!("list" in answer)) return answer;
  for (const { object } of answer.list.items) {
    const { name, namespace } = object.metadata;
    const entry = world.store.get(
      storageCollection(call.resource),
      namespace === undefined ? name : `${namespace}/${name}`,
    );
    if (entry) deleteObject(world, call.resource, entry, options);
  }
  return answer;
}

/** Some kinds are shown once more when they are deleted, where others are only said to be gone. */
const shown = new Set(["services", "serviceaccounts", "namespaces"]);

function showsDeleted({ builtIn, plural }: Resource): boolean {
  return builtIn && shown.has(plural);
}

/** What came of a deletion. */
export interface DeleteResult {
  gone: boolean;
  seen: VersionedObject;
}

/** Delete an object, or mark it as one that is to go. */
export function deleteObject(
  world: World,
  resource: Resource,
  entry: Entry,
  options: DeleteOptions,
): DeleteResult {
  const seen = convertTo(resource, entry);
  check(resource, seen.object, options);
  const next = withDeletionTimestamp(world, resource, seen.object, options);
  if (finishedDeletion(resource, next)) {
    const last = options.dryRun
      ? entry
      : world.store.remove(storageCollection(resource), entry.key);
    return { gone: true, seen: last ? convertTo(resource, last) : seen };
  }
  if (next === seen.object) return { gone: false, seen };
  return { gone: false, seen: storeObject(world, resource, next, options.dryRun) };
}

/** Namespaces that the system itself lives in. */
const immortal = new Set(["default", "kube-system", "kube-public"]);

function check(
  resource: Resource,
  { metadata }: Stored,
  { uid, resourceVersion }: DeleteOptions,
): void {
  const { name } = metadata;
  const about = { group: resource.group, plural: resource.kind };
  if (uid !== undefined && uid !== metadata.uid)
    throw conflict(
      about,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    throw conflict(
      about,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  if (isNamespace(resource) && immortal.has(name))
    throw forbidden(resource, name, "this namespace may not be deleted");
}

/** The object with a deletion timestamp; the same object where it has one already. */
function withDeletionTimestamp(
  world: World,
  resource: Resource,
  object: Stored,
  { propagation }: DeleteOptions,
): Stored {
  const before = object.metadata.finalizers ?? [];
  const finalizers = collectors(before, propagation);
  const { deletionTimestamp } = object.metadata;
  if (
    deletionTimestamp !== undefined &&
    finalizers.length === before.length &&
    finalizers.every((each) => before.includes(each))
  )
    return object;
  const { finalizers: _, ...rest } = object.metadata;
  const begun = deletionTimestamp === undefined;
  // These two go when what they hold has gone, and know no other grace.
  const graceful = !isNamespace(resource) && !isDefinition(resource);
  const metadata = {
    ...rest,
    ...(begun && { deletionTimestamp: timestamp(world) }),
    ...(begun && graceful && { deletionGracePeriodSeconds: 0 }),
    ...(begun && graceful && rest.generation !== undefined && { generation: rest.generation + 1 }),
    ...(finalizers.length > 0 && { finalizers }),
  };
  const next = { ...object, metadata };
  if (isNamespace(resource))
    return { ...next, status: { ...(object.status as object), phase: "Terminating" } };
  return isDefinition(resource) ? terminating(next, dateBy(world.clock).getTime()) : next;
}

/** The finalizers with those that a policy asks for, and without those of another. Without a policy they stay. */
function collectors(finalizers: readonly string[], policy: DeleteOptions["propagation"]): string[] {
  if (policy === undefined) return [...finalizers];
  const kept = finalizers.filter(
    (each) => each !== orphanFinalizer && each !== foregroundFinalizer,
  );
  if (policy === "Orphan") return [...kept, orphanFinalizer];
  return policy === "Foreground" ? [...kept, foregroundFinalizer] : kept;
}

/** Whether an object with a deletion timestamp has no finalizers left. */
export function finishedDeletion(resource: Resource, { metadata, spec }: Stored): boolean {
  if (metadata.deletionTimestamp === undefined) return false;
  if ((metadata.finalizers ?? []).length > 0) return false;
  // A namespace has a second list: what lies in it is to go first.
  const held = isNamespace(resource) ? ((spec as { finalizers?: string[] })?.finalizers ?? []) : [];
  return held.length === 0;
}

function isNamespace({ group, plural }: Resource): boolean {
  return group === "" && plural === "namespaces";
}
