import { randomBytes, randomUUID } from "node:crypto";
import { dateBy } from "@postern/core/clock.ts";
import { alreadyExists, badRequest, forbidden, notFound, Refused } from "../answers.ts";
import { objectIn } from "../body.ts";
import type { Answer, Call, World } from "../call.ts";
import { storageCollection } from "../conversion.ts";
import { isTerminating } from "../definitions.ts";
import { type WriteOptions, writeOptions } from "../options.ts";
import type { Resource, Stored } from "../resource.ts";
import { keyOf } from "../store.ts";
import { complete, type Given } from "./complete.ts";
import { storeObject } from "./store-object.ts";

/** Make an object that is not there yet. */
export function create(call: Call, world: World): Answer {
  const options = writeOptions("CreateOptions", call.query);
  return make(call, world, objectIn(call), options, "object");
}

/** The same with an object that is known already: one that was sent, or applied. */
export function make(
  call: Call,
  world: World,
  given: Stored,
  options: WriteOptions,
  sent: Given["sent"],
): Answer {
  const { resource } = call;
  const object = withMetadata(call, world, given);
  const { name, namespace } = object.metadata;
  if (namespace !== undefined) checkNamespace(world, resource, namespace, name);
  checkDefinition(world, resource, name);
  const done = complete(call, world, { object, old: undefined, options, sent });
  const there = world.store.get(storageCollection(resource), keyOf(object.metadata));
  if (there)
    throw alreadyExists(resource, name, there.object.metadata.deletionTimestamp !== undefined);
  const entry = storeObject(world, resource, done.object, options.dryRun);
  return { code: 201, object: entry, resource, warnings: done.warnings };
}

/** What the API server says of a new object, and no client. */
function withMetadata(call: Call, world: World, given: Stored): Stored {
  const { resource, namespace } = call;
  const sent = given.metadata as Partial<Stored["metadata"]>;
  if (sent.resourceVersion)
    throw new Refused(500, "", "resourceVersion should not be set on objects to be created");
  if (resource.namespaced && sent.namespace && sent.namespace !== namespace)
    throw badRequest(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
  if (call.name !== undefined && sent.name !== undefined && sent.name !== call.name)
    throw badRequest(
      `the name of the object (${sent.name}) does not match the name on the URL (${call.name})`,
    );
  const name = call.name || sent.name || generated(sent.generateName);
  const { deletionTimestamp: _, deletionGracePeriodSeconds: __, namespace: ___, ...kept } = sent;
  const metadata = {
    ...kept,
    name,
    ...(resource.namespaced && namespace !== undefined && { namespace }),
    uid: randomUUID(),
    resourceVersion: "",
    creationTimestamp: timestamp(world),
  };
  return { ...given, metadata };
}

/** No letters that look alike or make words, as Kubernetes has it. */
const letters = "bcdfghjklmnpqrstvwxz2456789";
const mostPrefix = 63 - 5;

function generated(prefix: string | undefined): string {
  if (!prefix) return "";
  const random = Array.from(randomBytes(5), (byte) => letters[byte % letters.length]).join("");
  return `${prefix.slice(0, mostPrefix)}${random}`;
}

/** A time as metadata has it: whole seconds. */
export function timestamp(world: World): string {
  return `${dateBy(world.clock).toISOString().slice(0, 19)}Z`;
}

function checkNamespace(world: World, resource: Resource, namespace: string, name: string): void {
  const about = { group: "", plural: "namespaces" };
  const found = world.store.get("namespaces", namespace);
  if (!found) throw notFound(about, namespace);
  if (found.object.metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw forbidden(resource, name, why, [
    {
      reason: "NamespaceTerminating",
      message: `namespace ${namespace} is being terminated`,
      field: "metadata.namespace",
    },
  ]);
}

function checkDefinition(world: World, resource: Resource, name: string): void {
  if (resource.builtIn || !isTerminating(world, resource)) return;
  throw forbidden(
    resource,
    name,
    "create not allowed while custom resource definition is terminating",
  );
}
