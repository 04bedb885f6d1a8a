import type { Stored } from "../resource.ts";
import { compare } from "./compare.ts";
import { difference, type FieldSet } from "./field-set.ts";
import type { FieldType } from "./field-type.ts";
import { fieldsOf } from "./fields-of.ts";
import { isMap } from "./refusal.ts";

const annotation = "kubectl.kubernetes.io/last-applied-configuration";

/** Those who apply as this were kubectl before it applied on the server, and go on where it was. */
export const kubectl = "kubectl";

/**
 * The fields that kubectl applied by itself before, and that are still as it said: those it may take over without force.
 */
export function lastApplied(type: FieldType, live: Stored): FieldSet {
  const text = live.metadata.annotations?.[annotation];
  const last = text ? parsed(text) : undefined;
  if (!isMap(last) || last.apiVersion !== live.apiVersion) return {};
  const { added, modified, removed } = compare(type, last, live);
  return [added, modified, removed].reduce(difference, fieldsOf(type, last));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The object, with what is applied now in the annotation of the kubectl of old, where it has one. */
export function withLastApplied(object: Stored, applied: Stored): Stored {
  const { annotations } = object.metadata;
  if (!annotations?.[annotation]) return object;
  const { [annotation]: _, ...others } = applied.metadata?.annotations ?? {};
  const hasOthers = Object.keys(others).length > 0;
  const { annotations: __, ...rest } = applied.metadata ?? {};
  const metadata = { ...rest, ...(hasOthers && { annotations: others }) };
  const text = `${JSON.stringify({ ...applied, metadata })}\n`;
  return {
    ...object,
    metadata: { ...object.metadata, annotations: { ...annotations, [annotation]: text } },
  };
}
