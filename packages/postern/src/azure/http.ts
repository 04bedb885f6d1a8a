/**
 * Node's HTTP client and server. An import of `node:http` reads every name that it exports, and one of them loads a second
 * HTTP client behind the back: a third more memory and twice the time to start, for nothing.
 */
export const http = process.getBuiltinModule("node:http");
/** The same over TLS, loaded when it is first needed: it costs as much again, and the metadata service has none. */
export function https(): typeof import("node:https") {
  return process.getBuiltinModule("node:https");
}
