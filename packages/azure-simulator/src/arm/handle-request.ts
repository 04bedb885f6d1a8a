import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "@postern/core/clock.ts";
import type { Effect } from "../control/fault-rule.ts";
import type { Faults } from "../control/faults.ts";
import type { LogEntry, RequestLog } from "../control/request-log.ts";
import type { Directory } from "../entra/directory.ts";
import type { Arm } from "./arm.ts";
import { parseBody } from "./body.ts";
import { isDnsOperation } from "./dns-operations.ts";
import type { Operations } from "./operations.ts";
import { Refusal } from "./refusal.ts";
import type { Principal } from "./resource-type.ts";
import type { Routed } from "./routes.ts";
import { type Cost, type Left, providerOf, type Throttle, tooManyRequests } from "./throttle.ts";
import { type Answer, refusalAnswer } from "./wire.ts";

/** The parts that answer requests to Resource Manager. */
export interface ArmHandlerParts {
  arm: Arm;
  /** Resource Manager as it was at a time. */
  armAt(time: number): Arm;
  directory: Directory;
  operations: Operations;
  throttle: Throttle;
  faults: Faults;
  log: RequestLog;
  clock: Clock;
  /** Called with errors that are bugs of the simulator itself. */
  bug?: (error: unknown) => void;
}

/** An answer, and the fault to inject while it is sent. */
export interface Outcome {
  answer: Answer;
  /** Rate limit headers: names, each followed by its value. */
  counters?: readonly string[] | undefined;
  fate?: Effect | undefined;
}

const costs: Readonly<Record<string, Cost>> = { GET: "read", HEAD: "read", DELETE: "delete" };
const noQuery = new URLSearchParams();
/** Most requests have nothing but a version in their query, and there are few versions. Nobody changes what they get. */
const queries = new Map<string, URLSearchParams>();

function queryOf(text: string): URLSearchParams {
  const known = queries.get(text);
  if (known) return known;
  const read = new URLSearchParams(text);
  if (text.length <= 40 && queries.size < 1000) queries.set(text, read);
  return read;
}

/** Answer a request to Resource Manager. Errors become answers too. */
export function handleArmRequest(
  method: string,
  url: string,
  headers: IncomingHttpHeaders,
  body: string | undefined,
  parts: ArmHandlerParts,
): Outcome {
  const { arm, directory, operations, throttle, faults, log, clock } = parts;
  operations.settle();
  const cut = url.indexOf("?");
  const path = cut < 0 ? url : url.slice(0, cut);
  let asker: Principal | undefined;
  let routed: Routed | undefined;
  let counted: Cost | undefined;
  let left: Left | undefined;
  let fate: Effect | undefined;
  let answer: Answer;
  let remaining: readonly string[] | undefined;
  try {
    asker = directory.authenticate(headers.authorization);
    routed = arm.route(method, path);
    if (!faults.none) fate = faults.strike(momentOf(method, path, asker, routed));
    const injected = fate && injectedAnswer(fate, asker, routed);
    if (injected) answer = injected;
    else {
      const { subscription } = routed.address;
      // An unknown subscription has no limit, and must not be remembered.
      if (subscription !== undefined && directory.tenantOf(subscription.toLowerCase())) {
        counted = costs[method] ?? "write";
        const provider = providerOf(routed);
        left = throttle.take(asker.objectId, subscription.toLowerCase(), counted, provider);
      }
      const stale = fate?.kind === "stale" && counted === "read" ? fate.ms : undefined;
      answer = (stale === undefined ? arm : parts.armAt(clock.now() - stale)).answer(
        {
          method,
          path,
          query: cut < 0 ? noQuery : queryOf(url.slice(cut + 1)),
          ifMatch: headers["if-match"],
          ifNoneMatch: headers["if-none-match"],
          body: parseBody(body),
          asker,
        },
        routed,
      );
      if (left && counted) remaining = countersOf(routed, counted, left);
    }
  } catch (error) {
    answer = errorAnswer(error, parts);
    // The front door sends no counters with a refusal, the providers behind it do.
    const provider = error instanceof Refusal && error.by !== "gateway";
    if (provider && routed && counted && left) remaining = countersOf(routed, counted, left);
  }
  faults.settled();
  const entry: LogEntry = {
    sequence: log.count(),
    at: clock.now(),
    method,
    path,
    query: cut < 0 ? "" : url.slice(cut + 1),
    status: fate?.kind === "lost" ? 0 : answer.status,
    identity: asker?.objectId ?? "",
    action: routed?.action ?? "",
    cost: counted ?? "none",
  };
  const ifMatch = headers["if-match"];
  const clientRequestId = headers["x-ms-client-request-id"];
  if (ifMatch !== undefined) entry.ifMatch = ifMatch;
  if (typeof clientRequestId === "string") entry.clientRequestId = clientRequestId;
  if (headers["user-agent"] !== undefined) entry.userAgent = headers["user-agent"];
  if (fate) entry.fault = fate.kind;
  log.add(entry);
  return { answer, counters: remaining, fate };
}

