import { createPrivateKey, type KeyObject } from "node:crypto";

/** One block of a PEM text, with its lines as RFC 7468 has them. */
export interface PemBlock {
  /** `CERTIFICATE`, `PRIVATE KEY`, … */
  label: string;
  text: string;
}

const longestPem = 65_536;
/** A private key of RSA with 8192 bits takes 6.5 KB, and one signature with it some 40 ms. */
const longestKey = 8_192;
const mostModulusBits = 8_192;
const mostBlocks = 64;
/** What OpenSSL takes by default is 2048. Each costs time on the event loop. */
const mostIterations = 100_000;
const keyTypes = ["rsa", "rsa-pss", "ec", "ed25519", "ed448"];

/** The blocks of a text that a tenant wrote, or what is wrong with it. */
export function readPem(text: string): { blocks: PemBlock[] } | { problem: string } {
  if (text.length > longestPem) return { problem: `it is longer than ${longestPem} characters` };
  const blocks: PemBlock[] = [];
  const begin = /-----BEGIN ([A-Z0-9 ]{1,64})-----/g;
  for (let found = begin.exec(text); found !== null; found = begin.exec(text)) {
    const [, label = ""] = found;
    const start = begin.lastIndex;
    const last = `-----END ${label}-----`;
    const end = text.indexOf(last, start);
    if (end < 0) return { problem: `a block ${label} has no end` };
    if (blocks.length === mostBlocks) return { problem: `it has more than ${mostBlocks} blocks` };
    const body = text.slice(start, end).trim();
    if (body.includes("-----")) return { problem: `a block ${label} holds another` };
    blocks.push({ label, text: `-----BEGIN ${label}-----\n${body}\n${last}\n` });
    begin.lastIndex = end + last.length;
  }
  return { blocks };
}

/**
 * Why a private key that a tenant wrote is not used; undefined where it is. Decrypting and signing run on the event loop, and
 * whoever writes the key chooses how long they take: the iterations, and the size of the key.
 */
export function keyProblem({ label, text }: PemBlock, passphrase?: string): string | undefined {
  if (text.length > longestKey) return `its private key is longer than ${longestKey} characters`;
  if (label === "ENCRYPTED PRIVATE KEY") {
    if (passphrase === undefined) return "its private key is encrypted, and no password is given";
    if (!isCheapToDecrypt(derOf(text)))
      return `its private key is not encrypted with PBKDF2 and at most ${mostIterations} iterations`;
  }
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: text, ...(passphrase !== undefined && { passphrase }) });
  } catch {
    return "its private key cannot be read, or its password is wrong";
  }
  const { asymmetricKeyType = "", asymmetricKeyDetails } = key;
  if (!keyTypes.includes(asymmetricKeyType))
    return "its private key is neither RSA, EC nor Ed25519";
  if ((asymmetricKeyDetails?.modulusLength ?? 0) > mostModulusBits)
    return `its private key has more than ${mostModulusBits} bits`;
  return undefined;
}

function derOf(pem: string): Buffer {
  const body = pem.split("\n").filter((line) => !line.startsWith("-----"));
  return Buffer.from(body.join(""), "base64");
}

/** scrypt, https://www.rfc-editor.org/rfc/rfc7914#section-7: no one number of it bounds its cost. */
const scrypt = Buffer.from("06092b06010401da47040b", "hex");

/** Whether no number in the algorithm of an EncryptedPrivateKeyInfo (RFC 5958) is larger than the iterations allowed. */
function isCheapToDecrypt(der: Buffer): boolean {
  const outer = readElement(der, 0, der.length);
  const algorithm = outer && readElement(der, outer.start, outer.end);
  if (algorithm === undefined) return false;
  if (der.subarray(algorithm.start, algorithm.end).includes(scrypt)) return false;
  const open = [{ at: algorithm.start, end: algorithm.end }];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const element = readElement(der, part.at, part.end);
    if (element === undefined) {
      if (part.at === part.end) continue;
      return false;
    }
    open.push({ at: element.end, end: part.end });
    if (element.isConstructed) open.push({ at: element.start, end: element.end });
    else if (element.tag === 0x02) {
      const digits = der.subarray(element.start, element.end);
      if (digits.length === 0 || digits.length > 6) return false;
      if (digits.readUIntBE(0, digits.length) > mostIterations) return false;
    }
  }
  return true;
}

/** A tag, a length and a value of DER. */
function readElement(der: Buffer, at: number, end: number) {
  const tag = der[at];
  const first = der[at + 1];
  if (tag === undefined || first === undefined || at + 2 > end) return undefined;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (lengthBytes > 3 || at + 2 + lengthBytes > end) return undefined;
  const length = lengthBytes === 0 ? first : der.readUIntBE(at + 2, lengthBytes);
  const start = at + 2 + lengthBytes;
  if (start + length > end || (first >= 0x80 && lengthBytes === 0)) return undefined;
  return { tag, isConstructed: (tag & 0x20) !== 0, start, end: start + length };
}
