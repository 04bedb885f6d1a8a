import { isDeepStrictEqual } from "node:util";
import { keyOf } from "@postern/core/kind.ts";
import type { ProviderConfig } from "@postern/core/kinds/provider-config.ts";
import type { Plan, Requeue } from "../../kube/feature.ts";
import { annotations } from "../names.ts";
import type { ConfigSpec } from "./desired/desired.ts";
import type { Observed } from "./observed.ts";
import { reasons } from "./reasons.ts";
import type { ConfigStep } from "./steps.ts";

/**
 * The ProviderConfig of a Cluster. It has the Cluster's name and no namespace, so Clusters of one name share one: the first owns
 * it, and the others report it.
 *
 * Ours is what has our mark with this Cluster's name, or that of one that is no more. What has no mark is ours where the API
 * server says that only we, or the operator before us, wrote it, the Cluster has that one's finalizer, and no Cluster of the
 * same name is nearer to it. The finalizer alone proves nothing: a tenant can write it.
 */
export function plan(observed: Observed): Plan<ConfigStep> {
  if (observed.paused) return unchanged;
  if (observed.deleting) return planDelete(observed);
  const { desired } = observed;
  switch (desired.state) {
    case "none":
      return unchanged;
    case "unknown":
      return { ...unchanged, requeue: desired.requeue ?? "never" };
    case "trouble":
      return observed.served
        ? { ...warn(desired.reason, desired.message), requeue: "drift" }
        : unserved;
    case "config":
      return observed.served ? up(observed, desired.spec, desired.requeue) : unserved;
  }
}

const unchanged: Plan<ConfigStep> = { steps: [], conditions: [], requeue: "never" };
/** No watch event tells when the kind is served. */
const unserved: Plan<ConfigStep> = { ...unchanged, requeue: "drift" };

function planDelete(observed: Observed): Plan<ConfigStep> {
  if (!observed.hasFinalizer) return unchanged;
  const { found } = observed;
  const steps: ConfigStep[] =
    found !== undefined && isOwned(observed, found) && !isBeingDeleted(found)
      ? [
          {
            verb: "delete",
            do: "delete ProviderConfig",
            name: found.metadata.name,
            object: found,
            why: "the Cluster is being deleted",
            event: true,
          },
        ]
      : [];
  return { ...unchanged, steps, finalizer: "remove" };
}

function up(observed: Observed, spec: ConfigSpec, requeue: Requeue = "never"): Plan<ConfigStep> {
  return { ...planConfig(observed, spec), requeue };
}

function planConfig(observed: Observed, spec: ConfigSpec): Plan<ConfigStep> {
  const { cluster, found } = observed;
  const annotation = { [annotations.madeFor]: keyOf(cluster) };
  if (found === undefined) {
    const metadata = { name: cluster.metadata.name, annotations: annotation };
    return act({
      verb: "create",
      do: "create ProviderConfig",
      name: cluster.metadata.name,
      object: { metadata, spec },
      why: "the Cluster has none",
      event: true,
    });
  }
  if (!isOwned(observed, found)) return another(observed, found);
  if (isBeingDeleted(found)) return { ...unchanged, finalizer: "add" };
  const isMarked = found.metadata.annotations?.[annotations.madeFor] === keyOf(cluster);
  if (isMarked && isDeepStrictEqual({ ...found.spec }, { ...spec }))
    return { ...unchanged, finalizer: "add" };
  const change = { metadata: { annotations: annotation }, spec: replacing(found.spec, spec) };
  const why = isMarked
    ? "it differs from what is desired"
    : "it was created before Postern, or for a Cluster that does not exist any more";
  return act({
    verb: "change",
    do: "update ProviderConfig",
    name: cluster.metadata.name,
    object: found,
    change,
    why,
    event: true,
  });
}

function isOwned(observed: Observed, { metadata }: ProviderConfig): boolean {
  const annotation = metadata.annotations?.[annotations.madeFor];
  if (annotation !== undefined)
    return annotation === keyOf(observed.cluster) || !observed.ownerIsThere;
  const { hasFinalizer, rival, deleting, isByUs } = observed;
  return hasFinalizer && isByUs && (rival === undefined || (!deleting && !rival.isOlder));
}

function another({ rival, cluster }: Observed, { metadata }: ProviderConfig): Plan<ConfigStep> {
  const owner = metadata.annotations?.[annotations.madeFor] ?? rival?.key;
  const what = `ProviderConfig ${metadata.name} is not changed`;
  const namespace = cluster.metadata.namespace;
  return owner === undefined
    ? warn(
        reasons.ownedByAnother,
        `${what} · Postern did not create it · delete it, or annotate it with ${annotations.madeFor}=${namespace}/${metadata.name}`,
      )
    : warn(
        reasons.taken,
        `${what} · it belongs to a Cluster of the same name in another namespace · give the Cluster another name`,
      );
}

/** A merge patch that leaves nothing but what is desired. */
function replacing(found: object, desired: object): Record<string, unknown> {
  const removed = Object.keys(found).filter((key) => !Object.hasOwn(desired, key));
  const present = Object.entries(desired).map(([key, value]) => {
    const before: unknown = Reflect.get(found, key);
    return [key, isObject(value) && isObject(before) ? replacing(before, value) : value];
  });
  return {
    ...Object.fromEntries(removed.map((key) => [key, null])),
    ...Object.fromEntries(present),
  };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isBeingDeleted({ metadata }: ProviderConfig): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function act(step: ConfigStep): Plan<ConfigStep> {
  return { ...unchanged, steps: [step], finalizer: "add" };
}

function warn(reason: string, note: string): Plan<ConfigStep> {
  return { ...unchanged, events: [{ reason, note, type: "Warning" }] };
}
