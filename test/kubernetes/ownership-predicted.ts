import { isDeepStrictEqual } from "node:util";
import { asGoReads } from "@postern/kubernetes-embedded/patch/as-go-reads.ts";
import { jsonPatch } from "@postern/kubernetes-embedded/patch/json-patch.ts";
import { mergePatch } from "@postern/kubernetes-embedded/patch/merge-patch.ts";
import { recordUpdate } from "@postern/kubernetes-embedded/patch/record-update.ts";
import type { Patched } from "@postern/kubernetes-embedded/patch/refusal.ts";
import { serverSideApply } from "@postern/kubernetes-embedded/patch/server-side-apply.ts";
import { strategicMerge } from "@postern/kubernetes-embedded/patch/strategic-merge.ts";
import type { Resource, Stored } from "@postern/kubernetes-embedded/resource.ts";
import type { Step } from "./ownership-steps.ts";

/** What becomes of an object by a write, as our functions have it. */
export function predicted(
  versions: readonly Resource[],
  step: Step,
  before: Stored | undefined,
  now: number,
): Patched {
  const resource = versions.find(({ version }) => version === step.version) as Resource;
  const others = versions.filter((other) => other !== resource);
  const { manager, subresource, force } = step;
  const done = (object: Stored): Patched => {
    const whole = parted(resource, object, live, subresource);
    const ready = resource.strategy?.prepare?.(whole, live, () => []) ?? whole;
    // Where nothing but times would change, nothing does.
    return { object: live && isDeepStrictEqual(timeless(ready), timeless(live)) ? live : ready };
  };
  const live = before && { ...before, apiVersion: apiVersionOf(resource) };
  const shaped = (object: Stored) => {
    const known = resource.shape.fill(resource.shape.prune(asGoReads(resource, object)).object);
    return resource.strategy?.fill?.(known) ?? known;
  };
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
    return "refused" in result ? result : done(shaped(result.object));
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
  return done(object);
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

function timeless({ metadata, ...rest }: Stored): unknown {
  const { generation, resourceVersion, uid, creationTimestamp, namespace, ...kept } = metadata;
  const managedFields = kept.managedFields?.map(({ time, ...entry }) => entry) ?? [];
  return { ...rest, metadata: { ...kept, managedFields } };
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
