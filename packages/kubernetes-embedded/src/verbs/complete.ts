import { dateBy } from "@postern/core/clock.ts";
import { badRequest, invalid } from "../answers.ts";
import { duplicatesIn } from "../body.ts";
import type { Call, World } from "../call.ts";
import { apiVersionOf, convertTo, storageCollection } from "../conversion.ts";
import { definitionProblems, definitionStatus, isDefinition, withNames } from "../definitions.ts";
import { metadataProblems } from "../kinds/metadata.ts";
import type { WriteOptions } from "../options.ts";
import { asGoReads } from "../patch/as-go-reads.ts";
import { recordUpdate } from "../patch/record-update.ts";
import type { Cause, Resource, Stored } from "../resource.ts";
import { prunedMetadata } from "../schema/embedded.ts";
import { same } from "../schema/plain.ts";

/** An object on its way into the store. */
export interface Given {
  object: Stored;
  /** The one that it replaces, as its resource shows it. */
  old: Stored | undefined;
  options: WriteOptions;
  /** How it came. Of what was applied, the managers of its fields are known already. */
  sent: "object" | "patch" | "applied";
}

/** What came of it: the object as it is to be held, and what the client is warned of. */
export interface Completed {
  object: Stored;
  warnings: string[];
}

/** Unknown fields dropped, defaults filled in, everything checked, and who manages which field written down. */
export function complete(call: Call, world: World, given: Given): Completed {
  const { resource, subresource } = call;
  const { old, options } = given;
  const { object: pruned, unknown } = pruneAsRead(resource, given.object);
  const warnings = fieldWarnings(call, given, unknown);
  const now = dateBy(world.clock).getTime();
  const filled = filledIn(resource, pruned);
  const split = withParts(resource, subresource, filled, old);
  const found = problems(resource, split, old);
  // What is wrong with a built-in is told all at once; a custom resource has nothing beyond its schema.
  if (!resource.builtIn || isDefinition(resource)) refuse(resource, split, found);
  // Only what fits its schema can be filled in by its kind; what that adds is managed like the rest. And who sends a
  // status where it does not belong still takes it from those who manage it: so does kube-apiserver.
  const whole = resource.strategy?.fill?.(filled) ?? filled;
  const managed =
    given.sent === "applied" ? whole : withManagers(call, world, whole, old, options, now);
  const recorded = withParts(resource, subresource, managed, old);
  const others = () =>
    world.store.list(storageCollection(resource)).map((entry) => convertTo(resource, entry).object);
  const prepared = resource.strategy?.prepare?.(recorded, old, others) ?? recorded;
  const ready = isDefinition(resource) ? definitionStatus(prepared, old, others(), now) : prepared;
  refuse(resource, ready, resource.strategy?.refused?.(ready, old, others) ?? []);
  refuse(resource, ready, [...found, ...(resource.strategy?.problems?.(ready, old) ?? [])]);
  return { object: withGeneration(resource, ready, old), warnings };
}

/** What the client is warned of, or refused for, beside what is wrong: fields that nobody knows, or that come twice. */
function fieldWarnings(call: Call, { old, options, sent }: Given, unknown: string[]): string[] {
  const { fieldValidation } = options;
  if (fieldValidation === "Ignore") return [];
  const doubled = sent === "object" ? duplicatesIn(call) : [];
  const told = [
    ...doubled.map((path) => `duplicate field "${path}"`),
    ...unknown.map((path) => `unknown field "${path}"`),
  ];
  if (told.length === 0 || fieldValidation === "Warn") return told;
  const { kind, version } = call.resource;
  const why = `strict decoding error: ${told.join(", ")}`;
  if (sent === "patch" && old)
    throw invalid({ group: "", kind: "" }, "", [
      {
        reason: "FieldValueInvalid",
        field: "patch",
        message: `Invalid value: ${JSON.stringify(call.text)}: ${why}`,
      },
    ]);
  throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
}

/** As Go reads it, and without what is unknown. What Go leaves out because it is empty may be unknown, too. */
function pruneAsRead(resource: Resource, given: Stored): { object: Stored; unknown: string[] } {
  const unknown: string[] = [];
  const metadata = prunedMetadata(given.metadata, "metadata", unknown) as Stored["metadata"];
  const object = { ...given, metadata };
  const read = resource.shape.prune(asGoReads(resource, object));
  const others = resource.builtIn ? resource.shape.prune(object).unknown : read.unknown;
  return { object: read.object, unknown: [...unknown, ...others] };
}

