import { X509Certificate } from "node:crypto";
import { open } from "node:fs/promises";
import { hostname } from "node:os";
import { createSecureContext } from "node:tls";
import { type Certificate, createCertificate } from "@postern/core/certificate.ts";
import { type Clock, dateBy, realClock } from "@postern/core/clock.ts";
import { KubeError } from "../errors.ts";
import type { Log } from "../log.ts";

/** The files of a certificate, as a Secret of type kubernetes.io/tls is mounted. */
export interface CertificateFiles {
  certFile: string;
  keyFile: string;
}

/** A TLS server that takes another certificate while it runs. */
interface TlsServer {
  setSecureContext(options: { cert: string; key: string }): void;
}

/** A mounted Secret changes a minute or so after its object: no need to hurry. */
const readMs = 10_000;
const largestFile = 131_072;
const dayMs = 86_400_000;
const selfSignedDays = 365;
const renewDays = 30;

/** The certificate of a server: from files that are read again, or self-signed and renewed in time. */
export class ServingCertificate {
  readonly #files: CertificateFiles | undefined;
  readonly #clock: Clock;
  readonly #log: Pick<Log, "info" | "warn">;
  readonly #servers = new Set<TlsServer>();
  #current: Certificate;
  #failure: string | undefined;
  #cancel: () => void = () => undefined;
  #closed = false;

  private constructor(
    { files, clock, log }: Required<Pick<CertificateOptions, "clock" | "log">> & CertificateOptions,
    current: Certificate,
  ) {
    this.#files = files;
    this.#clock = clock;
    this.#log = log;
    this.#current = current;
    this.#schedule();
  }

  /** Read the files, or create a certificate. Files that cannot be used are an error at the start only. */
  static async start(options: CertificateOptions): Promise<ServingCertificate> {
    const { files, clock = realClock } = options;
    const first = files ? await readCertificate(files) : selfSigned(clock);
    return new ServingCertificate({ ...options, clock }, first);
  }

  /** What `https.createServer` takes. */
  get options(): { cert: string; key: string } {
    return { cert: this.#current.certificate, key: this.#current.key };
  }

  /** When it expires, in milliseconds since the epoch. */
  get expiresAt(): number {
    return Date.parse(new X509Certificate(this.#current.certificate).validTo);
  }

  /** Give this server every later certificate, until it closes. */
  follow(server: TlsServer & { once(event: "close", listener: () => void): unknown }): void {
    this.#servers.add(server);
    server.once("close", () => this.#servers.delete(server));
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
  }

  #schedule(): void {
    if (this.#closed) return;
    this.#cancel = this.#clock.after(readMs, () => {
      this.#renew()
        .catch((error: unknown) => this.#warn(error))
        .finally(() => this.#schedule());
    });
  }

  async #renew(): Promise<void> {
    const next = this.#files ? await readCertificate(this.#files) : this.#renewedInTime();
    this.#failure = undefined;
    if (next.certificate === this.#current.certificate && next.key === this.#current.key) return;
    this.#current = next;
    for (const server of this.#servers) server.setSecureContext(this.options);
    this.#log.info({ until: new Date(this.expiresAt).toISOString() }, "certificate renewed");
  }

  #renewedInTime(): Certificate {
    const remainingMs = this.expiresAt - dateBy(this.#clock).getTime();
    return remainingMs < renewDays * dayMs ? selfSigned(this.#clock) : this.#current;
  }

  #warn(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (this.#failure !== reason) this.#log.warn({ reason }, "the old certificate is still used");
    this.#failure = reason;
  }
}

interface CertificateOptions {
  files?: CertificateFiles | undefined;
  clock?: Clock;
  log: Pick<Log, "info" | "warn">;
}

function selfSigned(clock: Clock): Certificate {
  const now = dateBy(clock).getTime();
  return createCertificate({
    subject: "postern",
    names: [...new Set(["localhost", hostname()])],
    // Clocks of others may be behind.
    from: new Date(now - dayMs),
    until: new Date(now + selfSignedDays * dayMs),
  });
}

/** The pair in two files. They are replaced one after the other: a pair that does not match yet is not used. */
async function readCertificate({ certFile, keyFile }: CertificateFiles): Promise<Certificate> {
  const [certificate, key] = await Promise.all([readText(certFile), readText(keyFile)]);
  try {
    createSecureContext({ cert: certificate, key });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new KubeError(
      "UnusableCertificate",
      `using ${certFile} with ${keyFile} failed · they are no certificate and its key${code ? ` (${code})` : ""}`,
    );
  }
  return { certificate, key };
}

async function readText(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(
      Buffer.allocUnsafe(largestFile),
      0,
      largestFile,
      0,
    );
    return buffer.toString("utf8", 0, bytesRead);
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code ?? "it cannot be read";
    throw new KubeError("UnusableCertificate", `reading ${path} failed · ${why}`, { cause });
  }
}
