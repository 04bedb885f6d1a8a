import { validateHeaderName, validateHeaderValue } from "node:http";
import { Refusal } from "../arm/refusal.ts";
import { limitNames, type ThrottleLimits } from "../arm/throttle.ts";
import type { JsonObject } from "../state/store.ts";
import type { Effect, FaultMatch, FaultRule } from "./fault-rule.ts";

type Kind = "text" | "number" | "flag" | "object" | "texts";

/** Read a rule. What is not known is refused, because a mistyped word would make a rule that never strikes. */
export function readFault(from: JsonObject): FaultRule {
  const fields = read(from, "", {
    id: "text",
    match: "object",
    effect: "object",
    nth: "number",
    count: "number",
    probability: "number",
    forMs: "number",
    seed: "text",
  });
  if (fields.effect === undefined) throw wrong("effect", "must be given");
  const { probability, nth, count } = fields;
  if (typeof probability === "number" && (probability < 0 || probability > 1))
    throw wrong("probability", "must be from 0 to 1");
  if (typeof nth === "number" && nth < 1) throw wrong("nth", "is counted from 1");
  if (typeof count === "number" && count < 1) throw wrong("count", "must be at least 1");
  const match = read((fields.match ?? {}) as JsonObject, "match.", {
    method: "text",
    type: "text",
    path: "text",
    action: "text",
    identity: "text",
  }) as FaultMatch;
  return { ...fields, match, effect: readEffect(fields.effect as JsonObject) } as FaultRule;
}

const effects: Record<Effect["kind"], Record<string, Kind>> = {
  answer: { status: "number", body: "object", headers: "texts", ms: "number" },
  html: { status: "number" },
  lost: { when: "text", ms: "number" },
  dropped: {},
  slow: { ms: "number" },
  operation: { ms: "number", never: "flag", error: "object" },
  stale: { ms: "number" },
  throttled: { retryAfterSeconds: "number" },
};

function readEffect(from: JsonObject): Effect {
  const { kind } = from;
  if (typeof kind !== "string" || !Object.hasOwn(effects, kind))
    throw wrong("effect.kind", `must be one of ${Object.keys(effects).join(", ")}`);
  const known = effects[kind as Effect["kind"]];
  const effect = read(from, "effect.", { kind: "text", ...known });
  const { status } = effect;
  const bad =
    typeof status === "number" && !(Number.isInteger(status) && status >= 200 && status <= 599);
  if ((kind === "answer" && status === undefined) || bad)
    throw wrong("effect.status", "must be a whole number from 200 to 599");
  checkHeaders((effect.headers ?? {}) as Record<string, string>);
  if ((kind === "slow" || kind === "stale") && effect.ms === undefined)
    throw wrong("effect.ms", "must be given");
  if (kind === "lost" && effect.when !== "before" && effect.when !== "after")
    throw wrong("effect.when", "must be before or after");
  if (effect.error !== undefined) {
    const error = read(effect.error as JsonObject, "effect.error.", {
      code: "text",
      message: "text",
    });
    if (error.code === undefined || error.message === undefined)
      throw wrong("effect.error", "must have a code and a message");
  }
  return effect as unknown as Effect;
}

/** A header that cannot be sent would end the process when the rule strikes. */
function checkHeaders(headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (/^(content-length|transfer-encoding)$/i.test(name))
      throw wrong(`effect.headers.${name}`, "follows from the body");
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      throw wrong(`effect.headers.${name}`, "cannot be sent as a header");
    }
  }
}

/** Read limits; those that are not named stay. */
export function readLimits(from: JsonObject): Partial<ThrottleLimits> {
  const given = read(from, "", Object.fromEntries(limitNames.map((name) => [name, "object"])));
  const limits: Partial<ThrottleLimits> = {};
  for (const name of limitNames) {
    if (given[name] === undefined) continue;
    const { burst, perSecond } = read(given[name] as JsonObject, `${name}.`, {
      burst: "number",
      perSecond: "number",
    });
    if (typeof burst !== "number" || burst < 1) throw wrong(`${name}.burst`, "must be at least 1");
    if (typeof perSecond !== "number" || perSecond <= 0)
      throw wrong(`${name}.perSecond`, "must be more than 0");
    limits[name] = { burst, perSecond };
  }
  return limits;
}

/** The fields of an object, each of its kind; others are refused by name. */
export function read(from: JsonObject, at: string, known: Record<string, Kind>): JsonObject {
  const made: JsonObject = {};
  for (const [name, value] of Object.entries(from)) {
    const kind = Object.hasOwn(known, name) ? known[name] : undefined;
    if (kind === undefined)
      throw wrong(`${at}${name}`, `is not known here; known are ${Object.keys(known).join(", ")}`);
    if (value === undefined || value === null) continue;
    if (!isOf(value, kind)) throw wrong(`${at}${name}`, `must be ${spoken[kind]}`);
    made[name] = value;
  }
  return made;
}

const spoken: Record<Kind, string> = {
  text: "a string",
  number: "a number",
  flag: "true or false",
  object: "an object",
  texts: "an object of strings",
};

function isOf(value: unknown, kind: Kind): boolean {
  const object = typeof value === "object" && value !== null && !Array.isArray(value);
  switch (kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "flag":
      return typeof value === "boolean";
    case "object":
      return object;
    case "texts":
      return object && Object.values(value).every((each) => typeof each === "string");
  }
}

/** A refusal of the control API. */
export function wrong(name: string, why: string): Refusal {
  return new Refusal(400, "InvalidControlRequest", `'${name}' ${why}.`, { by: "gateway" });
}
