import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";
import { bits, integer, octets, oid, sequence, tagged, time, utf8, yes } from "./der.ts";
import { isIp, parseIp } from "./ip.ts";

/** A certificate and its key, both in PEM. */
export interface Certificate {
  certificate: string;
  key: string;
}

/** What a new certificate says. */
export interface CertificateRequest {
  subject: string;
  from: Date;
  until: Date;
  /** Names and addresses of a server. */
  names?: readonly string[];
  /** Whether it may sign others. */
  authority?: boolean;
  /** Who signs it; itself where none is given. */
  signer?: Certificate | undefined;
  /** A key of an elliptic curve is created where none is given. */
  key?: KeyObject | undefined;
}

/** Create a certificate: signed by an authority, or by itself. Why without a library: docs/decisions/0004. */
export function createCertificate(request: CertificateRequest): Certificate {
  const { subject, names = [], signer, authority = false } = request;
  const key = request.key ?? generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
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
    nameOf(signer ? commonNameOf(signer) : subject),
    sequence(time(request.from), time(request.until)),
    nameOf(subject),
    spki,
    tagged(0xa3, sequence(...extensions(names, authority, spki, signerSpki))),
  );
  const signed = sequence(body, algorithm, bits(sign("sha256", body, signing)));
  return {
    certificate: pem(signed),
    key: String(key.export({ type: "pkcs8", format: "pem" })),
  };
}

function commonNameOf({ certificate }: Certificate): string {
  return new X509Certificate(certificate).subject.replace(/^CN=/, "");
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
