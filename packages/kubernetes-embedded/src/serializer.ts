import { badRequest, notAcceptable } from "./answers.ts";
import type { Answer, List } from "./call.ts";
import { apiVersionOf, type VersionedObject } from "./conversion.ts";
import type { Resource, Stored } from "./resource.ts";
import { type Form, formOf, mediaTypes } from "./shown/accept.ts";
import { metadataListOf, metadataOf } from "./shown/partial.ts";
import { type Include, includeOf, tableOf } from "./shown/tables.ts";

/** The format in which a client wants objects. */
export interface OutputFormat {
  form: Form;
  yaml: boolean;
  include: Include;
  now: number;
}

/** The output format that a client asks for by its Accept header and query. */
export function negotiateOutput(
  accept: string | undefined,
  query: URLSearchParams,
  now: number,
): OutputFormat {
  const yaml = mediaTypes(accept)[0]?.type === "application/yaml";
  const form = yaml ? ({ as: "object" } as const) : formOf(accept);
  if (!form) throw notAcceptable();
  const include = includeOf(query.get("includeObject"));
  if (!include)
    throw badRequest(`unrecognized includeObject value: "${query.get("includeObject")}"`);
  return { form, yaml, include, now };
}

/** An answer as text. */
export function serialize(answer: Answer, output: OutputFormat): string {
  if ("status" in answer) return JSON.stringify(answer.status);
  if ("document" in answer) return JSON.stringify(answer.document);
  if ("object" in answer) return serializeObject(answer.resource, answer.object, output, true);
  return serializeList(answer.resource, answer.list, output);
}

/** One object. `headers` is false for those of a watch after the first, where tables need none. */
export function serializeObject(
  resource: Resource,
  { object, text }: VersionedObject,
  { form, include, now }: OutputFormat,
  headers: boolean,
): string {
  switch (form.as) {
    case "object":
      return text;
    case "metadata":
      return JSON.stringify(metadataOf(object, form.version));
    case "table": {
      const { resourceVersion } = object.metadata;
      const { version } = form;
      const options = { version, include, now, headers };
      return JSON.stringify(tableOf(resource, [object], { resourceVersion }, options));
    }
  }
}

/** A JSON text in the format that the client asked for. The YAML package is loaded on first use. */
export async function encode(text: string, { yaml }: OutputFormat): Promise<string> {
  if (!yaml) return text;
  const { stringify } = await import("yaml");
  return stringify(JSON.parse(text));
}

/** Items of built-in kinds do not repeat what the list says of them all. */
function withoutKind(resource: Resource, items: readonly VersionedObject[]): string[] {
  const { kind } = resource;
  const begin = `${JSON.stringify({ apiVersion: apiVersionOf(resource), kind }).slice(0, -1)},`;
  return items.map(({ text }) => (text.startsWith(begin) ? `{${text.slice(begin.length)}` : text));
}

function serializeList(
  resource: Resource,
  list: List,
  { form, include, now }: OutputFormat,
): string {
  const { items, ...metadata } = list;
  const objects = (): Stored[] => items.map(({ object }) => object);
  switch (form.as) {
    case "object": {
      const head = { kind: resource.listKind, apiVersion: apiVersionOf(resource), metadata };
      const texts = resource.builtIn ? withoutKind(resource, items) : items.map(({ text }) => text);
      return `${JSON.stringify(head).slice(0, -1)},"items":[${texts.join(",")}]}\n`;
    }
    case "metadata":
      return JSON.stringify(metadataListOf(objects(), metadata, form.version));
    case "table": {
      const options = { version: form.version, include, now, headers: true };
      return JSON.stringify(tableOf(resource, objects(), metadata, options));
    }
  }
}
