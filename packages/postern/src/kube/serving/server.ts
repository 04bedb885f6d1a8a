import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { limitConnections, serverLimits } from "@postern/core/server-limits.ts";
import { KubeError } from "../errors.ts";
import type { ServingCertificate } from "./certificate.ts";

/** Where a server listens. */
export interface Listen {
  host: string;
  port: number;
}

/** A server that listens. */
export interface Serving {
  url: string;
  close(): Promise<void>;
}

/** Whether only this machine, or this pod, can reach an address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Listen, over TLS where there is a certificate, with the limits of every server of ours. */
export async function serve(
  listen: Listen,
  certificate: ServingCertificate | undefined,
  answer: RequestListener,
): Promise<Serving> {
  const server = certificate
    ? createTlsServer(
        { ...serverLimits, ...certificate.options, handshakeTimeout: serverLimits.headersTimeout },
        answer,
      )
    : createServer(serverLimits, answer);
  limitConnections(server);
  await listening(server, listen);
  if (certificate && "setSecureContext" in server) certificate.follow(server);
  const { address, port, family } = server.address() as AddressInfo;
  const host = family === "IPv6" ? `[${address}]` : address;
  return {
    url: `${certificate ? "https" : "http"}://${host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, where: Listen): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const why = cause.code ?? cause.message;
      reject(
        new KubeError("NotListening", `listening on ${where.host}:${where.port} failed · ${why}`, {
          cause,
        }),
      );
    });
    server.listen(where, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}
