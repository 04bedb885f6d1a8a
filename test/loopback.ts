import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { makeAuthority, makeServerCertificate } from "@postern/core/test-bed/certificates.ts";
import { onTestFinished } from "vitest";

/** A request as a loopback server saw it. */
export interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

type Answer = (seen: ReceivedRequest, response: ServerResponse, request: IncomingMessage) => void;

/** Serve on loopback until the test ends; every request is kept. */
export async function serve(
  answer: Answer,
): Promise<{ url: string; requests: ReceivedRequest[]; server: Server }> {
  const requests: ReceivedRequest[] = [];
  const server = createServer(listener(answer, requests));
  return { url: `http://127.0.0.1:${await listen(server)}`, requests, server };
}

/** The same over TLS, with the authority that signed the certificate, in PEM. */
export async function serveTls(
  answer: Answer,
): Promise<{ url: string; port: number; ca: string; requests: ReceivedRequest[] }> {
  const requests: ReceivedRequest[] = [];
  const authority = makeAuthority();
  const { certificate, key } = makeServerCertificate(authority, ["localhost", "127.0.0.1", "::1"]);
  const server = createTlsServer({ cert: certificate, key }, listener(answer, requests));
  const port = await listen(server);
  return { url: `https://127.0.0.1:${port}`, port, ca: authority.certificate, requests };
}

function listener(answer: Answer, seen: ReceivedRequest[]) {
  return (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const one = {
        method: request.method ?? "",
        url: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      seen.push(one);
      answer(one, response, request);
    });
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** Answer with JSON. */
export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
