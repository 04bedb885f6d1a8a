import type { IncomingHttpHeaders } from "node:http";
import { readErrorBody } from "./error-body.ts";
import { AzureError } from "./errors.ts";
import { retryAfterMs } from "./retry-after.ts";
import type { Broken, Received } from "./transport.ts";

/** An answer of Resource Manager that is a success. */
export interface ArmAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** `undefined` when it is empty. */
  body: unknown;
}

/** What was asked, as far as an error must tell of it. */
export interface RequestInfo {
  what: string;
  write: boolean;
  now: number;
}

/** Read a whole answer: a success, or the error that a person can understand. */
export function readAnswer(received: Received, request: RequestInfo): ArmAnswer | AzureError {
  const { status, headers } = received;
  const body = readJson(received);
  if (status >= 200 && status < 300)
    return body === unreadable
      ? failure("UnreadableAnswer", received, request)
      : { status, headers, body };
  if (status < 400) return failure("RedirectRefused", received, request);
  // Whatever is not in ARM's form was not said by ARM. A proxy's 404 must not look like an absent resource.
  const parsed = body === unreadable ? undefined : readErrorBody(body);
  return failure(parsed?.code ?? "UnreadableAnswer", received, request, parsed?.detail);
}

/** The error of an answer that never came, or not whole. */
export function readBroken({ broken, cause }: Broken, { what, write }: RequestInfo): AzureError {
  return new AzureError({ code: codeOf(broken, write), what, cause });
}

function codeOf(broken: Broken["broken"], write: boolean): string {
  switch (broken) {
    case "stopped":
      return "Cancelled";
    case "withdrawn":
      return "NotLeader";
    case "unsent":
      return "Unreachable";
    case "lost":
      return write ? "AnswerLost" : "Unreachable";
    case "cut":
      return write ? "AnswerLost" : "UnreadableAnswer";
    case "timedOut":
      return write ? "AnswerLost" : "TimedOut";
  }
}

function failure(
  code: string,
  { status, headers }: Received,
  { what, now }: RequestInfo,
  detail?: string,
): AzureError {
  return new AzureError({
    code,
    what,
    detail,
    status,
    retryAfterMs: retryAfterMs(headers["retry-after"], now),
    requestId: headerOf(headers, "x-ms-request-id"),
    correlationId: headerOf(headers, "x-ms-correlation-request-id"),
  });
}

const unreadable = Symbol("unreadable");

function readJson({ headers, text }: Received): unknown {
  if (text.trim() === "") return undefined;
  if (!/\bjson\b/i.test(headers["content-type"] ?? "")) return unreadable;
  try {
    return JSON.parse(text);
  } catch {
    return unreadable;
  }
}

/** One header of an answer; of one that was sent twice, nothing. */
export function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}
