import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "@postern/core/clock.ts";
import type { Outcome } from "./arm/handle-request.ts";
import { type Answer, commonHeaders } from "./arm/wire.ts";
import type { Effect } from "./control/fault-rule.ts";
import type { Traffic } from "./control/traffic.ts";

const common = Object.entries(commonHeaders).flat();
/** For a provider that says itself how its answers may be kept. */
const uncached = Object.entries(commonHeaders)
  .filter(([name]) => !["Cache-Control", "Pragma", "Expires"].includes(name))
  .flat();

/** An answer of Resource Manager as it went out. */
export interface Sent {
  method: string;
  /** Path and query. */
  url: string;
  status: number;
  body: string;
  /** What was made to happen to it. */
  fault: Effect["kind"] | undefined;
}

/** Turns answers into bytes. */
export class Sender {
  readonly #clock: Clock;
  readonly #traffic: Traffic;
  readonly #answered: ((sent: Sent) => void) | undefined;
  // A guid for each request: random at the start, then counted. It must be cheap, and nothing follows from it.
  readonly #prefix: string;
  #count = 0;
  #second = -1;
  #date = "";
  #compact = "";

  constructor(clock: Clock, traffic: Traffic, answered?: (sent: Sent) => void) {
    this.#clock = clock;
    this.#traffic = traffic;
    this.#answered = answered;
    const hex = randomBytes(10).toString("hex");
    this.#prefix = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-`;
  }

  /** Send an answer, or do to it what is to be done to it. */
  deliver(request: IncomingMessage, response: ServerResponse, outcome: Outcome): void {
    const { answer, counters, fate } = outcome;
    const finish = () => {
      if (fate?.kind === "lost") response.destroy();
      else this.send(request, response, answer, counters, fate?.kind);
    };
    const delayMs = delayOf(fate);
    if (delayMs !== undefined) {
      this.#traffic.hold(response);
      this.#clock.after(delayMs, () => {
        this.#traffic.release(response);
        finish();
      });
    } else if (fate?.kind === "lost" || fate?.kind === "dropped") finish();
    // What is answered in one turn goes out together: a client that sleeps is woken once for all of it, and to wake
    // it takes as long as to answer.
    else setImmediate(finish);
  }

  send(
    request: IncomingMessage,
    response: ServerResponse,
    answer: Answer,
    counters: readonly string[] = [],
    fault?: Effect["kind"],
  ): void {
    if (response.destroyed) return;
    let text = answer.raw ?? answer.text ?? textOf(answer.body);
    if (answer.escapeSlashes) text = text.replaceAll("/", "\\/");
    this.#tick();
    const id = this.#prefix + (this.#count++ % 0xffffffffffff).toString(16).padStart(12, "0");
    const asked = request.headers;
    const correlation = asked["x-ms-correlation-request-id"];
    const headers = ("Cache-Control" in answer.headers ? uncached : common).slice();
    headers.push("Date", this.#date);
    if (text !== "" && answer.raw === undefined)
      headers.push("Content-Type", "application/json; charset=utf-8");
    headers.push("Content-Length", String(Buffer.byteLength(text)));
    headers.push("x-ms-request-id", id);
    headers.push("x-ms-correlation-request-id", typeof correlation === "string" ? correlation : id);
    headers.push("x-ms-routing-request-id", `SIMULATOR:${this.#compact}:${id}`);
    const client = asked["x-ms-client-request-id"];
    if (typeof client === "string") headers.push("x-ms-client-request-id", client);
    for (const name in answer.headers) headers.push(name, answer.headers[name] ?? "");
    headers.push(...counters);
    response.writeHead(answer.status, headers);
    const { method = "", url = "" } = request;
    this.#answered?.({ method, url, status: answer.status, body: text, fault });
    if (fault !== "dropped") {
      response.end(text);
      return;
    }
    // Only then is the half on its way, and the end of the connection comes after it.
    response.write(text.slice(0, text.length >> 1), () => response.destroy());
  }

  /** Both forms of the time change once a second, and are made no more often. */
  #tick(): void {
    const now = this.#clock.now();
    const second = Math.floor(now / 1000);
    if (second === this.#second) return;
    this.#second = second;
    const date = new Date(now);
    this.#date = date.toUTCString();
    this.#compact = date.toISOString().replace(/[-:]|\.\d+/g, "");
  }
}

/** How much later a request is answered; undefined for at once. */
function delayOf(fate: Effect | undefined): number | undefined {
  return fate?.kind === "slow" || fate?.kind === "answer" || fate?.kind === "lost"
    ? fate.ms
    : undefined;
}

function textOf(body: unknown): string {
  return body === undefined ? "" : JSON.stringify(body);
}
