import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { der } from "../../../test/der.ts";
import { keyProblem, readPem } from "./pem.ts";

const { integer, octets, oid, sequence, tagged } = der;
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const plain = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const encrypted = privateKey
  .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "p" })
  .toString();

function problemOf(text: string, passphrase?: string): string | undefined {
  const read = readPem(text);
  if ("problem" in read) return read.problem;
  const [block] = read.blocks;
  return block === undefined ? "no block" : keyProblem(block, passphrase);
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

/** A number with so many bits set. */
const ones = (bytes: number) => integer(Buffer.alloc(bytes, 0x7f));

/** An encrypted key whose derivation has these parameters. */
function encryptedWith(kdf: string, ...parameters: Buffer[]): string {
  const derivation = sequence(oid(kdf), sequence(octets(Buffer.alloc(8)), ...parameters));
  const cipher = sequence(oid("2.16.840.1.101.3.4.1.42"), octets(Buffer.alloc(16)));
  const scheme = sequence(oid("1.2.840.113549.1.5.13"), sequence(derivation, cipher));
  return pem("ENCRYPTED PRIVATE KEY", sequence(scheme, octets(Buffer.alloc(64))));
}

const pbkdf2 = "1.2.840.113549.1.5.12";
const scrypt = "1.3.6.1.4.1.11591.4.11";

test("keys as tools make them are used", () => {
  expect(problemOf(plain)).toBeUndefined();
  expect(problemOf(encrypted, "p")).toBeUndefined();
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  expect(problemOf(ec.export({ type: "sec1", format: "pem" }).toString())).toBeUndefined();
});

test.each([
  ["an encrypted key without a password", encrypted, undefined, /no password/],
  ["a wrong password", encrypted, "q", /password is wrong/],
  ["no key", pem("PRIVATE KEY", Buffer.from("x")), undefined, /cannot be read/],
  [
    "a key that takes minutes to decrypt",
    encryptedWith(pbkdf2, integer(Buffer.from([0x7f, 0xff, 0xff, 0xff]))),
    "p",
    /at most 100000 iterations/,
  ],
  [
    "a key that takes years to decrypt",
    encryptedWith(pbkdf2, ones(8)),
    "p",
    /at most 100000 iterations/,
  ],
  [
    "a key whose scrypt has no bound",
    encryptedWith(scrypt, ones(2), ones(1), ones(2)),
    "p",
    /at most 100000 iterations/,
  ],
  [
    "an encrypted key that is cut off",
    pem("ENCRYPTED PRIVATE KEY", Buffer.from([0x30, 0x82, 0xff, 0xff, 0x30, 0x03, 0x02])),
    "p",
    /at most 100000 iterations/,
  ],
  [
    "a key that takes seconds to sign with",
    pem(
      "RSA PRIVATE KEY",
      sequence(
        ...[integer(Buffer.from([0])), ones(1200), integer(Buffer.from([1, 0, 1]))],
        ...[ones(1), ones(1), ones(1), ones(1), ones(1), ones(1)],
      ),
    ),
    undefined,
    /more than 8192 bits/,
  ],
  [
    "a key of a megabit",
    pem("RSA PRIVATE KEY", tagged(0x30, Buffer.alloc(20_000, 0x7f))),
    undefined,
    /longer than 8192 characters/,
  ],
  ["a text of megabytes", "-".repeat(1_000_000), undefined, /longer than 65536/],
  ["a block without an end", "-----BEGIN PRIVATE KEY-----\nAAAA", undefined, /no end/],
  ["a hundred blocks", pem("A", Buffer.from("x")).repeat(100), undefined, /more than 64 blocks/],
])("%s is refused before it costs anything", (_what, text, passphrase, message) => {
  expect(problemOf(text, passphrase)).toMatch(message);
});

test.each([
  ["dashes", "-"],
  ["beginnings", "-----BEGIN "],
  ["labels", "-----BEGIN CERTIFICATE-----"],
  ["empty blocks", "-----BEGIN A-----\n-----END A-----\n"],
])("the longest text of %s is read in a moment", (_what, unit) => {
  const started = performance.now();
  readPem(unit.repeat(Math.floor(65_536 / unit.length)));
  expect(performance.now() - started).toBeLessThan(1_000);
});
