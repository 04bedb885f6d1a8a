import type { X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { makeCertificate } from "@postern/core/test-bed/certificates.ts";
import { expect, onTestFinished, test, vi } from "vitest";
import { ManualClock } from "../../../../../test/manual-clock.ts";
import { makeLog } from "../log.ts";
import { type CertificateFiles, ServingCertificate } from "./certificate.ts";
import { serve } from "./server.ts";

const dayMs = 86_400_000;

/** A server with this certificate, and the name in the one that clients get. */
async function start(files?: CertificateFiles) {
  const clock = new ManualClock();
  const lines: string[] = [];
  const log = makeLog({ write: (line) => lines.push(line) });
  const certificate = await ServingCertificate.start({ files, clock, log });
  const listen = { host: "127.0.0.1", port: 0 };
  const { url, close } = await serve(listen, certificate, (_, response) => response.end("ok"));
  onTestFinished(async () => {
    certificate.close();
    await close();
  });
  const shown = () =>
    new Promise<X509Certificate>((resolve, reject) => {
      const { hostname: host, port } = new URL(url);
      const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
        const found = socket.getPeerX509Certificate();
        socket.destroy();
        if (found) resolve(found);
        else reject(new Error("no certificate"));
      });
      socket.once("error", reject);
    });
  return { clock, lines, shown };
}

/** The files of a mounted Secret. */
async function mounted() {
  const folder = await mkdtemp(join(tmpdir(), "postern-tls-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const files = { certFile: join(folder, "tls.crt"), keyFile: join(folder, "tls.key") };
  const write = async (subject: string) => {
    const { certificate, key } = makeCertificate({ subject });
    await writeFile(files.certFile, certificate);
    await writeFile(files.keyFile, key);
  };
  await write("first");
  return { files, write };
}

test("a certificate that changes on disk is served without a restart", async () => {
  const { files, write } = await mounted();
  const { clock, shown } = await start(files);
  expect((await shown()).subject).toBe("CN=first");
  await write("second");
  clock.moveTo(clock.now() + 10_000);
  await vi.waitFor(async () => expect((await shown()).subject).toBe("CN=second"));
});

test("while certificate and key do not match the old pair is served, and the log says why once", async () => {
  const { files, write } = await mounted();
  const { clock, shown, lines } = await start(files);
  await writeFile(files.certFile, makeCertificate({ subject: "second" }).certificate);
  for (let n = 1; n <= 3; n++) {
    clock.moveTo(clock.now() + 10_000);
    await vi.waitFor(() => expect(clock.timers).toBeGreaterThan(0));
  }
  expect((await shown()).subject).toBe("CN=first");
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("they are no certificate and its key");
  await write("third");
  clock.moveTo(clock.now() + 10_000);
  await vi.waitFor(async () => expect((await shown()).subject).toBe("CN=third"));
});

test("files that are missing at the start are an error that names them", async () => {
  const files = { certFile: "/nowhere/tls.crt", keyFile: "/nowhere/tls.key" };
  await expect(start(files)).rejects.toMatchObject({
    code: "UnusableCertificate",
    message: "reading /nowhere/tls.crt failed · ENOENT",
  });
});

test("a self-signed certificate is replaced before it expires", async () => {
  const { clock, shown } = await start();
  const first = await shown();
  expect(first.checkHost("localhost")).toBe("localhost");
  expect(first.verify(first.publicKey)).toBe(true);
  clock.moveTo(clock.now() + 300 * dayMs);
  await vi.waitFor(() => expect(clock.timers).toBeGreaterThan(0));
  expect((await shown()).serialNumber).toBe(first.serialNumber);
  clock.moveTo(clock.now() + 40 * dayMs);
  await vi.waitFor(() => expect(clock.timers).toBeGreaterThan(0));
  clock.moveTo(clock.now() + 10_000);
  await vi.waitFor(async () => expect((await shown()).serialNumber).not.toBe(first.serialNumber));
  expect(Date.parse((await shown()).validTo)).toBeGreaterThan(Date.parse(first.validTo));
});
