import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Certificate } from "@postern/core/certificate.ts";
import { type Clock, realClock } from "@postern/core/clock.ts";
import { serverCertificates } from "@postern/core/test-bed/certificates.ts";
import { isLoopback } from "@postern/core/test-bed/loopback.ts";
import { TestBedError } from "@postern/core/test-bed/test-bed-error.ts";
import { type Audit, auditTo } from "./audit.ts";
import { FrontDoor } from "./front-door.ts";
import { pagesOf } from "./pages.ts";
import { fileBackend, memoryBackend } from "./storage-backend.ts";
import { makeWorld, type Running } from "./world.ts";

/** How the embedded Kubernetes API is started. */
export interface KubernetesOptions {
  /** Any free one where none is said. */
  port?: number;
  /** An address of loopback; nothing else is listened on. */
  host?: string;
  /** Where everything is stored; in memory without it. */
  data?: { file: string };
  /** Its own where none is given, from an authority that is stored with the data. */
  certificate?: Certificate & { ca: string };
  /** Tokens by the names of their users, beside the admin's. */
  tokens?: Readonly<Record<string, string>>;
  clock?: Clock;
  /** A file for one line of each finished request. */
  auditLog?: string;
  /** The most that the log of changes holds; who watches from further back lists again. */
  mostLogBytes?: number;
}

/** The embedded Kubernetes API, listening. */
export interface Kubernetes {
  url: string;
  /** The certificate of who signed the server's, in PEM. */
  ca: string;
  /** The admin's. */
  token: string;
  /** The text of a kubeconfig for the admin. */
  kubeconfig: string;
  /** How many requests were answered, by verb and resource. */
  counts(): Record<string, number>;
  stop(): Promise<void>;
}

/** Start an API on loopback that clients of Kubernetes take for a cluster's. */
export async function startKubernetes(options: KubernetesOptions = {}): Promise<Kubernetes> {
  const { host = "127.0.0.1", port = 0, data, clock = realClock } = options;
  if (!isLoopback(host))
    throw new TestBedError(
      "AddressRefused",
      `the embedded Kubernetes API does not listen on ${host} · it is for trials and tests, and others could reach it there · choose 127.0.0.1 or ::1`,
    );
  const backend = data ? fileBackend(data) : memoryBackend();
  const audit = options.auditLog === undefined ? undefined : auditTo(options.auditLog);
  const { ca, server: own } = options.certificate
    ? { ca: options.certificate.ca, server: options.certificate }
    : serverCertificates(backend.things, [host, "kubernetes", "kubernetes.default.svc"]);
  const running = makeWorld({
    backend,
    clock,
    tokens: options.tokens ?? {},
    ...(options.mostLogBytes && { mostLogBytes: options.mostLogBytes }),
  });
  const front = new FrontDoor(running.world, audit);
  const server = createServer(
    { key: own.key, cert: own.certificate, keepAliveTimeout: 120_000, requestTimeout: 0 },
    (request, response) => {
      front.receive(request, response).catch(() => response.destroy());
    },
  );
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", (error) => reject(whyNotListening(error, host, port)));
      server.listen(port, host, resolve);
    });
  } catch (error) {
    running.stop();
    backend.close();
    throw error;
  }
  const { address, port: given, family } = server.address() as AddressInfo;
  const authority = `${family === "IPv6" ? `[${address}]` : address}:${given}`;
  front.pages = pagesOf(running.world, authority);
  const url = `https://${authority}`;
  let stopped: Promise<void> | undefined;
  return {
    url,
    ca,
    token: running.world.tokens.admin,
    kubeconfig: kubeconfigOf(url, ca, running.world.tokens.admin),
    counts: () => Object.fromEntries([...front.counts].sort()),
    stop: () => {
      stopped ??= stop(running, server, backend.close, audit);
      return stopped;
    },
  };
}

async function stop(
  running: Running,
  server: ReturnType<typeof createServer>,
  close: () => void,
  audit: Audit | undefined,
): Promise<void> {
  running.stop();
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
  await audit?.close();
  close();
}

function whyNotListening(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const inUse = error.code === "EADDRINUSE";
  return new TestBedError(
    inUse ? "AddressInUse" : "AddressRefused",
    inUse
      ? `cannot listen on ${host}:${port} · another process listens there · stop it, or choose another port (0 for any free port)`
      : `cannot listen on ${host}:${port} · ${error.message} · choose a port that you may use`,
    { cause: error },
  );
}

function kubeconfigOf(server: string, ca: string, token: string): string {
  const name = "postern";
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name,
        cluster: { server, "certificate-authority-data": Buffer.from(ca).toString("base64") },
      },
    ],
    users: [{ name: "admin", user: { token } }],
    contexts: [{ name, context: { cluster: name, user: "admin" } }],
    "current-context": name,
  };
  // YAML is a superset of JSON.
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
