import { badRequest, notAcceptable } from "./answers.ts";
import type { Answer, List } from "./call.ts";
import type { Resource, Stored } from "./resource.ts";
import { apiVersionOf, type Seen } from "./seen.ts";
import { type Form, formOf, mediaTypes } from "./shown/accept.ts";
import { metadataListOf, metadataOf } from "./shown/partial.ts";
import { type Include, includeOf, tableOf } from "./shown/tables.ts";

/** How a client wants objects written. */
export interface Writing {
  form: Form;
  yaml: boolean;
  include: Include;
  now: number;
}

/** How the one who asks wants objects written. */
export function writingFor(
  accept: string | undefined,
  query: URLSearchParams,
  now: number,
): Writing {
  const yaml = mediaTypes(accept)[0]?.type === "application/yaml";
  const form = yaml ? ({ as: "object" } as const) : formOf(accept);
  if (!form) throw notAcceptable();
  const include = includeOf(query.get("includeObject"));
  if (!include)
    throw badRequest(`unrecognized includeObject value: "${query.get("includeObject")}"`);
  return { form, yaml, include, now };
}

/** An answer as text. */
export function written(answer: Answer, writing: Writing): string {
  if ("status" in answer) return JSON.stringify(answer.status);
  if ("document" in answer) return JSON.stringify(answer.document);
  if ("object" in answer) return writtenObject(answer.resource, answer.object, writing, true);
  return writtenList(answer.resource, answer.list, writing);
}

/** One object. `headers` is false for those of a watch after the first, where tables need none. */
export function writtenObject(
  resource: Resource,
  { object, text }: Seen,
  { form, include, now }: Writing,
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

/** A text of JSON in the form that the client asked for. The package for YAML is loaded when somebody does. */
export async function inForm(text: string, { yaml }: Writing): Promise<string> {
  if (!yaml) return text;
  const { stringify } = await import("yaml");
  return stringify(JSON.parse(text));
}

/** Items of built-in kinds do not repeat what the list says of them all. */
function withoutKind(resource: Resource, items: readonly Seen[]): string[] {
  const { kind } = resource;
  const begin = `${JSON.stringify({ apiVersion: apiVersionOf(resource), kind }).slice(0, -1)},`;
  return items.map(({ text }) => (text.startsWith(begin) ? `{${text.slice(begin.length)}` : text));
}

function writtenList(resource: Resource, list: List, { form, include, now }: Writing): string {
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