function filledIn(resource: Resource, object: Stored): Stored {
  const filled = resource.shape.fill(object);
  return isDefinition(resource) ? withNames(filled) : filled;
}

function problems(resource: Resource, object: Stored, old: Stored | undefined): Cause[] {
  const shaped = resource.shape.problems(object, old);
  if (resource.builtIn) refuseUnreadable(resource, shaped);
  const own = isDefinition(resource) ? definitionProblems(object, old) : undefined;
  return [
    ...kindProblems(resource, object),
    ...metadataProblems(object, old, resource),
    ...(own ?? shaped.filter((each) => counts(resource, each))),
  ];
}

/**
 * What metadata must have is known better, in the words of the API. And the lists of a built-in may hold a key twice, as
 * the addresses of a node do: only an apply has to tell them apart.
 */
function counts({ builtIn }: Resource, { reason, field }: Cause): boolean {
  if (reason === "FieldValueRequired") return !/^metadata\b/.test(field);
  return !(builtIn && reason === "FieldValueDuplicate");
}

/** A built-in is of a type of Go: what does not fit into that is not wrong, it cannot be read. */
function refuseUnreadable({ kind, version }: Resource, causes: readonly Cause[]): void {
  const found = causes.find(
    ({ reason, isUnreadable }) => reason === "FieldValueTypeInvalid" || isUnreadable,
  );
  if (!found) return;
  const why = `${found.field}: ${found.message}`;
  throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
}

function refuse(resource: Resource, object: Stored, causes: Parameters<typeof invalid>[2]): void {
  if (causes.length === 0) return;
  throw invalid({ group: resource.group, kind: object.kind }, object.metadata.name ?? "", causes);
}

/** A patch may say of an object that it is another. */
function kindProblems(resource: Resource, object: Stored): Cause[] {
  const wanted = { apiVersion: apiVersionOf(resource), kind: resource.kind };
  return (["apiVersion", "kind"] as const)
    .filter((field) => object[field] !== wanted[field])
    .map((field) => ({
      reason: "FieldValueInvalid",
      field,
      message: `Invalid value: ${JSON.stringify(object[field])}: must be ${wanted[field]}`,
    }));
}

/** Where status is a subresource, one is written without the other. */
function withParts(
  resource: Resource,
  subresource: string | undefined,
  object: Stored,
  old: Stored | undefined,
): Stored {
  if (subresource === "status" && old) {
    // Nothing but the status, and who manages it; of a built-in its metadata too, as kube-apiserver has it.
    const { managedFields } = object.metadata;
    const { managedFields: _, ...metadata } = (resource.builtIn ? object : old).metadata;
    const { status: __, ...rest } = old;
    return {
      ...rest,
      metadata: { ...metadata, ...(managedFields && { managedFields }) },
      ...(object.status !== undefined && { status: object.status }),
    };
  }
  if (!resource.status || (!old && resource.strategy?.keepsStatus)) return object;
  const { status: _, ...rest } = object;
  return { ...rest, ...(old?.status !== undefined && { status: old.status }) } as Stored;
}

function withManagers(
  call: Call,
  world: World,
  object: Stored,
  old: Stored | undefined,
  options: WriteOptions,
  now: number,
): Stored {
  const { resource, subresource } = call;
  const managedFields = recordUpdate({
    resource,
    others: otherVersions(world, resource),
    before: old,
    after: object,
    manager: options.fieldManager ?? managerOf(call.userAgent),
    subresource,
    now,
  });
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, ...(managedFields && { managedFields }) } };
}

/** Those who do not say who they are go by the name of their program. */
export function managerOf(userAgent: string): string {
  return (userAgent.split("/")[0] ?? "").slice(0, 128);
}

/** The other versions in which a resource is served. */
export function otherVersions(world: World, resource: Resource): Resource[] {
  return world.registry.versionsOf(resource).filter((each) => each !== resource);
}

/** It counts changes of what is wanted: all but metadata, and status where that is a subresource. */
function withGeneration(resource: Resource, object: Stored, old: Stored | undefined): Stored {
  const { generation: _, ...metadata } = object.metadata;
  if (resource.builtIn && !resource.strategy?.counted) return { ...object, metadata };
  const before = old?.metadata.generation ?? 1;
  const changed = old !== undefined && !same(wanted(resource, object), wanted(resource, old));
  return { ...object, metadata: { ...metadata, generation: changed ? before + 1 : before } };
}

function wanted(resource: Resource, object: Stored): unknown {
  const { metadata: _, apiVersion: __, ...rest } = object;
  if (!resource.status) return rest;
  const { status: ___, ...spec } = rest;
  return spec;
}
