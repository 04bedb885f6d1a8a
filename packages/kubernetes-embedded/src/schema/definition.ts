import type { Cause, Stored } from "../resource.ts";
import { invalid, required, unsupported } from "./causes.ts";
import { fieldPathOf } from "./cel/field-path.ts";
import { schemaProblems } from "./definition-schema.ts";
import { labelFaults, subdomainFaults } from "./names.ts";
import { same } from "./plain.ts";
import type { DefinitionSpec, DefinitionVersion } from "./resources.ts";

/** What is wrong with a CRD; with the one that it replaces, where there is one. */
export function problemsOfCrd(crd: Stored, old?: Stored): Cause[] {
  const spec = crd.spec as unknown as DefinitionSpec;
  return [
    ...nameProblems(crd, spec),
    ...specProblems(spec),
    ...storedProblems(crd, spec, old),
    ...(old ? changeProblems(spec, old) : []),
  ];
}

function nameProblems({ metadata }: Stored, { names, group }: DefinitionSpec): Cause[] {
  if (metadata.name === `${names.plural}.${group}`) return [];
  const why = 'must be spec.names.plural+"."+spec.group';
  return [invalid("metadata.name", metadata.name, why)];
}

function specProblems(spec: DefinitionSpec): Cause[] {
  const { versions } = spec;
  return [
    ...groupProblems(spec.group),
    ...scopeProblems(spec.scope),
    ...versions.flatMap((version, i) => versionProblems(version, i)),
    ...everyVersion(versions, "schema", "validation", (version, path) => {
      return schemaProblems(version, path);
    }),
    ...everyVersion(
      versions,
      "additionalPrinterColumns",
      "additionalPrinterColumns",
      columnProblems,
    ),
    ...everyVersion(versions, "subresources", "subresources", scaleProblems),
    ...everyVersion(versions, "selectableFields", "selectableFields", selectorProblems),
    ...versionSetProblems(versions),
    ...kindProblems(spec.names),
  ];
}

/**
 * What all versions say alike is told of once, at the place where CRDs had it when they had one version:
 * that is how the API server holds it.
 */
function everyVersion(
  versions: readonly DefinitionVersion[],
  word: keyof DefinitionVersion,
  shared: string,
  look: (version: DefinitionVersion, path: string) => Cause[],
): Cause[] {
  const [first] = versions;
  if (first === undefined) return [];
  const alike = versions.every((version) => same(version[word], first[word]));
  if (alike) return look(first, `spec.${shared}`);
  return versions.flatMap((version, i) => look(version, `spec.versions[${i}].${word}`));
}

function groupProblems(group: string): Cause[] {
  if (!group) return [required("spec.group")];
  const faults = subdomainFaults(group);
  if (faults.length > 0) return [invalid("spec.group", group, faults.join(","))];
  if (group.includes(".")) return [];
  return [invalid("spec.group", group, "should be a domain with at least one dot")];
}

function scopeProblems(scope: string): Cause[] {
  if (!scope) return [required("spec.scope")];
  const known = ["Cluster", "Namespaced"];
  return known.includes(scope) ? [] : [unsupported("spec.scope", scope, known)];
}

function versionProblems(version: DefinitionVersion, index: number): Cause[] {
  const path = `spec.versions[${index}]`;
  const faults = labelFaults(version.name);
  const missing = version.schema?.openAPIV3Schema
    ? []
    : [required(`${path}.schema.openAPIV3Schema`)];
  if (faults.length === 0) return missing;
  const told = (field: string) => invalid(field, version.name, faults.join(","));
  // The first is held once more where CRDs had it when they had one version.
  return [...missing, told(`${path}.name`), ...(index === 0 ? [told("spec.version")] : [])];
}

function versionSetProblems(versions: readonly DefinitionVersion[]): Cause[] {
  const names = new Set(versions.map(({ name }) => name));
  const stored = versions.filter(({ storage }) => storage).length;
  const field = "spec.versions";
  const told = (why: string) => invalid(field, versions, why);
  return [
    ...(names.size === versions.length ? [] : [told("must contain unique version names")]),
    ...(stored === 1 ? [] : [told("must have exactly one version marked as storage version")]),
  ];
}

function kindProblems(names: DefinitionSpec["names"]): Cause[] {
  const causes: Cause[] = [];
  const path = "spec.names";
  for (const word of ["plural", "singular", "kind", "listKind"] as const) {
    if (!names[word]) causes.push(required(`${path}.${word}`));
  }
  const label = (field: string, value: string, prefix = "") => {
    const faults = labelFaults(value.toLowerCase() === value ? value : value.toLowerCase());
    const strict = prefix === "" && value !== value.toLowerCase() ? labelFaults(value) : faults;
    if (strict.length > 0) causes.push(invalid(field, value, `${prefix}${strict.join(",")}`));
  };
  const mixed = "may have mixed case, but should otherwise match: ";
  if (names.plural) label(`${path}.plural`, names.plural);
  if (names.singular) label(`${path}.singular`, names.singular);
  if (names.kind) label(`${path}.kind`, names.kind, mixed);
  if (names.listKind) label(`${path}.listKind`, names.listKind, mixed);
  for (const [i, name] of (names.shortNames ?? []).entries())
    label(`${path}.shortNames[${i}]`, name);
  for (const [i, name] of (names.categories ?? []).entries())
    label(`${path}.categories[${i}]`, name);
  if (names.kind && names.kind === names.listKind) {
    const why = "kind and listKind may not be the same";
    causes.push(invalid(`${path}.listKind`, names.listKind, why));
  }
  return causes;
}

