import type { Certificate } from "@postern/core/certificate.ts";
import { makeAuthority, makeCertificate } from "@postern/core/test-bed/certificates.ts";

/** An authority, and certificates by it for a server on loopback and for a client of the given name. */
export function makeCertificates(client: string): {
  ca: string;
  server: Certificate;
  client: Certificate;
} {
  const signer = makeAuthority();
  return {
    ca: signer.certificate,
    server: makeCertificate({ subject: "localhost", names: ["127.0.0.1"], signer }),
    client: makeCertificate({ subject: client, signer }),
  };
}
