import type { KeyObject } from "node:crypto";
import { type Certificate, createCertificate } from "../certificate.ts";
import type { KeyValue } from "./key-value.ts";

/** Long, and by no clock: who connects looks at the clock of its machine, which need not be the simulator's. */
const from = new Date("2025-01-01T00:00:00Z");
const until = new Date("2045-01-01T00:00:00Z");

const authorityName = "Postern simulator CA";

/** What the server is called where nobody says more. */
const ownNames = ["localhost", "127.0.0.1", "::1"];

/** A certificate authority. Keys are of elliptic curves, which are made in a moment. */
export function makeAuthority(): Certificate {
  return makeCertificate({ subject: authorityName, authority: "self" });
}

/** A certificate for a server that answers to these names and addresses. */
export function makeServerCertificate(
  authority: Certificate,
  names: readonly string[],
): Certificate {
  return makeCertificate({ subject: names[0] ?? "localhost", names, signer: authority });
}

/** A certificate that is valid for as long as tests may run: signed by an authority, or by itself. */
export function makeCertificate(request: {
  subject: string;
  /** Names and addresses of a server. */
  names?: readonly string[];
  authority?: "self";
  signer?: Certificate;
  key?: KeyObject;
}): Certificate {
  return createCertificate({ ...request, from, until, authority: request.authority === "self" });
}

/** The authority of a simulator and a certificate for its server: those that were kept, or new ones. */
export function serverCertificates(
  store: KeyValue,
  names: readonly string[] = [],
): { ca: string; server: Certificate } {
  const authority = storedCertificate(store, "certificate authority") ?? makeAuthority();
  store.set("certificate authority", JSON.stringify(authority));
  // The server's own is made anew: it costs nothing, and the names may be others.
  const server = makeServerCertificate(authority, [...new Set([...ownNames, ...names])]);
  return { ca: authority.certificate, server };
}

function storedCertificate(store: KeyValue, name: string): Certificate | undefined {
  const text = store.get(name);
  return text === undefined ? undefined : (JSON.parse(text) as Certificate);
}
