import type { Column, Resource, Schema, Stored } from "../resource.ts";
import { shapeOf } from "./shape.ts";

/** What a CRD says, as far as it is read here; `problemsOfCrd` has found nothing wrong with it. */
export interface DefinitionSpec {
  group: string;
  scope: "Namespaced" | "Cluster";
  names: {
    plural: string;
    singular?: string;
    kind: string;
    listKind?: string;
    shortNames?: string[];
    categories?: string[];
  };
  versions: DefinitionVersion[];
}

/** One version of a CRD. */
export interface DefinitionVersion {
  name: string;
  served: boolean;
  storage: boolean;
  schema?: { openAPIV3Schema?: Schema };
  subresources?: { status?: object; scale?: Record<string, string> };
  additionalPrinterColumns?: DefinitionColumn[];
  selectableFields?: { jsonPath: string }[];
}

/** A column as a CRD writes it. */
export interface DefinitionColumn {
  name: string;
  type: string;
  format?: string;
  description?: string;
  priority?: number;
  jsonPath: string;
}

/** What a CRD adds to what is served: one resource for each version that it serves. */
export function resourcesOf(crd: Stored): Resource[] {
  const { group, names, scope, versions } = crd.spec as unknown as DefinitionSpec;
  return versions
    .filter(({ served }) => served)
    .map((version) => {
      const schema = version.schema?.openAPIV3Schema ?? { type: "object" };
      const selectors = selectorsOf(version);
      return {
        group,
        version: version.name,
        kind: names.kind,
        listKind: names.listKind ?? `${names.kind}List`,
        plural: names.plural,
        singular: names.singular ?? names.kind.toLowerCase(),
        shortNames: names.shortNames ?? [],
        categories: names.categories ?? [],
        namespaced: scope === "Namespaced",
        status: version.subresources?.status !== undefined,
        builtIn: false,
        schema,
        columns: columnsOf(version.additionalPrinterColumns ?? []),
        shape: shapeOf(schema),
        ...(selectors && { fieldSelectors: selectors }),
      };
    });
}

const age: Column = {
  name: "Age",
  type: "date",
  description:
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
  priority: 0,
  value: ".metadata.creationTimestamp",
};

function columnsOf(columns: readonly DefinitionColumn[]): Column[] {
  if (columns.length === 0) return [age];
  return columns.map(({ jsonPath, priority = 0, ...rest }) => ({
    ...rest,
    priority,
    value: jsonPath,
  }));
}

function selectorsOf(version: DefinitionVersion): Resource["fieldSelectors"] | undefined {
  if (!version.selectableFields) return undefined;
  return Object.fromEntries(
    version.selectableFields.map(({ jsonPath }) => {
      const names = jsonPath.split(".").slice(1);
      return [names.join("."), (object: Stored) => textAt(object, names)];
    }),
  );
}

function textAt(object: unknown, names: readonly string[]): string {
  let at = object;
  for (const name of names) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return "";
    at = (at as Record<string, unknown>)[name];
  }
  return at === null || at === undefined ? "" : String(at);
}