const columnTypes = ["integer", "number", "string", "boolean", "date"];
const columnFormats = [
  "int32",
  "int64",
  "float",
  "double",
  "byte",
  "date",
  "date-time",
  "password",
];

function columnProblems(version: DefinitionVersion, path: string): Cause[] {
  return (version.additionalPrinterColumns ?? []).flatMap((column, i) => {
    const at = `${path}[${i}]`;
    const causes: Cause[] = [];
    if (!column.name) causes.push(required(`${at}.name`));
    if (!column.type)
      causes.push(required(`${at}.type`, `must be one of ${[...columnTypes].sort().join(",")}`));
    else if (!columnTypes.includes(column.type)) {
      causes.push(
        invalid(`${at}.type`, column.type, `must be one of ${[...columnTypes].sort().join(",")}`),
      );
    }
    if (column.format && !columnFormats.includes(column.format)) {
      causes.push(
        invalid(
          `${at}.format`,
          column.format,
          `must be one of ${[...columnFormats].sort().join(",")}`,
        ),
      );
    }
    if (!column.jsonPath) causes.push(required(`${at}.JSONPath`));
    else causes.push(...pathProblems(column.jsonPath, `${at}.JSONPath`));
    return causes;
  });
}

function pathProblems(path: string, field: string): Cause[] {
  if (path.startsWith(".")) return [];
  return [invalid(field, path, "must be a simple json path starting with .")];
}

function scaleProblems(version: DefinitionVersion, path: string): Cause[] {
  const scale = version.subresources?.scale;
  if (scale === undefined) return [];
  const under = (word: string, roots: string[], wanted: string, isRequired: boolean): Cause[] => {
    const field = `${path}.scale.${word}`;
    const value = scale[word];
    if (!value) return isRequired ? [required(field)] : [];
    const faults = pathProblems(value, field);
    if (faults.length > 0 || roots.some((root) => value.startsWith(root))) return faults;
    return [invalid(field, value, `should be a json path under ${wanted}`)];
  };
  return [
    ...under("specReplicasPath", [".spec."], ".spec", true),
    ...under("statusReplicasPath", [".status."], ".status", true),
    ...under("labelSelectorPath", [".spec.", ".status."], "either .spec or .status", false),
  ];
}

function selectorProblems(version: DefinitionVersion, path: string): Cause[] {
  const schema = version.schema?.openAPIV3Schema;
  if (!version.selectableFields || !schema) return [];
  return version.selectableFields.flatMap(({ jsonPath }, i) => {
    const field = `${path}[${i}].jsonPath`;
    if (!jsonPath) return [required(field)];
    const found = fieldPathOf(jsonPath, schema, { brackets: false });
    if (typeof found === "string")
      return [invalid(field, jsonPath, `is an invalid path: ${found}`)];
    if (jsonPath.startsWith(".metadata.")) {
      return [invalid(field, jsonPath, "must not point to fields in metadata")];
    }
    if (["string", "boolean", "integer"].includes(found.schema.type ?? "")) return [];
    const why =
      "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
    return [invalid(field, jsonPath, why)];
  });
}

/** Versions in which objects may be held have to stay until none is. */
function storedProblems(crd: Stored, spec: DefinitionSpec, old: Stored | undefined): Cause[] {
  const field = "status.storedVersions";
  const stored = storedVersions(crd, spec, old);
  if (stored.length === 0) return [invalid(field, null, "must have at least one stored version")];
  const left = new Set(stored);
  const causes: Cause[] = [];
  for (const { name, storage } of spec.versions) {
    if (storage && !left.has(name)) {
      causes.push(invalid(field, stored, `must have the storage version ${name}`));
    }
    left.delete(name);
  }
  for (const name of left) {
    const why = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    causes.push(invalid(`${field}[${stored.indexOf(name)}]`, name, why));
  }
  return causes;
}

/** As the API server itself keeps them: the version that is stored now is always among them. */
function storedVersions(
  crd: Stored,
  { versions }: DefinitionSpec,
  old: Stored | undefined,
): string[] {
  const status = (crd.status ?? old?.status ?? {}) as { storedVersions?: string[] };
  const known = status.storedVersions ?? [];
  const current = versions.find(({ storage }) => storage)?.name;
  return current === undefined || known.includes(current) ? known : [...known, current];
}

function changeProblems(spec: DefinitionSpec, old: Stored): Cause[] {
  const before = old.spec as unknown as DefinitionSpec;
  const { conditions = [] } = (old.status ?? {}) as {
    conditions?: { type: string; status: string }[];
  };
  const established = conditions.some(({ type, status }) => {
    return type === "Established" && status === "True";
  });
  const fields: [string, string, string][] = [
    ["spec.group", spec.group, before.group],
    ["spec.names.plural", spec.names.plural, before.names.plural],
  ];
  if (established) {
    fields.push(["spec.scope", spec.scope, before.scope]);
    fields.push(["spec.names.kind", spec.names.kind, before.names.kind]);
  }
  return fields
    .filter(([, now, then]) => now !== then)
    .map(([field, now]) => invalid(field, now, "field is immutable"));
}
