import { publishedFormats } from "../kinds/fields.ts";
import { objectMeta } from "../kinds/object-meta.ts";
import type { Resource, Schema } from "../resource.ts";

const metadataName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const listMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

const listMeta: Schema = {
  type: "object",
  description: "What a list says of itself.",
  properties: {
    continue: { type: "string", description: "Where the next page begins." },
    remainingItemCount: { type: "integer", format: "int64", description: "How many are left." },
    resourceVersion: { type: "string", description: "The version that the list shows." },
    selfLink: { type: "string", description: "Not used any more." },
  },
};

/** The schemas that a document holds: of its kinds, of their lists, and of what all of them share. */
export function componentsOf(resources: readonly Resource[]): Record<string, Schema> {
  const kinds = resources.flatMap((resource) => [
    [componentName(resource), kindSchema(resource)],
    [`${componentName(resource)}List`, listSchema(resource)],
  ]);
  return {
    ...Object.fromEntries(kinds),
    [metadataName]: published(objectMeta),
    [listMetaName]: listMeta,
  };
}

/** The name of a kind's schema, by the habit of Kubernetes: the group backwards, the version, the kind. */
export function componentName({ group, version, kind, builtIn }: Resource): string {
  if (!builtIn) return [...group.split(".").reverse(), version, kind].join(".");
  if (group === "apiextensions.k8s.io") {
    return `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.${version}.${kind}`;
  }
  return `io.k8s.api.${group === "" ? "core" : group.split(".")[0]}.${version}.${kind}`;
}

/** How another part of the document points at a schema. */
export function reference(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

function kindSchema(resource: Resource): Schema {
  const schema = published(resource.schema);
  const { apiVersion, kind, ...rest } = schema.properties ?? {};
  return {
    ...schema,
    properties: {
      apiVersion: apiVersion ?? { type: "string", description: "The group and version." },
      kind: kind ?? { type: "string", description: "What it is." },
      ...rest,
      metadata: {
        description: "What is known of every object, whatever its kind.",
        allOf: [reference(metadataName)],
        default: {},
      },
    },
    "x-kubernetes-group-version-kind": [gvk(resource, resource.kind)],
  };
}

function listSchema(resource: Resource): Schema {
  return {
    type: "object",
    description: `Some objects of the kind ${resource.kind}.`,
    required: ["items"],
    properties: {
      apiVersion: { type: "string", description: "The group and version." },
      kind: { type: "string", description: `Always ${resource.listKind}.` },
      metadata: { description: "About the list.", allOf: [reference(listMetaName)] },
      items: {
        type: "array",
        description: "The objects.",
        items: reference(componentName(resource)),
      },
    },
    "x-kubernetes-group-version-kind": [gvk(resource, resource.listKind)],
  };
}

/** How OpenAPI names a kind. */
export function gvk({ group, version }: Resource, kind: string) {
  return { group, version, kind };
}

/** A schema as it is shown: in formats that others know, and with a type where either a number or a text may stand. */
function published(schema: Schema): Schema {
  const { properties, items, additionalProperties, ...words } = schema;
  const result: Schema = { ...words };
  if (schema["x-kubernetes-int-or-string"] && schema.type === undefined) {
    result.type = "string";
    result.format = "int-or-string";
  }
  const format = publishedFormats[schema.format ?? ""];
  if (format !== undefined) result.format = format;
  if (properties) result.properties = mapValues(properties, published);
  if (items) result.items = published(items);
  if (typeof additionalProperties === "object") {
    result.additionalProperties = published(additionalProperties);
  } else if (additionalProperties !== undefined) result.additionalProperties = additionalProperties;
  return result;
}

function mapValues<T, U>(map: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]));
}
