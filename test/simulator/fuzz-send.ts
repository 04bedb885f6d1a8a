import { Agent, request } from "node:http";
import { connect } from "node:net";
import type { Wild } from "./fuzz-requests.ts";

/** What came back; a status of 0 where nothing did. */
export interface Got {
  status: number;
  text: string;
}

/** What is sent of a wild request. */
export type Sendable = Pick<Wild, "method" | "path" | "headers" | "body" | "raw">;

/** Who has no answer by then is left hanging. */
const longestMs = 10_000;

/** Send so many wild requests, several at a time; gives what is wrong with their answers, the first twenty of it. */
export async function sendMany<W extends Sendable & { kind: string }>(
  base: string,
  count: number,
  next: () => W,
  whyBad: (asked: W, got: Got) => string | undefined,
): Promise<string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 24 });
  const faults: string[] = [];
  let made = 0;
  const worker = async () => {
    while (made++ < count) {
      const each = next();
      const fault = whyBad(each, await send(base, each, agent));
      if (fault !== undefined && faults.length < 20)
        faults.push(
          `${each.kind}: ${each.method} ${each.path.slice(0, 200)} ${(each.raw ?? each.body)?.slice(0, 300)} → ${fault}`,
        );
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  agent.destroy();
  return faults;
}

/** Send a request as it is, and wait for its answer, but not for ever. */
export function send(base: string, asked: Sendable, agent: Agent): Promise<Got> {
  if (asked.raw !== undefined) return sendRaw(base, asked.raw);
  return new Promise((resolve) => {
    const { method, path, headers, body = "" } = asked;
    const url = new URL(base);
    // Node refuses to send some of these paths; then they go as bytes.
    if (/[^\x21-\x7e]/.test(path)) {
      resolve(sendRaw(base, `${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`));
      return;
    }
    const sent = request(
      {
        agent,
        host: url.hostname,
        port: url.port,
        method,
        path,
        headers: { ...headers, "content-length": Buffer.byteLength(body) },
        timeout: longestMs,
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("error", () => resolve({ status: 0, text }));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    sent.on("timeout", () => sent.destroy());
    sent.on("error", (error) => resolve({ status: 0, text: error.message }));
    sent.end(body);
  });
}

function sendRaw(base: string, bytes: string): Promise<Got> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(base).port), "127.0.0.1");
    let text = "";
    socket.setEncoding("latin1");
    socket.setTimeout(longestMs, () => socket.destroy());
    socket.on("data", (chunk) => {
      text += chunk;
      // An answer to what was HTTP after all keeps its connection.
      if (/\r\n\r\n/.test(text)) socket.end();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      const status = Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? 0);
      resolve({ status, text: text.slice(text.indexOf("\r\n\r\n") + 4) });
    });
    socket.end(bytes, "latin1");
  });
}
