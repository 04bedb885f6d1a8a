import { dateBy } from "@postern/core/clock.ts";
import { badRequest, invalid, notFound, Refused, unsupportedMediaType } from "../answers.ts";
import { unfitMetadata } from "../body.ts";
import type { Answer, Call, World } from "../call.ts";
import { convertTo, storageCollection } from "../conversion.ts";
import { type WriteOptions, writeOptions } from "../options.ts";
import { jsonPatch } from "../patch/json-patch.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import type { Patched } from "../patch/refusal.ts";
import { serverSideApply } from "../patch/server-side-apply.ts";
import { strategicMerge } from "../patch/strategic-merge.ts";
import type { Resource, Stored } from "../resource.ts";
import { otherVersions } from "./complete.ts";
import { make } from "./create.ts";
import { find } from "./get.ts";
import { replace } from "./update.ts";

const forms = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

/** Change an object by what is said of it; by an apply, make one that is not there. */
export function patch(call: Call, world: World): Answer {
  const { resource, contentType, body } = call;
  const known = formsOf(resource);
  if (!known.includes(contentType)) throw unsupportedMediaType(known);
  const options = writeOptions("PatchOptions", call.query, contentType === forms.apply);
  if (body instanceof Error) throw badRequest(`error decoding patch: ${body.message}`);
  if (contentType === forms.apply) return apply(call, world, options);
  const entry = find(call, world);
  const old = convertTo(resource, entry).object;
  const patched = carriedOut(resource, contentType, old, body);
  const unfit = unfitMetadata(patched.metadata ?? {});
  if (unfit !== undefined) throw unfitPatch(call, unfit);
  return replace(call, world, entry, named(call, patched), options, "patch");
}

function unfitPatch({ text }: Call, why: string): Refused {
  const message = `Invalid value: ${JSON.stringify(text)}: ${why}`;
  return invalid({ group: "", kind: "" }, "", [
    { reason: "FieldValueInvalid", field: "patch", message },
  ]);
}

/** Custom resources have no strategic merge patches. */
function formsOf({ builtIn }: Resource): string[] {
  const { json, merge, strategic, apply } = forms;
  return builtIn ? [json, merge, strategic, apply] : [json, merge, apply];
}

function carriedOut(resource: Resource, form: string, old: Stored, body: unknown): Stored {
  switch (form) {
    case forms.json:
      return outcome(jsonPatch(old, body));
    case forms.strategic:
      return outcome(strategicMerge(resource.schema, old, body));
    default:
      return outcome(mergePatch(old, body));
  }
}

function apply(call: Call, world: World, options: WriteOptions): Answer {
  const { resource, subresource, namespace, name = "" } = call;
  const key = namespace === undefined ? name : `${namespace}/${name}`;
  const entry = world.store.get(storageCollection(resource), key);
  if (!entry && subresource !== undefined) throw notFound(resource, name);
  const live = entry && convertTo(resource, entry).object;
  const applied = named(call, call.body as Stored);
  const done = serverSideApply({
    resource,
    others: otherVersions(world, resource),
    live,
    applied,
    manager: options.fieldManager ?? "",
    force: options.force,
    subresource,
    now: dateBy(world.clock).getTime(),
  });
  const object = outcome(done);
  if (!entry) return make(call, world, object, options, "applied");
  return replace(call, world, entry, object, options, "applied");
}

function outcome(patched: Patched): Stored {
  if ("object" in patched) return patched.object;
  const { code, reason, message, causes } = patched.refused;
  throw new Refused(code, reason, message, causes ? { causes } : code === 422 ? {} : undefined);
}

/** The object must still be the one that the path names. */
function named(call: Call, object: Stored): Stored {
  if (typeof object !== "object" || object === null) throw badRequest("the patch is not an object");
  const { name, namespace } = (object.metadata ?? {}) as Partial<Stored["metadata"]>;
  if (name !== undefined && name !== call.name)
    throw badRequest(
      `the name of the object (${name}) does not match the name on the URL (${call.name})`,
    );
  if (namespace && call.namespace !== undefined && namespace !== call.namespace)
    throw badRequest(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
  return object;
}
