import type { Cause, Resource, Stored } from "../resource.ts";
import { ageColumn, builtIn, column, nameColumn } from "./built-in.ts";
import { forbidden, invalid } from "./causes.ts";
import { sameMap, totalBytes, wrongDataKey } from "./data-map.ts";
import { bytes, flag, mapOf, textMap } from "./fields.ts";
import { mostDataBytes, tooLarge } from "./secret.ts";

interface ConfigMap {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
  immutable?: boolean;
}

/** The kind that holds configuration that anybody may read. */
export const configMap: Resource = builtIn({
  kind: "ConfigMap",
  plural: "configmaps",
  shortNames: ["cm"],
  namespaced: true,
  description: "Configuration, as texts under names.",
  properties: {
    binaryData: mapOf(bytes("One of them."), "Values that are no text, in base64."),
    data: textMap("The texts."),
    immutable: flag("True where the values may never change."),
  },
  columns: [nameColumn, column("Data", countOf), ageColumn],
  strategy: { problems },
});

function countOf(object: Stored): number {
  const { data = {}, binaryData = {} } = object as ConfigMap;
  return Object.keys(data).length + Object.keys(binaryData).length;
}

function problems(object: Stored, old: Stored | undefined): Cause[] {
  const { data = {}, binaryData = {} } = object as ConfigMap;
  const causes: Cause[] = [];
  for (const [field, values] of Object.entries({ data, binaryData })) {
    for (const key of Object.keys(values)) {
      const why = wrongDataKey(key);
      if (why !== undefined) causes.push(invalid(`${field}[${key}]`, key, why));
    }
  }
  for (const key of Object.keys(data)) {
    if (Object.hasOwn(binaryData, key)) {
      causes.push(invalid(`data[${key}]`, key, "binaryData has this key as well"));
    }
  }
  const sizes = [
    ...Object.values(data).map((value) => Buffer.byteLength(value)),
    ...Object.values(binaryData).map((value) => Buffer.byteLength(value, "base64")),
  ];
  if (totalBytes(sizes) > mostDataBytes) causes.push(tooLarge(""));
  return [...causes, ...problemsOfChange(object as ConfigMap, old as ConfigMap | undefined)];
}

function problemsOfChange(now: ConfigMap, old: ConfigMap | undefined): Cause[] {
  if (old?.immutable !== true) return [];
  const frozen = "field is immutable when `immutable` is set";
  const causes: Cause[] = [];
  if (now.immutable !== true) causes.push(forbidden("immutable", frozen));
  if (!sameMap(now.data, old.data)) causes.push(forbidden("data", frozen));
  if (!sameMap(now.binaryData, old.binaryData)) causes.push(forbidden("binaryData", frozen));
  return causes;
}
