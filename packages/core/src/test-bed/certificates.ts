import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";
import { isIp, parseIp } from "../ip.ts";
import { bits, integer, octets, oid, sequence, tagged, time, utf8, yes } from "./der.ts";
import type { KeyValue } from "./key-value.ts";

/** A certificate and its key, both in PEM. */
export interface Certificate {
  certificate: string;
  key: string;
}

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

/** A certificate: signed by an authority, or by itself. */
export function makeCertificate(wanted: {
  subject: string;
  /** Names and addresses of a server. */
  names?: readonly string[];
  authority?: "self";
  signer?: Certificate;
  /** A key of an elliptic curve is made where none is given. */
  key?: KeyObject;
}): Certificate {
  const { subject, names = [], signer } = wanted;
  const key = wanted.key ?? generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const signing = signer ? createPrivateKey(signer.key) : key;
  const spki = createPublicKey(key).export({ type: "spki", format: "der" });
  const signerSpki = createPublicKey(signing).export({ type: "spki", format: "der" });
  const algorithm =
    signing.asymmetricKeyType === "rsa"
      ? sequence(oid("1.2.840.113549.1.1.11"), tagged(0x05))
      : sequence(oid("1.2.840.10045.4.3.2"));
  const serial = randomBytes(16);
  serial.writeUInt8((serial.readUInt8(0) & 0x7f) | 0x40, 0);
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(serial),
    algorithm,
    nameOf(signer ? authorityName : subject),
    sequence(time(from), time(until)),
    nameOf(subject),
    spki,
    tagged(0xa3, sequence(...extensions(names, wanted.authority === "self", spki, signerSpki))),
  );
  const made = sequence(body, algorithm, bits(sign("sha256", body, signing)));
  return {
    certificate: pem(made),
    key: String(key.export({ type: "pkcs8", format: "pem" })),
  };
}

/** The authority of a simulator and a certificate for its server: those that were kept, or new ones. */
export function serverCertificates(
  kept: KeyValue,
  names: readonly string[] = [],
): { ca: string; server: Certificate } {
  const authority = held(kept, "certificate authority") ?? makeAuthority();
  kept.set("certificate authority", JSON.stringify(authority));
  // The server's own is made anew: it costs nothing, and the names may be others.
  const server = makeServerCertificate(authority, [...new Set([...ownNames, ...names])]);
  return { ca: authority.certificate, server };
}

function held(kept: KeyValue, name: string): Certificate | undefined {
  const text = kept.get(name);
  return text === undefined ? undefined : (JSON.parse(text) as Certificate);
}

function extensions(
  names: readonly string[],
  authority: boolean,
  spki: Buffer,
  signerSpki: Buffer,
): Buffer[] {
  const found = [
    // Basic constraints and key usage: an authority signs certificates, a server signs handshakes.
    extension("2.5.29.19", authority ? sequence(yes) : sequence(), true),
    extension(
      "2.5.29.15",
      authority ? bits(Buffer.from([0x06]), 1) : bits(Buffer.from([0xa0]), 5),
      true,
    ),
    extension("2.5.29.14", octets(keyId(spki))),
    extension("2.5.29.35", sequence(tagged(0x80, keyId(signerSpki)))),
  ];
  if (names.length === 0) return found;
  found.push(extension("2.5.29.37", sequence(oid("1.3.6.1.5.5.7.3.1"))));
  found.push(extension("2.5.29.17", sequence(...names.map(alternative))));
  return found;
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [yes] : []), octets(value));
}

function alternative(name: string): Buffer {
  if (!isIp(name)) return tagged(0x82, Buffer.from(name));
  const { version, value } = parseIp(name);
  return tagged(0x87, Buffer.from(value.toString(16).padStart(version === 4 ? 8 : 32, "0"), "hex"));
}

function nameOf(common: string): Buffer {
  return sequence(tagged(0x31, sequence(oid("2.5.4.3"), utf8(common))));
}

function keyId(spki: Buffer): Buffer {
  return createHash("sha1").update(spki).digest();
}

function pem(der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
