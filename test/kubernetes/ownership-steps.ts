import type { Schema, Stored } from "@postern/kubernetes-embedded/resource.ts";
import type { Values } from "./ownership-values.ts";

/** A write by one of several managers. */
export interface Step {
  type: "create" | "update" | "json" | "merge" | "strategic" | "apply";
  manager: string;
  version: string;
  subresource?: "status";
  force: boolean;
  body: unknown;
}

/** What there is to write to. */
export interface Target {
  group: string;
  versions: readonly string[];
  kind: string;
  name: string;
  properties: Record<string, Schema>;
  /** Custom resources have no strategic merge patches. */
  strategic: boolean;
  status: boolean;
}

const managers = ["ann", "bob", "cat"];

/** The next write to an object; undefined where there is none yet. */
export function nextStep(values: Values, target: Target, before: Stored | undefined): Step {
  const { pick, rarely } = values;
  const version = rarely(4) ? pick(target.versions) : (target.versions[0] as string);
  const forms: Step["type"][] = target.strategic
    ? ["update", "json", "merge", "strategic", "apply", "apply", "apply"]
    : ["update", "json", "merge", "apply", "apply", "apply"];
  const type = before ? pick(forms) : pick<Step["type"]>(["create", "apply"]);
  const subresource = before && target.status && rarely(4) ? "status" : undefined;
  const step = { type, manager: pick(managers), version, force: rarely(3) };
  values.twice = type === "apply";
  const body = bodyOf(values, target, step, before);
  return { ...step, ...(subresource && { subresource }), body };
}

function bodyOf(
  values: Values,
  target: Target,
  { type, version }: Pick<Step, "type" | "version">,
  before: Stored | undefined,
): unknown {
  const apiVersion = target.group === "" ? version : `${target.group}/${version}`;
  const whole = { apiVersion, kind: target.kind };
  switch (type) {
    case "create":
      return {
        ...whole,
        metadata: metadataOf(values, target.name),
        ...contentOf(values, target, 2),
      };
    case "apply":
      return {
        ...whole,
        metadata: metadataOf(values, target.name),
        ...contentOf(values, target, 3),
      };
    case "update":
      return { ...updated(values, target, before as Stored), apiVersion };
    case "json":
      return jsonPatchOf(values, target, before as Stored);
    case "merge":
    case "strategic": {
      if (values.rarely(15)) return { metadata: { managedFields: values.pick([[], [{}]]) } };
      const patch = { ...metadataPatchOf(values), ...contentOf(values, target, 5) };
      return type === "strategic" ? directed(values, patch, before as Stored) : patch;
    }
  }
}

/** What the object is to hold, beside its metadata; of structures only some fields. */
function contentOf(values: Values, target: Target, oneIn: number): Record<string, unknown> {
  const content: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(target.properties)) {
    if (values.rarely(8)) continue;
    content[name] = schema.properties
      ? values.fieldsOf(schema.properties, oneIn)
      : values.valueFor(schema);
  }
  return content;
}

function metadataOf(values: Values, name: string): Record<string, unknown> {
  return { name, ...metadataPatchOf(values).metadata };
}

// Of a kind that nobody serves: whoever collects garbage cannot tell that the owner is not there.
const owner = (uid: string, name: string) => ({ apiVersion: "v1", kind: "Unknown", name, uid });

function metadataPatchOf({ rarely, some, pick }: Values): { metadata?: Record<string, unknown> } {
  if (!rarely(3)) return {};
  const map = () => Object.fromEntries(some(["x", "y", "z"]).map((key) => [key, pick(["1", "2"])]));
  return {
    metadata: {
      ...(rarely(2) && { labels: map() }),
      ...(rarely(2) && { annotations: map() }),
      ...(rarely(3) && { finalizers: some(["example.com/a", "example.com/b", "example.com/c"]) }),
      ...(rarely(3) && {
        ownerReferences: some([owner("u1", pick(["p", "q"])), owner("u2", pick(["p", "q"]))]),
      }),
    },
  };
}

type Fields = Record<string, unknown>;

/** A strategic merge patch that now and then says more than a merge can. */
function directed(values: Values, patch: Fields, before: Stored): Fields {
  const { rarely, some, pick } = values;
  const metadata = { ...(patch.metadata as Fields) };
  if (rarely(4)) {
    metadata["$deleteFromPrimitiveList/finalizers"] = some(["example.com/a", "example.com/b"]);
  }
  const ports = (before.spec as { ports?: Fields[] } | undefined)?.ports;
  if (!ports) return { ...patch, metadata };
  const spec: Fields = { ...(patch.spec as Fields) };
  const sent = Array.isArray(spec.ports) ? (spec.ports as Fields[]) : [];
  const known = [...new Set([...ports, ...sent].map(({ port }) => port))];
  if (rarely(4)) spec.ports = [...sent, { port: pick(known), $patch: "delete" }];
  else if (rarely(8)) spec.ports = [{ $patch: "replace" }, ...sent];
  if (rarely(4)) spec["$setElementOrder/ports"] = some(known).map((port) => ({ port }));
  if (rarely(8)) spec.selector = { $patch: pick(["replace", "delete"]), k: "x" };
  if (rarely(12)) spec.$retainKeys = ["ports", "type", "selector", ...Object.keys(spec)];
  return { ...patch, metadata, spec };
}

/** The object as somebody sends it back who changed something, and who may not know of managers. */
function updated(values: Values, target: Target, before: Stored): Stored {
  const object = structuredClone(before);
  if (values.rarely(2)) delete object.metadata.managedFields;
  if (values.rarely(20)) object.metadata.managedFields = values.pick([[], [{} as never]]);
  Object.assign(object.metadata, metadataPatchOf(values).metadata);
  for (const [name, schema] of Object.entries(target.properties)) {
    if (values.rarely(3)) continue;
    if (!schema.properties) object[name] = values.valueFor(schema);
    else {
      const fields = { ...(object[name] as object), ...values.fieldsOf(schema.properties, 6) };
      const dropped = new Set(Object.keys(fields).filter(() => values.rarely(6)));
      object[name] = Object.fromEntries(
        Object.entries(fields).filter(([key]) => !dropped.has(key)),
      );
    }
  }
  return object;
}

function jsonPatchOf(values: Values, target: Target, before: Stored): unknown[] {
  const operations: unknown[] = [];
  for (const [name, schema] of Object.entries(target.properties)) {
    const old = before[name] as Record<string, unknown> | undefined;
    if (!schema.properties || old === undefined) {
      if (values.rarely(3))
        operations.push({ op: "add", path: `/${name}`, value: values.valueFor(schema) });
      continue;
    }
    for (const key of Object.keys(old)) {
      if (values.rarely(8)) operations.push({ op: "remove", path: `/${name}/${key}` });
    }
    for (const [key, value] of Object.entries(values.fieldsOf(schema.properties, 8))) {
      operations.push({ op: values.pick(["add", "replace"]), path: `/${name}/${key}`, value });
    }
    const [key] = values.some(Object.keys(old));
    if (values.rarely(10) && key)
      operations.push({ op: "test", path: `/${name}/${key}`, value: 9 });
    if (values.rarely(10) && key) {
      operations.push({ op: "copy", from: `/${name}/${key}`, path: `/${name}/${key}` });
    }
  }
  return operations;
}
