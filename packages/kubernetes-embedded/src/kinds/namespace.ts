import type { Resource, Stored } from "../resource.ts";
import { ageColumn, builtIn, column, nameColumn } from "./built-in.ts";
import { condition } from "./condition.ts";
import { fields, listBy, text, texts } from "./fields.ts";

/** What the API server itself has to do before a namespace can go: to remove all that lies in it. */
export const namespaceFinalizer = "kubernetes";

/** The label by which selectors can tell a namespace by its name. */
const nameLabel = "kubernetes.io/metadata.name";

/** The kind that all namespaced objects lie in. */
export const namespace: Resource = builtIn({
  kind: "Namespace",
  plural: "namespaces",
  shortNames: ["ns"],
  namespaced: false,
  status: true,
  description: "A place for objects, within which their names are unique.",
  properties: {
    spec: fields("What is wanted of it.", {
      finalizers: texts("What has to be done before it can go."),
    }),
    status: fields("What is known of it.", {
      conditions: listBy(
        ["type"],
        condition("One thing that is known of its deletion."),
        "What stands in the way of its deletion.",
      ),
      phase: text("Active, or Terminating while it is deleted."),
    }),
  },
  columns: [nameColumn, column("Status", phaseOf), ageColumn],
  strategy: { fill, prepare, names: "dns-label" },
  fieldSelectors: { "status.phase": phaseOf, name: (object) => object.metadata.name },
  subresources: [
    { name: "finalize", group: "", version: "v1", kind: "Namespace", verbs: ["update"] },
  ],
  verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
});

function fill(object: Stored): Stored {
  const { metadata } = object;
  return {
    ...object,
    metadata: { ...metadata, labels: { ...metadata.labels, [nameLabel]: metadata.name } },
  };
}

function prepare(object: Stored, old: Stored | undefined): Stored {
  // Finalizers of the spec leave through the subresource `finalize` alone, which is no matter of this function.
  if (old !== undefined) return { ...object, spec: old.spec };
  const given = (object.spec as { finalizers?: string[] } | undefined)?.finalizers ?? [];
  const finalizers = given.includes(namespaceFinalizer) ? given : [...given, namespaceFinalizer];
  return { ...object, spec: { finalizers }, status: { phase: "Active" } };
}

function phaseOf(object: Stored): string {
  return (object.status as { phase?: string } | undefined)?.phase ?? "";
}