/** An error as an answer: a refusal as it is, anything else as an internal server error. */
export function errorAnswer(error: unknown, parts: Pick<ArmHandlerParts, "bug">): Answer {
  if (error instanceof Refusal) return refusalAnswer(error);
  parts.bug?.(error);
  return refusalAnswer(
    new Refusal(500, "InternalServerError", "The simulator met an error of its own.", {
      by: "gateway",
    }),
  );
}

function momentOf(method: string, path: string, asker: Principal, routed: Routed) {
  return {
    method,
    path,
    type: routed.type?.type ?? routed.address.type,
    action: routed.action,
    objectId: asker.objectId,
    appId: asker.appId,
  };
}

/** The injected answer to a request that is not for Resource Manager, usually a sign-in; undefined without a fault. */
export function injectNonArmFault(
  method: string,
  url: string,
  { faults }: Pick<ArmHandlerParts, "faults">,
): Outcome | undefined {
  const [path = ""] = url.split("?", 1);
  const fate = faults.strike({ method, path, type: "", action: "", objectId: "", appId: "" });
  faults.settled();
  switch (fate?.kind) {
    case "throttled": {
      const headers = { "Retry-After": String(fate.retryAfterSeconds ?? 10) };
      return { answer: { status: 429, headers, body: { error: "temporarily_unavailable" } } };
    }
    case "answer": {
      const { status, headers, body } = fate;
      return { answer: { status, headers: { ...headers }, body }, fate };
    }
    case "html":
      return { answer: htmlPage(fate.status) };
    case "lost":
      return { answer: { status: 0, headers: {} }, fate };
    case "dropped":
      return { answer: { status: 0, headers: {} }, fate: { kind: "lost", when: "before" } };
    case "slow":
    case "operation":
    case "stale":
    case undefined:
      return undefined;
  }
}

function htmlPage(status = 502): Answer {
  return {
    status,
    headers: { "Content-Type": "text/html" },
    raw: "<html><head><title>Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>",
  };
}

/** The injected answer of a fault that replaces the request's own; undefined where the request is still done. */
function injectedAnswer(fate: Effect, asker: Principal, routed: Routed): Answer | undefined {
  switch (fate.kind) {
    case "answer":
      return { status: fate.status, headers: { ...fate.headers }, body: fate.body };
    case "html":
      return htmlPage(fate.status);
    case "throttled": {
      const { subscription = "" } = routed.address;
      const seconds = fate.retryAfterSeconds ?? 10;
      return refusalAnswer(tooManyRequests("all", subscription, asker.objectId, 0, seconds));
    }
    case "lost":
      return fate.when === "before" ? { status: 0, headers: {} } : undefined;
    case "dropped":
    case "slow":
    case "operation":
    case "stale":
      return undefined;
  }
}

const counters = {
  read: [
    "x-ms-ratelimit-remaining-subscription-reads",
    "X-Ms-Ratelimit-Remaining-Subscription-Global-Reads",
  ],
  write: [
    "x-ms-ratelimit-remaining-subscription-writes",
    "X-Ms-Ratelimit-Remaining-Subscription-Global-Writes",
  ],
  delete: [
    "x-ms-ratelimit-remaining-subscription-deletes",
    "X-Ms-Ratelimit-Remaining-Subscription-Global-Deletes",
  ],
} as const;

function countersOf({ type, address }: Routed, cost: Cost, left: Left): readonly string[] {
  const [own, global] = counters[cost];
  // Where a service has a limit of its own, Resource Manager sends what is left of that in place of the other counters.
  if (left.dnsReads !== undefined)
    return ["x-ms-ratelimit-remaining-subscription-resource-requests", String(left.dnsReads)];
  // Private DNS answers were recorded without the subscription-wide counter.
  if (type?.dialect === "privateDns" || isDnsOperation(address.key)) return [own, String(left.own)];
  return [own, String(left.own), global, String(left.global)];
}
