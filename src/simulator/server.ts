import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../model/clock.ts";
import type { Arm, Routed } from "./arm.ts";
import type { Directory } from "./directory.ts";
import type { Faults } from "./faults.ts";
import type { Operations } from "./operations.ts";
import { Refusal } from "./refusal.ts";
import type { RequestLog } from "./request-log.ts";
import type { Principal } from "./resource-type.ts";
import type { Json } from "./store.ts";
import type { Cost, Throttle } from "./throttle.ts";
import { type Answer, commonHeaders, refusalAnswer } from "./wire.ts";

export interface Parts {
  arm: Arm;
  directory: Directory;
  operations: Operations;
  throttle: Throttle;
  faults: Faults;
  log: RequestLog;
  clock: Clock;
  guid: () => string;
}

/** Resource Manager takes no larger body. */
const largestBody = 4 * 1024 * 1024;

/** Serve on an address. */
export async function listen(
  parts: Parts,
  where: { host: string; port: number },
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    receive(request, response, parts).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(where.port, where.host, resolve);
  });
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  parts: Parts,
): Promise<void> {
  const method = request.method ?? "GET";
  const body =
    method === "GET" || method === "DELETE" || method === "HEAD" ? "" : await read(request);
  const url = request.url ?? "/";
  if (url === "/healthz" || url === "/readyz") {
    response.end("ok");
    return;
  }
  send(response, answerArm(method, url, request.headers, body, parts), request.headers, parts);
}

/** Answer a request to Resource Manager. Everything that goes wrong becomes an answer. */
function answerArm(
  method: string,
  url: string,
  headers: IncomingMessage["headers"],
  body: string | undefined,
  parts: Parts,
): Answer {
  const { arm, directory, operations, throttle, log, clock } = parts;
  operations.settle();
  const cut = url.indexOf("?");
  const path = cut < 0 ? url : url.slice(0, cut);
  let asker: Principal | undefined;
  let routed: Routed | undefined;
  let counted: Cost | undefined;
  let answer: Answer;
  try {
    asker = directory.authenticate(headers.authorization);
    routed = arm.route(method, path);
    const { subscription } = routed.address;
    const query = new URLSearchParams(cut < 0 ? "" : url.slice(cut + 1));
    if (subscription !== undefined) {
      counted =
        method === "GET" || method === "HEAD" ? "read" : method === "DELETE" ? "delete" : "write";
      const left = throttle.take(asker.objectId, subscription.toLowerCase(), counted);
      answer = arm.answer(
        {
          method,
          path,
          query,
          ifMatch: headers["if-match"],
          ifNoneMatch: headers["if-none-match"],
          body: parse(body),
          asker,
        },
        routed,
      );
      countDown(answer, routed, counted, left);
    } else answer = arm.answer({ method, path, query, body: parse(body), asker }, routed);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    answer = refusalAnswer(error);
  }
  log.add({
    at: clock.now(),
    method,
    path,
    status: answer.status,
    identity: asker?.objectId ?? "",
    action: routed?.action ?? "",
    cost: counted ?? "none",
  });
  return answer;
}

function countDown(
  answer: Answer,
  routed: Routed,
  cost: Cost,
  left: { own: number; global: number },
): void {
  const word = { read: "reads", write: "writes", delete: "deletes" }[cost];
  answer.headers[`x-ms-ratelimit-remaining-subscription-${word}`] = String(left.own);
  // Private DNS answers were recorded without the subscription-wide counter.
  if (routed.type?.dialect === "privateDns") return;
  const named = `X-Ms-Ratelimit-Remaining-Subscription-Global-${word.charAt(0).toUpperCase()}${word.slice(1)}`;
  answer.headers[named] = String(left.global);
}

function send(
  response: ServerResponse,
  answer: Answer,
  asked: IncomingMessage["headers"],
  parts: Parts,
): void {
  const id = parts.guid();
  let text = answer.body === undefined ? "" : JSON.stringify(answer.body);
  if (answer.escapeSlashes) text = text.replaceAll("/", "\\/");
  const clientId = asked["x-ms-client-request-id"];
  response.writeHead(answer.status, {
    ...commonHeaders,
    ...(text !== "" && { "Content-Type": "application/json; charset=utf-8" }),
    "Content-Length": Buffer.byteLength(text),
    "x-ms-request-id": id,
    "x-ms-correlation-request-id": asked["x-ms-correlation-request-id"] ?? id,
    "x-ms-routing-request-id": `SIMULATOR:${new Date(parts.clock.now()).toISOString().replace(/[-:]|\.\d+/g, "")}:${id}`,
    ...(clientId !== undefined && { "x-ms-client-request-id": clientId }),
    ...answer.headers,
  });
  response.end(text);
}

/** The body, or undefined where it is larger than Resource Manager takes. */
function read(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= largestBody) chunks.push(chunk);
    });
    request.on("end", () =>
      resolve(size > largestBody ? undefined : Buffer.concat(chunks).toString()),
    );
    request.on("error", reject);
  });
}

function parse(body: string | undefined): Json | undefined {
  if (body === undefined)
    throw new Refusal(
      413,
      "RequestEntityTooLarge",
      `The request content is larger than ${largestBody} bytes.`,
      { by: "gateway" },
    );
  if (body === "") return undefined;
  try {
    return JSON.parse(body) as Json;
  } catch {
    throw new Refusal(
      400,
      "InvalidRequestContent",
      "The request content was invalid and could not be deserialized: it is not valid JSON.",
      { by: "gateway" },
    );
  }
}
