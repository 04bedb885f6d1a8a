import { asGoReads } from "../../src/local/kubernetes/patch/as-go-reads.ts";
import { jsonPatch } from "../../src/local/kubernetes/patch/json-patch.ts";
import { mergePatch } from "../../src/local/kubernetes/patch/merge-patch.ts";
import { recordUpdate } from "../../src/local/kubernetes/patch/record-update.ts";
import type { Patched } from "../../src/local/kubernetes/patch/refusal.ts";
import { serverSideApply } from "../../src/local/kubernetes/patch/server-side-apply.ts";
import { strategicMerge } from "../../src/local/kubernetes/patch/strategic-merge.ts";
import type { Resource, Stored } from "../../src/local/kubernetes/resource.ts";
import type { Step } from "./ownership-steps.ts";

/** A resource that is written to, in all its versions. */
export interface Written {
  versions: readonly Resource[];
  /** What is done to an object after it is pruned and has its defaults. */
  fill(object: Stored): Stored;
}

/** What becomes of an object by a write, as our functions have it. */
export function predicted(
  { versions, fill }: Written,
  step: Step,
  before: Stored | undefined,
  now: number,
): Patched {
  const resource = versions.find(({ version }) => version === step.version) as Resource;
  const others = versions.filter((other) => other !== resource);
  const { manager, subresource, force } = step;
  const live = before && { ...before, apiVersion: apiVersionOf(resource) };
  const shaped = (object: Stored) =>
    fill(resource.shape.fill(resource.shape.prune(asGoReads(resource, object)).object));
  if (step.type === "apply") {
    const applied = step.body as Stored;
    const result = serverSideApply({
      resource,
      others,
      live,
      applied,
      manager,
      force,
      subresource,
      now,
    });
    return "refused" in result
      ? result
      : { object: parted(resource, shaped(result.object), live, subresource) };
  }
  const sent = sentBy(resource, step, live);
  if ("refused" in sent) return sent;
  const after = shaped(sent.object);
  const managedFields = recordUpdate({
    resource,
    others,
    before: live,
    after,
    manager,
    subresource,
    now,
  });
  const { managedFields: _, ...metadata } = after.metadata;
  const object = { ...after, metadata: { ...metadata, ...(managedFields && { managedFields }) } };
  return { object: parted(resource, object, live, subresource) };
}

function apiVersionOf({ group, version }: Resource): string {
  return group === "" ? version : `${group}/${version}`;
}

function sentBy({ schema }: Resource, { type, body }: Step, live: Stored | undefined): Patched {
  switch (type) {
    case "json":
      return jsonPatch(live as Stored, body);
    case "merge":
      return mergePatch(live as Stored, body);
    case "strategic":
      return strategicMerge(schema, live as Stored, body);
    default:
      return { object: body as Stored };
  }
}

/** Where status is a subresource, one is written without the other. */
function parted(
  { status: apart, builtIn }: Resource,
  object: Stored,
  live: Stored | undefined,
  subresource: "status" | undefined,
): Stored {
  if (!apart) return object;
  if (subresource === undefined) {
    const { status: _, ...rest } = object;
    return { ...rest, ...(live?.status !== undefined && { status: live.status }) } as Stored;
  }
  const { managedFields, ...metadata } = object.metadata;
  const { managedFields: _, ...old } = (live as Stored).metadata;
  const { status: __, ...rest } = live as Stored;
  return {
    ...rest,
    metadata: { ...(builtIn ? metadata : old), ...(managedFields && { managedFields }) },
    ...(object.status !== undefined && { status: object.status }),
  };
}
