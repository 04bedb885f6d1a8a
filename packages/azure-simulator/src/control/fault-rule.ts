import type { JsonObject } from "../state/store.ts";

/** Which requests a rule is about. All that is said must be so; `*` in a text stands for anything, case does not count. */
export interface FaultMatch {
  method?: string;
  /** The full type, such as `Microsoft.Network/privateEndpoints`. */
  type?: string;
  path?: string;
  action?: string;
  /** An object id or an application id. */
  identity?: string;
}

/** What happens to a request that a rule is about. */
export type Effect =
  /** This answer in place of the right one, at once or so much later; nothing is done. */
  | {
      kind: "answer";
      status: number;
      body?: JsonObject;
      headers?: Record<string, string>;
      ms?: number;
    }
  /** A page of HTML, as proxies and gateways send. */
  | { kind: "html"; status?: number }
  /** The connection ends without an answer, at once or so much later; before or after the request took effect. */
  | { kind: "lost"; when: "before" | "after"; ms?: number }
  /** The connection ends in the middle of the answer, after the request took effect. */
  | { kind: "dropped" }
  /** The right answer, later. */
  | { kind: "slow"; ms: number }
  /** The operation that a request begins takes this long, never ends, or fails. */
  | { kind: "operation"; ms?: number; never?: boolean; error?: { code: string; message: string } }
  /** A read sees the world as it was this long ago. */
  | { kind: "stale"; ms: number }
  /** 429 with this wait. */
  | { kind: "throttled"; retryAfterSeconds?: number };

/** A rule: what goes wrong, for whom, and how often. */
export interface FaultRule {
  id?: string;
  match: FaultMatch;
  effect: Effect;
  /** Only the nth request that matches, counted from 1. */
  nth?: number;
  /** At most so many times. */
  count?: number;
  /** How likely, from 0 to 1. */
  probability?: number;
  /** In force for so long from now. */
  forMs?: number;
  /** Seeds its random numbers; the rule's id by default. */
  seed?: string;
}

/** A request, as rules see it. */
export interface Moment {
  method: string;
  path: string;
  type: string;
  action: string;
  objectId: string;
  appId: string;
}

/**
 * Whether a rule is about a request. One that names no path is about Resource Manager only: nobody who wants its
 * answers lost means the sign-in too.
 */
export function matches(match: FaultMatch, moment: Moment): boolean {
  const { method, type, path, action, identity } = match;
  if (moment.action === "" && path === undefined) return false;
  return (
    (method === undefined || method.toUpperCase().split(",").includes(moment.method)) &&
    (type === undefined || alike(type, moment.type)) &&
    (path === undefined || alike(path, moment.path)) &&
    (action === undefined || alike(action, moment.action)) &&
    (identity === undefined || alike(identity, moment.objectId) || alike(identity, moment.appId))
  );
}

/** Whether a text fits a pattern in which `*` stands for anything. It takes one look at the text, whatever the pattern. */
export function alike(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.toLowerCase().split("*");
  const plain = text.toLowerCase();
  const last = rest.pop();
  if (last === undefined) return first === plain;
  if (!plain.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = plain.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return plain.length - last.length >= at && plain.endsWith(last);
}
