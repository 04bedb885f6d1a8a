import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Agent, request } from "node:https";
import type { AddressInfo, Socket } from "node:net";

/** A write that went through to the API server. */
export interface KubeWrite {
  at: number;
  by: string;
  method: string;
  path: string;
  status: number;
}

/** A Lease as it was written by one who then held it, or let go of it. */
export interface LeaseWrite {
  at: number;
  lease: string;
  holder: string;
}

/** What goes wrong between the operators and the API server. */
export interface KubeWeather {
  /** Every answer comes so much later. */
  delayMs: number;
  /** So many of the requests, from 0 to 1, get this answer instead. */
  failing: { share: number; status: number } | undefined;
}

const calm: KubeWeather = { delayMs: 0, failing: undefined };

/**
 * A proxy between the operators and the API server that can be slow, answer errors and cut watches, and that logs every
 * write with the program that sent it.
 */
export class KubernetesProxy {
  readonly writes: KubeWrite[] = [];
  readonly leases: LeaseWrite[] = [];
  weather: KubeWeather = calm;
  /** Called with every request before it is passed on; a status is answered in place of that. */
  intercept: (request: IncomingMessage) => Promise<number | undefined> = async () => undefined;
  struck = 0;
  requests = 0;
  readonly #upstream: URL;
  readonly #agent: Agent;
  readonly #chance: () => number;
  readonly #watches = new Set<Socket>();
  readonly #server = createServer((incoming, outgoing) => void this.#reconcile(incoming, outgoing));

  constructor(options: { upstream: string; ca: string; chance: () => number }) {
    this.#upstream = new URL(options.upstream);
    this.#agent = new Agent({ ca: options.ca, keepAlive: true });
    this.#chance = options.chance;
  }

  /** Begin to listen; gives the address. */
  async listen(): Promise<string> {
    this.#server.keepAliveTimeout = 60_000;
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** End every watch that is open, in the middle of what it says. */
  cutWatches(): number {
    const cut = this.#watches.size;
    for (const socket of this.#watches) socket.destroy();
    return cut;
  }

  /** Let everything through again. */
  calm(): void {
    this.weather = calm;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await once(this.#server.close(), "close");
    this.#agent.destroy();
  }

  async #reconcile(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const arrivedAt = Date.now();
    this.requests++;
    const path = incoming.url ?? "/";
    const { delayMs, failing } = this.weather;
    const body = await bodyOf(incoming);
    if (body === undefined) return;
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    const instead = await this.intercept(incoming);
    if (instead !== undefined) return refuse(outgoing, instead);
    if (failing && this.#chance() < failing.share) {
      this.struck++;
      return refuse(outgoing, failing.status);
    }
    const { hostname, port } = this.#upstream;
    const { host: _, connection: __, ...headers } = incoming.headers;
    const sent = request({
      hostname,
      port,
      path,
      method: incoming.method,
      headers,
      agent: this.#agent,
    });
    // Without an answer the client has none either: the API server is away.
    sent.once("error", () => outgoing.destroy());
    outgoing.once("close", () => sent.destroy());
    sent.once("response", (answer) => {
      this.#note(incoming, arrivedAt, body, answer.statusCode ?? 0);
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      outgoing.flushHeaders();
      if (/[?&]watch=(1|true)/.test(path)) this.#keepWatch(incoming.socket);
      answer.once("error", () => outgoing.destroy());
      answer.once("aborted", () => outgoing.destroy());
      answer.pipe(outgoing);
    });
    sent.end(body);
  }

  #keepWatch(socket: Socket): void {
    if (this.#watches.has(socket)) return;
    this.#watches.add(socket);
    socket.once("close", () => this.#watches.delete(socket));
  }

  #note(incoming: IncomingMessage, arrivedAt: number, body: Buffer, status: number): void {
    const { method = "GET", headers, url = "/" } = incoming;
    if (method === "GET" || method === "HEAD") return;
    const by = headers["user-agent"] ?? "";
    const [plain = ""] = url.split("?");
    const lease = /\/namespaces\/([^/]+)\/leases(?:\/([^/]+))?$/.exec(plain);
    if (!lease) this.writes.push({ at: arrivedAt, by, method, path: plain, status });
    else if (status < 300) {
      const { metadata, spec } = JSON.parse(body.toString()) as {
        metadata?: { name?: string };
        spec?: { holderIdentity?: string };
      };
      const name = `${lease[1]}/${lease[2] ?? metadata?.name}`;
      this.leases.push({ at: Date.now(), lease: name, holder: spec?.holderIdentity ?? "" });
    }
  }
}

/** The body of a request; undefined where the client went away first. */
async function bodyOf(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  try {
    for await (const part of incoming) parts.push(part as Buffer);
  } catch {
    return undefined;
  }
  return Buffer.concat(parts);
}

const reasons: Record<number, string> = {
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
};

function refuse(outgoing: ServerResponse, status: number): void {
  const reason = reasons[status] ?? "Unknown";
  const body = { kind: "Status", apiVersion: "v1", status: "Failure", reason, code: status };
  const headers = {
    "content-type": "application/json",
    ...(status === 429 && { "retry-after": "1" }),
  };
  outgoing
    .writeHead(status, headers)
    .end(JSON.stringify({ ...body, message: "made to fail by the storm" }));
}
