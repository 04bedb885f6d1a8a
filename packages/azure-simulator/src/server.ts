import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { isLoopback } from "@postern/core/test-bed/loopback.ts";
import { TestBedError } from "@postern/core/test-bed/test-bed-error.ts";
import { readBody } from "./arm/body.ts";
import {
  type ArmHandlerParts,
  errorAnswer,
  handleArmRequest,
  injectNonArmFault,
} from "./arm/handle-request.ts";
import { Refusal } from "./arm/refusal.ts";
import type { Traffic } from "./control/traffic.ts";
import { Sender, type Sent } from "./send.ts";

/** What answers under paths of its own, before Resource Manager gets to see a request. */
export interface Pages {
  /** True where the request is answered or will be. */
  take(
    request: IncomingMessage,
    response: ServerResponse,
    listener: { loopback: boolean },
  ): boolean;
}

/** All that a server hands requests to. */
export interface Parts extends ArmHandlerParts {
  pages: readonly Pages[];
  traffic: Traffic;
  /** Calls back when all changes are in the state file; at once where there is none. */
  whenPersisted(then: () => void): void;
  /** Told of every answer of Resource Manager. */
  answered?: (sent: Sent) => void;
}

/** Where to serve, and how patiently. */
export interface Listen {
  host: string;
  port: number;
  /** The name of this machine in addresses that answers give; the address that is listened on where nothing is said. */
  publicHost?: string;
  /** How long a request may take to arrive. */
  arriveMs?: number;
  /** Serve over TLS with this certificate and key. */
  tls?: { cert: string; key: string };
}

/** A server that answers. */
export interface Listening {
  url: string;
  close(): Promise<void>;
}

const patienceMs = 30_000;

/** Serve on an address. */
export async function listen(parts: Parts, where: Listen): Promise<Listening> {
  const sender = new Sender(parts.clock, parts.traffic, parts.answered);
  const listener = { loopback: isLoopback(where.host) };
  const arriveMs = where.arriveMs ?? patienceMs;
  const patience = {
    keepAliveTimeout: 60_000,
    // Someone who sends a byte now and then must not hold a connection for ever.
    headersTimeout: arriveMs,
    requestTimeout: arriveMs,
    connectionsCheckingInterval: Math.min(5000, arriveMs),
  };
  const take = (request: IncomingMessage, response: ServerResponse) =>
    receive(request, response, parts, sender, listener);
  const server = where.tls
    ? createTlsServer({ ...patience, ...where.tls }, take)
    : createServer(patience, take);
  server.on("clientError", refuseGarbage);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(whyNotListening(error, where)));
    server.listen(where.port, where.host, resolve);
  });
  const { address, port, family } = server.address() as AddressInfo;
  // Nobody can ask for "any address": those who are here can ask for loopback.
  const own = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  const host = where.publicHost ?? (family === "IPv6" ? `[${own}]` : own);
  return {
    url: `${where.tls ? "https" : "http"}://${host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function receive(
  request: IncomingMessage,
  response: ServerResponse,
  parts: Parts,
  sender: Sender,
  listener: { loopback: boolean },
): void {
  // The date is the simulator's, which need not be this machine's.
  response.sendDate = false;
  // A broken connection leaves nobody to report it to.
  response.on("error", ignore);
  const { method = "GET", url = "/" } = request;
  // Most requests are for Resource Manager, and nobody else need look at those.
  if (url.startsWith("/subscriptions/") || url.startsWith("/providers/"))
    parts.traffic.came(response);
  else if (takenElsewhere(request, response, parts, sender, listener)) return;
  const answer = (body: string | undefined) => {
    const outcome = handleArmRequest(method, url, request.headers, body, parts);
    parts.whenPersisted(() => sender.deliver(request, response, outcome));
  };
  if (method === "GET" || method === "DELETE" || method === "HEAD") answer("");
  else
    readBody(request)
      .then(answer)
      .catch((error: unknown) =>
        sender.send(request, response, errorAnswer(error, request.destroyed ? {} : parts)),
      );
}

/** True where a request is answered by somebody else than Resource Manager, or will be. */
function takenElsewhere(
  request: IncomingMessage,
  response: ServerResponse,
  parts: Parts,
  sender: Sender,
  listener: { loopback: boolean },
): boolean {
  const { method = "GET", url = "/" } = request;
  if (/^\/(healthz|readyz)(\?|$)/.test(url)) {
    response.end("ok");
    return true;
  }
  // Whoever moves the clock through the control API must not be waited for.
  if (!url.startsWith("/_postern/")) parts.traffic.came(response);
  const elsewhere = !parts.faults.none && !/^\/(subscriptions|providers|_postern)(\/|$)/i.test(url);
  const struck = elsewhere ? injectNonArmFault(method, url, parts) : undefined;
  if (!struck) return parts.pages.some((pages) => pages.take(request, response, listener));
  sender.deliver(request, response, struck);
  return true;
}

function whyNotListening(error: NodeJS.ErrnoException, { host, port }: Listen): Error {
  if (error.code === "EADDRINUSE")
    return new TestBedError(
      "AddressInUse",
      `cannot listen on ${host}:${port} · another process listens there · stop it, or choose another port (0 for any free port)`,
      { cause: error },
    );
  return new TestBedError(
    "AddressRefused",
    `cannot listen on ${host}:${port} · ${error.message} · choose an address of this machine and a port that you may use`,
    { cause: error },
  );
}

/** What is not HTTP is refused in the form of Resource Manager, and the connection ends. */
function refuseGarbage(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, words] =
    error.code === "HPE_HEADER_OVERFLOW"
      ? ["431 Request Header Fields Too Large", "The request headers are too large."]
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? ["408 Request Timeout", "The request did not arrive in time."]
        : ["400 Bad Request", "The request is not valid HTTP."];
  const code = Number(status.slice(0, 3));
  const refusal = new Refusal(code, "BadRequest", words, { by: "gateway" });
  const body = JSON.stringify(refusal.body);
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\nX-Ms-Failure-Cause: gateway\r\nConnection: close\r\n\r\n${body}`,
  );
}

function ignore(): void {}
