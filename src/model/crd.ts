import { apiVersionOf } from "./kind.ts";
import type { Definition } from "./kinds/definition.ts";

/** The object that makes a kind known to an API server, as plain data. */
export function crdOf(definition: Definition) {
  const { group, version, kind, plural, singular, shortNames, annotations } = definition;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}`, ...(annotations ? { annotations } : {}) },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames },
      scope: definition.namespaced ? "Namespaced" : "Cluster",
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: definition.columns,
          schema: { openAPIV3Schema: schemaOf(definition) },
        },
      ],
    },
  };
}

function schemaOf(definition: Definition) {
  return {
    type: "object",
    description: definition.description,
    required: ["spec"],
    properties: {
      apiVersion: { type: "string", description: `Always ${apiVersionOf(definition)}.` },
      kind: { type: "string", description: `Always ${definition.kind}.` },
      metadata: { type: "object" },
      spec: definition.spec,
      status: definition.status,
    },
  };
}
