import type { Cause, Schema } from "../resource.ts";
import { invalid, required } from "./causes.ts";
import { type Fields, fieldOf, isFields } from "./plain.ts";

/** What is wrong with objects inside of objects: each says what it is. */
export function embeddedProblems(value: unknown, schema: Schema | undefined, path = ""): Cause[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => {
      return embeddedProblems(item, schema.items, `${path}[${index}]`);
    });
  }
  if (!isFields(value)) return [];
  const here = schema["x-kubernetes-embedded-resource"] === true ? problemsOf(value, path) : [];
  const below = Object.keys(value).flatMap((name) => {
    const own = fieldOf(schema.properties, name);
    if (own) return embeddedProblems(value[name], own, path === "" ? name : `${path}.${name}`);
    const others = schema.additionalProperties;
    if (typeof others !== "object") return [];
    return embeddedProblems(value[name], others, `${path}[${name}]`);
  });
  return [...here, ...below];
}

function problemsOf(object: Fields, path: string): Cause[] {
  return ["apiVersion", "kind"].flatMap((name) => {
    const field = `${path}.${name}`;
    if (!Object.hasOwn(object, name)) return [required(field)];
    const value = object[name];
    if (typeof value !== "string") return [invalid(field, value, "must be a string")];
    if (value === "") return [invalid(field, value, "must not be empty")];
    return name === "kind" ? kindProblems(value, field) : versionProblems(value, field);
  });
}

function versionProblems(version: string, field: string): Cause[] {
  if (version.split("/").length <= 2) return [];
  return [invalid(field, version, `unexpected GroupVersion string: ${version}`)];
}

function kindProblems(kind: string, field: string): Cause[] {
  const label = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
  const lower = kind.toLowerCase();
  if (label.test(lower) && lower.length <= 63) return [];
  const why = label.test(lower)
    ? "must be no more than 63 bytes"
    : "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
  return [invalid(field, kind, `may have mixed case, but should otherwise match: ${why}`)];
}

const metadataFields: ReadonlySet<string> = new Set([
  "annotations",
  "creationTimestamp",
  "deletionGracePeriodSeconds",
  "deletionTimestamp",
  "finalizers",
  "generateName",
  "generation",
  "labels",
  "managedFields",
  "name",
  "namespace",
  "ownerReferences",
  "resourceVersion",
  "selfLink",
  "uid",
]);

/** The metadata of an embedded object without what is not metadata; `unknown` gets the paths. */
export function prunedMetadata(metadata: unknown, path: string, unknown: string[]): unknown {
  if (!isFields(metadata)) return metadata;
  let copy: Fields | undefined;
  for (const name of Object.keys(metadata)) {
    const known = metadataFields.has(name);
    if (known && metadata[name] !== null) continue;
    copy ??= { ...metadata };
    delete copy[name];
    if (!known) unknown.push(`${path}.${name}`);
  }
  return copy ?? metadata;
}
