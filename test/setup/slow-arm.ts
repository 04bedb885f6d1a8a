import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer } from "node:net";
import { makeAuthority, makeServerCertificate } from "@postern/core/test-bed/certificates.ts";
import { onTestFinished } from "vitest";

/** A request that changes something, and when it arrived. */
export interface ArrivedWrite {
  at: number;
  method: string;
  path: string;
}

/** One process's own way to Resource Manager: each request makes a connection of its own, which takes a while. */
export interface SlowArm {
  url: string;
  /** The authority of its certificate, in PEM. */
  ca: string;
  readonly writes: readonly ArrivedWrite[];
  /** Called when a connection has said hello, before it is answered. */
  onHello: (() => void) | undefined;
}

/** Stands before a simulator, with TLS, and answers each handshake after so many milliseconds. */
export async function slowArm(simulator: { url: string }, handshakeMs: number): Promise<SlowArm> {
  const authority = makeAuthority();
  const { certificate, key } = makeServerCertificate(authority, ["127.0.0.1"]);
  const writes: ArrivedWrite[] = [];

  const https = createHttpsServer({ cert: certificate, key }, async (request, response) => {
    const { method = "GET", url: path = "/", headers } = request;
    if (method !== "GET") writes.push({ at: Date.now(), method, path });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { host: _host, connection: _connection, "content-length": _length, ...kept } = headers;
    const answer = await fetch(simulator.url + path, {
      method,
      headers: kept as Record<string, string>,
      body: chunks.length > 0 ? Buffer.concat(chunks) : null,
    });
    // Where to go on is said with the simulator's own address.
    const here = (text: string) => text.replaceAll(simulator.url, url);
    const passed = ["content-type", "azure-asyncoperation", "location", "retry-after", "etag"];
    for (const name of passed) {
      const value = answer.headers.get(name);
      if (value !== null) response.setHeader(name, here(value));
    }
    response.writeHead(answer.status, { connection: "close" });
    response.end(here(await answer.text()));
  });
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("readable", () => {
      arm.onHello?.();
      setTimeout(() => https.emit("connection", socket), handshakeMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    https.closeAllConnections();
    server.close();
  });
  const arm: SlowArm = { url, ca: authority.certificate, writes, onHello: undefined };
  return arm;
}
