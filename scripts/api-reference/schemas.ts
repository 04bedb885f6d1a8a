import type { Definition } from "@postern/core/kinds/definition.ts";
import { tenantPolicySchema } from "postern/operator/tenant-policy.ts";
import { type FieldSchema, partOf } from "./fields.ts";
import { scenarioSchema, seedSchema } from "./scenario-schemas.ts";

type Json = Record<string, unknown>;

const draft = "http://json-schema.org/draft-07/schema#";

/** Where the schema of a kind lies below `schemas/`, named as the common catalogues of CRD schemas name theirs. */
export function schemaFile({ group, kind, version }: Definition): string {
  return `${group}/${kind.toLowerCase()}_${version}.json`;
}

/** Every schema for editors: file below `schemas/` → text. */
export function editorSchemas(definitions: readonly Definition[]): Map<string, string> {
  const files = new Map<string, Json>(
    definitions.map((definition) => [schemaFile(definition), schemaOf(definition)]),
  );
  const refs = definitions.map((definition) => ({
    apiVersion: `${definition.group}/${definition.version}`,
    kind: definition.kind,
    file: schemaFile(definition),
  }));
  files.set("simulator-seed.json", titled("A seed of the Azure simulator", seedSchema()));
  files.set("scenario.json", titled("A scenario of local mode", scenarioSchema(refs)));
  files.set("tenant-policy.json", titled("A tenant policy", plain(tenantPolicySchema)));
  return new Map(
    [...files].map(([file, schema]) => [file, `${JSON.stringify(schema, null, 2)}\n`]),
  );
}

function titled(title: string, schema: Json): Json {
  return { $schema: draft, title, ...schema };
}

/** The schema of an object as a person writes it: what the API server fills in is not asked for. */
function schemaOf(definition: Definition): Json {
  const { group, version, kind, description } = definition;
  return titled(kind, {
    description,
    type: "object",
    required: ["apiVersion", "kind", "metadata", "spec"],
    properties: {
      apiVersion: { const: `${group}/${version}` },
      kind: { const: kind },
      metadata: metadata(definition.namespaced),
      spec: draftOf(partOf(definition, "spec")),
      status: draftOf(partOf(definition, "status")),
    },
    additionalProperties: false,
  });
}

function metadata(namespaced: boolean): Json {
  const texts = (description: string) => ({
    type: "object",
    description,
    additionalProperties: { type: "string" },
  });
  return {
    type: "object",
    description: "Standard metadata of a Kubernetes object.",
    required: ["name"],
    properties: {
      name: { type: "string", description: "The name of the object." },
      ...(namespaced && {
        namespace: { type: "string", description: "The namespace of the object." },
      }),
      labels: texts("Labels of the object."),
      annotations: texts("Annotations of the object."),
    },
  };
}

/** A structural schema in the words of draft-07. An unknown field is an error where the API server would prune it. */
export function draftOf(schema: FieldSchema): Json {
  const { properties, items, additionalProperties, nullable, type, ...rest } = schema;
  const open = rest["x-kubernetes-preserve-unknown-fields"];
  const eitherType = rest["x-kubernetes-int-or-string"] ? ["integer", "string"] : type;
  const kept = Object.entries(rest).filter(([key]) => !key.startsWith("x-kubernetes-"));
  return {
    ...(eitherType && { type: nullable ? [eitherType, "null"].flat() : eitherType }),
    ...Object.fromEntries(kept),
    ...(nullable && rest.enum && { enum: [...rest.enum, null] }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, draftOf(field)]),
      ),
      ...(!open && additionalProperties === undefined && { additionalProperties: false }),
    }),
    ...(items && { items: draftOf(items) }),
    ...(typeof additionalProperties === "object" && {
      additionalProperties: draftOf(additionalProperties),
    }),
    ...(additionalProperties === false && { additionalProperties: false }),
  };
}

function plain(schema: unknown): Json {
  return JSON.parse(JSON.stringify(schema));
}
