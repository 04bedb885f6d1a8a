import { badRequest, notAcceptable } from "./answers.ts";
import type { Answer, List } from "./call.ts";
import type { Resource, Stored } from "./resource.ts";
import { apiVersionOf, type Seen } from "./seen.ts";
import { type Form, formOf } from "./shown/accept.ts";
import { metadataListOf, metadataOf } from "./shown/partial.ts";
import { type Include, includeOf, tableOf } from "./shown/tables.ts";

/** How a client wants objects written. */
export interface Writing {
  form: Form;
  include: Include;
  now: number;
}

/** How the one who asks wants objects written. */
export function writingFor(
  accept: string | undefined,
  query: URLSearchParams,
  now: number,
): Writing {
  const form = formOf(accept);
  if (!form) throw notAcceptable();
  const include = includeOf(query.get("includeObject"));
  if (!include)
    throw badRequest(`unrecognized includeObject value: "${query.get("includeObject")}"`);
  return { form, include, now };
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

function writtenList(resource: Resource, list: List, { form, include, now }: Writing): string {
  const { items, ...metadata } = list;
  const objects = (): Stored[] => items.map(({ object }) => object);
  switch (form.as) {
    case "object": {
      const head = { kind: resource.listKind, apiVersion: apiVersionOf(resource), metadata };
      const texts = items.map(({ text }) => text);
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
