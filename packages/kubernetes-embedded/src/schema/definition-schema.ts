import type { Cause, Schema } from "../resource.ts";
import { forbidden, invalid, noField } from "./causes.ts";
import { judged } from "./cel/judge.ts";
import { type Rules, rulesOf } from "./cel/rules.ts";
import { checked } from "./check.ts";
import { pruned } from "./prune.ts";
import type { DefinitionVersion } from "./resources.ts";
import { wordProblems } from "./schema-words.ts";
import { structuralProblems } from "./structural.ts";

const rootWords: ReadonlySet<string> = new Set([
  "description",
  "type",
  "format",
  "title",
  "maximum",
  "exclusiveMaximum",
  "minimum",
  "exclusiveMinimum",
  "maxLength",
  "minLength",
  "pattern",
  "maxItems",
  "minItems",
  "uniqueItems",
  "multipleOf",
  "required",
  "items",
  "properties",
  "externalDocs",
  "example",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-validations",
]);

const rootWordsTold =
  "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]";

/** What is wrong with the schema of a version of a CRD. */
export function schemaProblems(version: DefinitionVersion, base: string): Cause[] {
  const schema = version.schema?.openAPIV3Schema;
  if (schema === undefined) return [];
  const path = `${base}.openAPIV3Schema`;
  const causes: Cause[] = [];
  if (version.subresources?.status !== undefined) {
    const other = Object.keys(schema).find((word) => !rootWords.has(word));
    if (other !== undefined) {
      const why = `only ${rootWordsTold} fields are allowed at the root of the schema if the status subresource is enabled`;
      causes.push(invalid(path, schema, why));
    }
  }
  if (schema.nullable === true) {
    causes.push(forbidden(`${path}.nullable`, "nullable cannot be true at the root"));
  }
  const structural = structuralProblems(schema, path);
  causes.push(...structural);
  if (structural.length === 0) causes.push(...defaultProblems(schema, path));
  causes.push(...wordProblems(schema, path));
  if (causes.length === 0) causes.push(...compileProblems(rulesOf(schema), path, undefined));
  return causes;
}

/** Defaults have to fit: they are not looked at again when they are filled in. */
function defaultProblems(schema: Schema, path: string): Cause[] {
  const causes: Cause[] = [];
  const { default: value, items, properties = {} } = schema;
  if (value !== undefined && value !== null) {
    const unknown: string[] = [];
    pruned({ of: value }, { properties: { of: schema } }, unknown);
    if (unknown.length > 0) {
      causes.push(invalid(`${path}.default`, value, "must not have unknown fields"));
    }
    const faults = checked(value, schema);
    const broken = faults.length === 0 ? judged(rulesOf(schema, false), value, undefined) : [];
    for (const cause of [...faults, ...broken]) {
      const below = cause.field === noField ? "" : `.${cause.field}`;
      causes.push({ ...cause, field: `${path}.default${below}` });
    }
  }
  if (items) causes.push(...defaultProblems(items, `${path}.items`));
  for (const [name, own] of Object.entries(properties)) {
    causes.push(...defaultProblems(own, `${path}.properties[${name}]`));
  }
  return causes;
}

/** Rules that cannot be compiled, or that speak of a past that cannot be found. */
function compileProblems(
  rules: Rules | undefined,
  path: string,
  uncorrelated: string | undefined,
): Cause[] {
  if (rules === undefined) return [];
  if (rules.here.length > 0 && rules.type === undefined) return [untyped(path)];
  const here = rules.here.flatMap((rule, i) => {
    const at = `${path}.x-kubernetes-validations[${i}]`;
    const causes: Cause[] = [];
    if (rule.error !== undefined) causes.push(invalid(`${at}.rule`, rule.given, rule.error));
    if (rule.messageError !== undefined) {
      causes.push(invalid(`${at}.messageExpression`, rule.given, rule.messageError));
    }
    if (rule.given.fieldPath && rule.fieldPath === undefined) {
      causes.push(invalid(`${at}.fieldPath`, rule.given.fieldPath, "must be a valid path"));
    }
    const usesOldSelf = rule.expression?.usesOldSelf;
    if (usesOldSelf && uncorrelated !== undefined) {
      const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`;
      causes.push(invalid(`${at}.rule`, rule.given.rule, why));
    }
    if (usesOldSelf === false && rule.given.optionalOldSelf !== undefined) {
      const why = "may not be set if oldSelf is not used in rule";
      causes.push(invalid(`${at}.optionalOldSelf`, rule.given.optionalOldSelf, why));
    }
    return causes;
  });
  const hasKeys = rules.schema["x-kubernetes-list-type"] === "map";
  return [
    ...here,
    ...[...rules.fields].flatMap(([name, below]) => {
      return compileProblems(below, `${path}.properties[${name}]`, uncorrelated);
    }),
    ...compileProblems(rules.others, `${path}.additionalProperties`, uncorrelated),
    ...compileProblems(rules.items, `${path}.items`, uncorrelated ?? (hasKeys ? undefined : path)),
  ];
}

function untyped(path: string): Cause {
  const why =
    "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";
  const message = `Internal error: ${why}`;
  return { reason: "InternalError", field: `${path}.x-kubernetes-validations`, message };
}
