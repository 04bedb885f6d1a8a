import type { Explained, Failure } from "@postern/core/failure.ts";
import type { Cause, Resource } from "./resource.ts";

/** What the API says where it has no object to show. */
export interface Status {
  kind: "Status";
  apiVersion: "v1";
  metadata: Record<string, never>;
  status: "Success" | "Failure";
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

/** What an answer is about. */
export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: (Omit<Cause, "field"> & { field?: string })[];
  retryAfterSeconds?: number;
}

/** A request that is not granted. It is thrown wherever that is found out, and sent as the Status that it carries. */
export class Refused extends Error implements Explained {
  override readonly name = "Refused";
  readonly status: Status;
  readonly code: number;

  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message);
    this.code = code;
    this.status = {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      // Some refusals of kube-apiserver have no reason, and then it is left out.
      ...(reason !== "" && { reason }),
      ...(details && { details }),
      code,
    };
  }

  explain(): Failure {
    return { reason: this.status.reason ?? "Refused", message: this.message, terminal: true };
  }
}

/** What an answer is about, by the name of its resource. */
export interface About {
  group: string;
  plural: string;
}

/** `widgets.example.com`, as messages name a resource. */
export function qualified({ group, plural }: About): string {
  return group === "" ? plural : `${plural}.${group}`;
}

function detailsOf(about: About, name: string): StatusDetails {
  return { name, ...(about.group !== "" && { group: about.group }), kind: about.plural };
}

/** There is no such object. */
export function notFound(about: About, name: string): Refused {
  const message = `${qualified(about)} "${name}" not found`;
  return new Refused(404, "NotFound", message, detailsOf(about, name));
}

/** There is no such path. */
export function noSuchPath(): Refused {
  return new Refused(404, "NotFound", "the server could not find the requested resource", {});
}

/** There is such an object already. */
export function alreadyExists(about: About, name: string, going = false): Refused {
  const before = going ? "object is being deleted: " : "";
  const message = `${before}${qualified(about)} "${name}" already exists`;
  return new Refused(409, "AlreadyExists", message, detailsOf(about, name));
}

/** The object is not as the one who writes believes. */
export function conflict(about: About, name: string, why: string): Refused {
  const message = `Operation cannot be fulfilled on ${qualified(about)} "${name}": ${why}`;
  return new Refused(409, "Conflict", message, detailsOf(about, name));
}

/** The object was written since it was read. */
export function modified(about: About, name: string): Refused {
  const why =
    "the object has been modified; please apply your changes to the latest version and try again";
  return conflict(about, name, why);
}

/** The request itself makes no sense. */
export function badRequest(message: string): Refused {
  return new Refused(400, "BadRequest", message);
}

/** It may not be done, whoever asks. */
export function forbidden(about: About, name: string, why: string, causes?: Cause[]): Refused {
  const message = `${qualified(about)} "${name}" is forbidden: ${why}`;
  return new Refused(403, "Forbidden", message, {
    ...detailsOf(about, name),
    ...(causes && { causes }),
  });
}

/** There are fields that are wrong. The kind is that of the object, or that of options. */
export function invalid(
  about: { group: string; kind: string },
  name: string,
  causes: readonly Cause[],
): Refused {
  const { group, kind } = about;
  // One that is found twice is told once.
  const told = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const all = told.length === 1 ? told[0] : `[${told.join(", ")}]`;
  const subject = group === "" ? kind : `${kind}.${group}`;
  return new Refused(422, "Invalid", `${subject} "${name}" is invalid: ${all}`, {
    ...(name !== "" && { name }),
    ...(group !== "" && { group }),
    kind,
    causes: causes.map(({ reason, message, field }) => ({ reason, message, field })),
  });
}

/** Options of a request are wrong. */
export function invalidOptions(kind: string, causes: readonly Cause[]): Refused {
  return invalid({ group: "meta.k8s.io", kind }, "", causes);
}

/** The verb is not for this resource. */
export function methodNotAllowed(): Refused {
  const message = "the server does not allow this method on the requested resource";
  return new Refused(405, "MethodNotAllowed", message, {});
}

/** The body is in a form that is not read. */
export function unsupportedMediaType(known: readonly string[]): Refused {
  const message = `the body of the request was in an unknown format - accepted media types include: ${known.join(", ")}`;
  return new Refused(415, "UnsupportedMediaType", message);
}

/** The answer cannot be given in a form that is asked for. */
export function notAcceptable(): Refused {
  const message =
    "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml";
  return new Refused(406, "NotAcceptable", message, {});
}

/** What is asked for was known once, and is not any more. */
export function expired(message: string): Refused {
  return new Refused(410, "Expired", message);
}

/** Nobody knows the one who asks. */
export function unauthorized(): Refused {
  return new Refused(401, "Unauthorized", "Unauthorized");
}

/** A time that has not come yet. */
export function tooLarge(asked: number, current: number): Refused {
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  return new Refused(504, "Timeout", message, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

/** Something is wrong on this side. */
export function internal(message: string): Refused {
  return new Refused(500, "InternalError", `Internal error occurred: ${message}`);
}

/** An object that is gone. */
export function deleted(resource: Resource, name: string, uid: string): Status {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { ...detailsOf(resource, name), uid },
  };
}
