import { badRequest, conflict, invalid, modified } from "../answers.ts";
import { objectIn } from "../body.ts";
import type { Answer, Call, World } from "../call.ts";
import { convertTo, storageCollection } from "../conversion.ts";
import { type WriteOptions, writeOptions } from "../options.ts";
import type { ManagedFields, Resource, Stored } from "../resource.ts";
import { same } from "../schema/plain.ts";
import type { Entry } from "../store.ts";
import { complete, type Given } from "./complete.ts";
import { finishedDeletion } from "./delete.ts";
import { find } from "./get.ts";
import { storageForm, storeObject } from "./store-object.ts";

/** Put another object in the place of one. */
export function update(call: Call, world: World): Answer {
  const options = writeOptions("UpdateOptions", call.query);
  const given = objectIn(call);
  const { name, namespace } = given.metadata as Partial<Stored["metadata"]>;
  if (namespace && namespace !== (call.namespace ?? ""))
    throw badRequest(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
  if (!name) throw badRequest("name must be provided");
  if (name !== call.name)
    throw badRequest(
      `the name of the object (${name}) does not match the name on the URL (${call.name})`,
    );
  const entry = find(call, world);
  if (!given.metadata.resourceVersion && mustNameVersion(call.resource))
    throw invalid({ group: call.resource.group, kind: call.resource.plural }, name, [
      {
        reason: "FieldValueInvalid",
        field: "metadata.resourceVersion",
        message: "Invalid value: 0: must be specified for an update",
      },
    ]);
  return replace(call, world, entry, given, options, "object");
}

/** The built-ins that are never replaced unseen. Custom resources are not either. */
const neverUnseen = new Set(["leases", "customresourcedefinitions", "endpointslices"]);

function mustNameVersion({ builtIn, plural }: Resource): boolean {
  return !builtIn || neverUnseen.has(plural);
}

/** The same with an object that is known already: one that was sent, patched, or applied. */
export function replace(
  call: Call,
  world: World,
  entry: Entry,
  given: Stored,
  options: WriteOptions,
  sent: Given["sent"],
): Answer {
  const { resource } = call;
  const old = convertTo(resource, entry).object;
  check(resource, given, old, sent);
  const object = withMetadata(given, old);
  const { object: next, warnings } = complete(call, world, { object, old, options, sent });
  const answer = (seen: Pick<Entry, "object" | "text">): Answer => ({
    code: 200,
    object: seen,
    resource,
    warnings,
  });
  if (unchanged(next, old)) return answer(convertTo(resource, entry));
  if (!options.dryRun && finishedDeletion(resource, next)) {
    const { stored } = storageForm(world, resource, next);
    world.store.remove(storageCollection(resource), entry.key, stored);
    return answer({ object: next, text: JSON.stringify(next) });
  }
  return answer(storeObject(world, resource, next, options.dryRun));
}

function check(resource: Resource, given: Stored, { metadata }: Stored, sent: Given["sent"]): void {
  const { resourceVersion, uid } = given.metadata as Partial<Stored["metadata"]>;
  const { name } = metadata;
  // A patch that changes it is wrong in itself, which is found out later.
  if (sent === "object" && uid && uid !== metadata.uid)
    throw conflict(
      resource,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`,
    );
  if (resourceVersion && resourceVersion !== "0" && resourceVersion !== metadata.resourceVersion)
    throw modified(resource, name);
}

/** What no client changes. */
function withMetadata(given: Stored, { metadata: old }: Stored): Stored {
  const { generation: _, ...sent } = given.metadata;
  return {
    ...given,
    metadata: {
      ...sent,
      name: old.name,
      ...(old.namespace !== undefined && { namespace: old.namespace }),
      ...(old.generateName !== undefined &&
        sent.generateName === undefined && { generateName: old.generateName }),
      uid: sent.uid || old.uid,
      resourceVersion: old.resourceVersion,
      creationTimestamp: old.creationTimestamp,
      ...(!sent.deletionTimestamp &&
        old.deletionTimestamp !== undefined && { deletionTimestamp: old.deletionTimestamp }),
      ...(sent.deletionGracePeriodSeconds === undefined &&
        old.deletionGracePeriodSeconds !== undefined && {
          deletionGracePeriodSeconds: old.deletionGracePeriodSeconds,
        }),
    },
  };
}

/** Whether nothing is new but the times at which managers wrote; then nothing is written. */
function unchanged(next: Stored, old: Stored): boolean {
  return same(withoutTimes(next), withoutTimes(old));
}

function withoutTimes(object: Stored): unknown {
  const { managedFields = [], ...metadata } = object.metadata;
  const managers = managedFields.map(({ time: _, ...rest }: ManagedFields) => rest);
  return { ...object, metadata: { ...metadata, managers } };
}
