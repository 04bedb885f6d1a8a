import type { Asking } from "./exchange.ts";

/** The headers of a request. */
export function composeHeaders(
  { method, options }: Asking,
  body: string | undefined,
  token: string,
  userAgent: string,
  traceId: string | undefined,
): Record<string, string> {
  // Loaded with the first request, so that a process starts sooner.
  const { randomUUID } = process.getBuiltinModule("node:crypto");
  const headers: Record<string, string> = {
    accept: "application/json",
    authorization: `Bearer ${token}`,
    "user-agent": userAgent,
    "x-ms-client-request-id": randomUUID(),
  };
  if (body !== undefined) headers["content-type"] = "application/json";
  if (method !== "GET") headers["content-length"] = String(Buffer.byteLength(body ?? ""));
  if (options.ifMatch !== undefined) headers["if-match"] = options.ifMatch;
  if (options.ifNoneMatch !== undefined) headers["if-none-match"] = options.ifNoneMatch;
  // A ticket at Microsoft and our trace meet in this number.
  if (traceId !== undefined) headers["x-ms-correlation-request-id"] = asUuid(traceId);
  return headers;
}

function asUuid(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
