import type { IncomingMessage, ServerResponse } from "node:http";
import { gzip } from "node:zlib";
import type { Refused } from "./answers.ts";
import type { Answer } from "./call.ts";
import type { Page } from "./pages.ts";

/** Answers of this size are compressed for those who ask for it, as kube-apiserver does. */
const worthCompressing = 128 * 1024;

/** Sends answers. */
export class Sender {
  send(
    request: IncomingMessage,
    response: ServerResponse,
    answer: Answer,
    text: string,
    contentType = "application/json",
  ): void {
    if (answer.warnings?.length) response.setHeader("warning", answer.warnings.map(warning));
    this.#write(request, response, answer.code, contentType, text);
  }

  refuse(request: IncomingMessage, response: ServerResponse, { code, status }: Refused): void {
    const { retryAfterSeconds } = status.details ?? {};
    if (retryAfterSeconds !== undefined) response.setHeader("retry-after", retryAfterSeconds);
    if (code === 413) response.setHeader("connection", "close");
    this.#write(request, response, code, "application/json", JSON.stringify(status));
  }

  /** A document that is no object: discovery, health. */
  page(request: IncomingMessage, response: ServerResponse, page: Page | undefined): void {
    if (!page) {
      this.#write(request, response, 404, "text/plain; charset=utf-8", "404 page not found\n");
      return;
    }
    const { code = 200, contentType, text, etag, headers = {} } = page;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (etag !== undefined) {
      response.setHeader("etag", etag);
      response.setHeader("vary", "Accept");
      if (request.headers["if-none-match"] === etag) {
        response.writeHead(304).end();
        return;
      }
    }
    this.#write(request, response, code, contentType, text);
  }

  #write(
    request: IncomingMessage,
    response: ServerResponse,
    code: number,
    contentType: string,
    text: string,
  ): void {
    const headers: Record<string, string> = { "content-type": contentType };
    if (!response.hasHeader("cache-control")) headers["cache-control"] = "no-cache, private";
    if (text.length > worthCompressing && acceptsGzip(request)) {
      // The fastest level: this is for a machine's own loopback.
      gzip(text, { level: 1 }, (error, packed) => {
        if (error) {
          response.destroy(error);
          return;
        }
        const length = { "content-encoding": "gzip", "content-length": packed.length };
        response.writeHead(code, { ...headers, ...length, vary: "Accept-Encoding" }).end(packed);
      });
      return;
    }
    const bytes = Buffer.from(text);
    response.writeHead(code, { ...headers, "content-length": bytes.length }).end(bytes);
  }
}

function acceptsGzip(request: IncomingMessage): boolean {
  return /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
}

/** A header takes no letters beyond those of Latin 1. */
function warning(text: string): string {
  return `299 - ${JSON.stringify(text).replace(/[^\x20-\xff]/g, "?")}`;
}
