import type { IncomingMessage } from "node:http";
import { badRequest, Refused, unsupportedMediaType } from "./answers.ts";
import type { Call } from "./call.ts";
import { apiVersionOf } from "./conversion.ts";
import { duplicateFields } from "./duplicates.ts";
import { objectOfProtobuf, protobufType } from "./protobuf/object.ts";
import type { Resource, Stored } from "./resource.ts";

const mostBytes = 3 * 1024 * 1024;

/** The body of a request; one that is too large is refused. */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= mostBytes) chunks.push(chunk);
    });
    request.on("error", reject);
    request.on("aborted", () => reject(badRequest("the request was broken off")));
    request.on("end", () => {
      if (length > mostBytes) reject(tooLarge());
      else resolve(Buffer.concat(chunks));
    });
  });
}

function tooLarge(): Refused {
  const message = `Request entity too large: limit is ${mostBytes}`;
  return new Refused(413, "RequestEntityTooLarge", message, {});
}

/** What a body of Go's typed clients says. They send built-in kinds in no other form, and ask for nothing else. */
export function parseProtobuf(bytes: Buffer): unknown {
  let object: unknown;
  try {
    object = objectOfProtobuf(bytes);
  } catch (error) {
    return error as Error;
  }
  if (object === undefined) throw unsupportedMediaType(["application/json", "application/yaml"]);
  return object;
}

/** What a body says. YAML is read by a package that is loaded only when somebody sends it: JSON is YAML too. */
export async function parseBody(text: string, contentType: string): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!contentType.includes("yaml")) return error as SyntaxError;
  }
  const { parse } = await import("yaml");
  try {
    // Its warnings would go to standard error, and quote the text.
    return parse(text, { logLevel: "error" });
  } catch (error) {
    return error as Error;
  }
}

/** The fields that a body names twice. */
export function duplicatesIn({ text, body }: Call): string[] {
  const isJson = text.startsWith("{") && !(body instanceof Error);
  return isJson ? duplicateFields(text) : [];
}

/** The object that was sent to be created or to replace another: of the kind that belongs there. */
export function objectIn({ body, text, contentType, resource }: Call): Stored {
  if (contentType !== protobufType && !/^($|application\/(json|yaml)$)/.test(contentType))
    throw unsupportedMediaType(["application/json", "application/yaml"]);
  const unrecognized = (why: string) =>
    badRequest(
      `the object provided is unrecognized (must be of type ${resource.kind}): ${why} (${begin(text)})`,
    );
  if (body instanceof Error)
    throw unrecognized(`couldn't get version/kind; json parse error: ${body.message}`);
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw unrecognized("couldn't get version/kind; json parse error: it is not an object");
  return typed(body as Partial<Stored>, resource, unrecognized);
}

function typed(
  body: Partial<Stored>,
  resource: Resource,
  unrecognized: (why: string) => Error,
): Stored {
  const { kind: expected, version } = resource;
  const wanted = apiVersionOf(resource);
  const { apiVersion, kind, metadata, ...rest } = body;
  // What a built-in is can be told from the path; what a custom resource is has to be said.
  if (!resource.builtIn && !kind)
    throw unrecognized(`Object 'Kind' is missing in '${JSON.stringify(body)}'`);
  if (!resource.builtIn && !apiVersion)
    throw unrecognized(`Object 'apiVersion' is missing in '${JSON.stringify(body)}'`);
  if (apiVersion && apiVersion !== wanted)
    throw badRequest(
      resource.builtIn
        ? `${kind ?? expected} in version "${apiVersion}" cannot be handled as a ${expected}: no kind "${kind ?? expected}" is registered for version "${apiVersion}"`
        : `the API version in the data (${apiVersion}) does not match the expected API version (${wanted})`,
    );
  if (resource.builtIn && kind && kind !== expected)
    throw badRequest(
      `${kind} in version "${version}" cannot be handled as a ${expected}: it is another kind`,
    );
  if (
    metadata !== undefined &&
    metadata !== null &&
    (typeof metadata !== "object" || Array.isArray(metadata))
  )
    throw badRequest(
      `${expected} in version "${version}" cannot be handled as a ${expected}: metadata is not an object`,
    );
  const unfit = unfitMetadata(metadata ?? {});
  if (unfit !== undefined)
    throw badRequest(
      `${expected} in version "${version}" cannot be handled as a ${expected}: ${unfit}`,
    );
  // In this order, so that all texts of objects begin alike.
  const told = { apiVersion: wanted, kind: kind || expected, metadata: { ...metadata }, ...rest };
  return told as Stored;
}

const texts = [
  "name",
  "generateName",
  "namespace",
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "deletionTimestamp",
];

/** Why metadata cannot be read, whatever the kind; undefined where it can. */
export function unfitMetadata(metadata: object): string | undefined {
  const fields = metadata as Record<string, unknown>;
  const isText = (value: unknown) => typeof value === "string";
  const absent = (value: unknown) => value === undefined || value === null;
  const isMap = (value: unknown) => typeof value === "object" && !Array.isArray(value);
  const wrong =
    texts.find((name) => !absent(fields[name]) && !isText(fields[name])) ??
    ["labels", "annotations"].find((name) => {
      const map = fields[name];
      if (absent(map)) return false;
      return (
        !isMap(map) || !Object.values(map as object).every((each) => isText(each) || each === null)
      );
    }) ??
    ["finalizers", "ownerReferences", "managedFields"].find(
      (name) => !absent(fields[name]) && !Array.isArray(fields[name]),
    );
  return wrong === undefined ? undefined : `metadata.${wrong} is of another type`;
}

function begin(text: string): string {
  return text.length > 1024
    ? `${text.slice(0, 1024)} [truncated ${text.length - 1024} chars]`
    : text;
}
