import { knownCodes } from "./known-codes.ts";

/** The code and sentence that an error body carries. */
export interface ReportedError {
  code: string;
  detail: string | undefined;
}

interface ParsedError {
  code: string;
  message: string | undefined;
  inner: ParsedError[];
}

/** Codes that only wrap what the details say. */
const wrappers = new Set([
  "BadRequest",
  "Canceled",
  "Conflict",
  "InvalidRequestFormat",
  "PreconditionFailed",
  "RetryableError",
]);

/**
 * What an error body says: the innermost code that tells a person most. ARM puts `RetryableError`
 * over `ReferencedResourceNotProvisioned`, and `Canceled` over the operation that came between.
 * `undefined`: the body is not in ARM's form, whoever wrote it.
 */
export function readErrorBody(answered: unknown): ReportedError | undefined {
  const body = unwrapped(answered);
  const outer = parseError(isObject(body) && isObject(body.error) ? body.error : body, 0);
  if (outer === undefined) return undefined;
  const useful = usefulIn(outer);
  return { code: useful.code, detail: useful.message ?? outer.message };
}

/** DNS throttles with a JSON string that contains JSON (kubernetes-sigs/external-dns#4811). */
function unwrapped(body: unknown): unknown {
  if (typeof body !== "string") return body;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function usefulIn(parsed: ParsedError): ParsedError {
  const known = parsed.inner.map(usefulIn).find(({ code }) => Object.hasOwn(knownCodes, code));
  if (known !== undefined) return known;
  const first = parsed.inner[0];
  return first !== undefined && wrappers.has(parsed.code) ? usefulIn(first) : parsed;
}

function parseError(value: unknown, depth: number): ParsedError | undefined {
  if (!isObject(value) || depth > 4) return undefined;
  const { code, message, details, innererror } = value;
  // A code becomes a condition's reason, so it must be one word as Kubernetes wants it.
  if (typeof code !== "string" || !/^[A-Za-z]\w{0,99}$/.test(code)) return undefined;
  const inner = [...(Array.isArray(details) ? details : []), innererror]
    .map((each) => parseError(each, depth + 1))
    .filter((each) => each !== undefined);
  return { code, message: typeof message === "string" ? message : undefined, inner };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
