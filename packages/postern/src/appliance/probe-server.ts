import type { RequestListener } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import { limitConnections, serverLimits } from "@postern/core/server-limits.ts";
import { http, https } from "../azure/http.ts";
import { ApplianceError } from "./errors.ts";

/** A certificate and its key, both in PEM. */
export interface ProbeCertificate {
  certificate: string;
  key: string;
}

/** One port on which probes are answered. */
export interface ProbeServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Azure gives a probe 30 s at most; who says nothing for so long is none. */
const longestSilenceMs = 60_000;
/** The first byte of every connection over TLS: https://www.rfc-editor.org/rfc/rfc8446#section-5.1 */
const handshake = 22;

/**
 * Listen for probes. With a certificate the same port answers in the open and over TLS: until the load balancer is found,
 * nobody knows which of them it speaks.
 */
export async function listenForProbes(
  { host, port }: { host: string; port: number },
  answer: RequestListener,
  certificate: ProbeCertificate | undefined,
): Promise<ProbeServer> {
  const plain = http.createServer({ ...serverLimits, keepAlive: true }, answer);
  const secure = certificate && secureServer(certificate, answer);
  const server = secure ? divide(plain, secure) : plain;
  limitConnections(server);
  await listening(server, host, port);
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Also those that only connected, and would hold the end up.
        for (const socket of open) socket.destroy();
      }),
  };
}

function secureServer({ certificate: cert, key }: ProbeCertificate, answer: RequestListener) {
  try {
    return https().createServer({ ...serverLimits, cert, key, keepAlive: true }, answer);
  } catch (cause) {
    const what = "answer health probes over TLS";
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new ApplianceError({ code: "HealthCertificateWrong", what, detail, cause });
  }
}

/** A server that gives each connection to one of two, by its first byte. */
function divide(plain: Server, secure: Server): Server {
  const net = process.getBuiltinModule("node:net");
  return net.createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.setTimeout(longestSilenceMs, () => socket.destroy());
    socket.once("data", (first: Buffer) => {
      socket.pause();
      socket.unshift(first);
      (first[0] === handshake ? secure : plain).emit("connection", socket);
      process.nextTick(() => socket.resume());
    });
  });
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const what = `answer health probes on ${host}:${port}`;
      const detail = cause.code ?? cause.message;
      reject(new ApplianceError({ code: "HealthPortTaken", what, detail, cause }));
    });
    server.listen({ host, port }, resolve);
  });
}
