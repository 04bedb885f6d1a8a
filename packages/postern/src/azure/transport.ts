import type { Agent, IncomingHttpHeaders } from "node:http";
import type { Clock } from "@postern/core/clock.ts";
import { http, https } from "./http.ts";

/** One HTTP request, and how long its whole answer may take. */
export interface Sending {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body?: string | undefined;
  agent: Agent;
  clock: Clock;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Asked once the connection stands, right before the request is written to it: with a no it is not sent. */
  mayStart?: (() => boolean) | undefined;
}

/** A whole answer. */
export interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/**
 * No whole answer, and how far it went.
 * `unsent`: no connection was made, so nothing happened at the other end. `withdrawn`: `mayStart` said no.
 * `lost`: it was sent, and the connection ended without an answer. `cut`: the answer ended too early.
 */
export interface Broken {
  broken: "unsent" | "withdrawn" | "lost" | "cut" | "timedOut" | "stopped";
  cause: unknown;
}

/** No page of a list comes near this; a server that never ends must not fill the memory. */
const mostBytes = 64 * 1024 * 1024;

/** Send a request and read the whole answer. What goes wrong on the way is an answer too. */
export function send(sending: Sending): Promise<Received | Broken> {
  const { method, url, headers, body, agent, clock, signal, mayStart = () => true } = sending;
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve({ broken: "stopped", cause: signal.reason });
    let stage: "unsent" | "lost" | "cut" = "unsent";
    let ended: "timedOut" | "stopped" | "withdrawn" | undefined;
    const library = url.protocol === "http:" ? http : https();
    const request = library.request(url, { method, headers, agent });

    const end = (how: NonNullable<typeof ended>) => {
      ended = how;
      request.destroy(new Error(how));
    };
    const stop = () => end("stopped");
    const cancelTimer = clock.after(sending.timeoutMs, () => end("timedOut"), { limit: true });
    signal?.addEventListener("abort", stop, { once: true });
    const settle = (answer: Received | Broken) => {
      cancelTimer();
      signal?.removeEventListener("abort", stop);
      resolve(answer);
    };
    const breakOff = (cause: unknown) =>
      settle({
        broken: stage === "unsent" && ended === "timedOut" ? stage : (ended ?? stage),
        cause,
      });

    // Nothing is written before the connection stands: what is written to one that is being made leaves later, however
    // long that takes, and a process that was frozen meanwhile would not be asked again.
    const start = () => {
      if (ended !== undefined) return;
      if (!mayStart()) return end("withdrawn");
      stage = "lost";
      request.end(body);
    };
    request.on("socket", (socket) => {
      // With TLS the connection stands when its handshake is over.
      const secure = "encrypted" in socket;
      if (socket.connecting || (secure && Reflect.get(socket, "secureConnecting") === true))
        socket.once(secure ? "secureConnect" : "connect", start);
      // Later, because node ends a request twice that is ended while it gets its socket.
      else process.nextTick(start);
    });
    request.on("error", breakOff);
    request.on("response", (response) => {
      stage = "cut";
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > mostBytes) response.destroy(new Error("the answer does not end"));
      });
      response.on("error", breakOff);
      response.on("close", () => {
        const status = response.statusCode ?? 0;
        if (!response.complete) return breakOff(new Error("the answer was cut off"));
        settle({ status, headers: response.headers, text: Buffer.concat(chunks).toString("utf8") });
      });
    });
  });
}

/**
 * Kept connections to one server. Idle ones are closed by us before a server does it: a write that
 * meets a closing connection has an unknown end. The proxy variables count, except for this machine.
 */
export function keepAliveAgent(server: URL): Agent {
  const options = { keepAlive: true, maxSockets: 64, timeout: 30_000, scheduling: "lifo" } as const;
  const withProxy = isLoopback(server.hostname) ? options : { ...options, proxyEnv: process.env };
  return server.protocol === "http:" ? new http.Agent(withProxy) : new (https().Agent)(withProxy);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || host.startsWith("127.");
}
