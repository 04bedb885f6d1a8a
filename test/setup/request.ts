import type { IncomingHttpHeaders } from "node:http";
import { type Agent, request } from "node:https";

/** An API server as a client needs to know it. */
export interface Server {
  url: string;
  ca: string;
}

export interface RequestOptions {
  token?: string;
  contentType?: string;
  /** JSON where nothing else is said. */
  accept?: string;
  /** More headers. */
  headers?: Record<string, string>;
  agent?: Agent;
}

/** An answer of the API server; `body` is parsed where it is JSON and text where it is not. */
export interface Answer<T> {
  status: number;
  headers: IncomingHttpHeaders;
  body: T;
}

/**
 * Sends one request and reads the whole answer. This is on purpose not the client of `packages/postern/src/kube`:
 * a test that looks at the world must not look through the code that it tests.
 */
export function send<T>(
  server: Server,
  method: string,
  path: string,
  body?: unknown,
  options: RequestOptions = {},
): Promise<Answer<T>> {
  const payload = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  const headers: Record<string, string | number> = {
    accept: options.accept ?? "application/json",
    ...options.headers,
  };
  if (options.token !== undefined) headers.authorization = `Bearer ${options.token}`;
  if (payload !== undefined) {
    headers["content-type"] = options.contentType ?? defaultContentType(method);
    headers["content-length"] = Buffer.byteLength(payload);
  }
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(path, server.url),
      { method, headers, ca: server.ca, ...(options.agent && { agent: options.agent }) },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          const { statusCode: status = 0, headers } = incoming;
          resolve({ status, headers, body: parsed(text) as T });
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(payload);
  });
}

function defaultContentType(method: string): string {
  return method === "PATCH" ? "application/merge-patch+json" : "application/json";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
