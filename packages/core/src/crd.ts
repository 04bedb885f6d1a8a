import { apiVersionOf, type Kind } from "./kind.ts";
import type { Definition } from "./kinds/definition.ts";
import { rules } from "./kinds/schema.ts";

/** On a CRD that only takes the place of another project's: theirs do not have it. */
export const standInLabel = "postern.io/stand-in";

/** The object that makes a kind known to an API server, as plain data. */
export function crdOf(definition: Definition) {
  const { group, version, kind, plural, singular, shortNames, categories, annotations } =
    definition;
  const labels = definition.standIn ? { [standInLabel]: "true" } : undefined;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: crdName(definition),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular,
        shortNames,
        ...(categories && { categories }),
      },
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

/** The name of the object that makes a kind known. */
export function crdName({ plural, group }: Pick<Kind, "plural" | "group">): string {
  return `${plural}.${group}`;
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
    ...(definition.rules && rules(...definition.rules)),
  };
}
