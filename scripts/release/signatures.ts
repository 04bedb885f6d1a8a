// Signs by a key, in the formats of cosign: https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md for blobs and
// images, DSSE for statements (https://github.com/secure-systems-lab/dsse).
import { createPrivateKey, createPublicKey, createSign, type KeyObject } from "node:crypto";
import { UsageError } from "@postern/core/process/usage-error.ts";

/** A private key in PEM (PKCS #8): ECDSA on P-256, as cosign uses. An encrypted one needs its passphrase. */
export function signingKey(pem: string, passphrase?: string): KeyObject {
  const key = privateKeyIn(pem, passphrase);
  if (key.asymmetricKeyDetails?.namedCurve !== "prime256v1")
    throw new UsageError("--key must be an ECDSA key on the curve P-256, in PEM");
  return key;
}

function privateKeyIn(pem: string, passphrase: string | undefined): KeyObject {
  try {
    return createPrivateKey({ key: pem, ...(passphrase !== undefined && { passphrase }) });
  } catch (cause) {
    const isEncrypted = pem.includes("ENCRYPTED");
    if (isEncrypted && passphrase === undefined)
      throw new UsageError("--key is encrypted: set RELEASE_KEY_PASSPHRASE", { cause });
    if (isEncrypted) throw new UsageError("RELEASE_KEY_PASSPHRASE does not open --key", { cause });
    throw new UsageError("--key must be a private key in PEM (PKCS #8)", { cause });
  }
}

/** Its public key in PEM, for those who verify. */
export function publicKey(key: KeyObject): string {
  return createPublicKey(key).export({ type: "spki", format: "pem" }).toString();
}

/** What `cosign sign-blob --key` writes: the signature of the bytes, in base64. */
export function signBlob(key: KeyObject, bytes: Buffer | string): string {
  return createSign("sha256").update(bytes).sign(key, "base64");
}

/** What `cosign sign --key` signs for an image. */
export function imagePayload(reference: string, digest: string): string {
  return JSON.stringify({
    critical: {
      identity: { "docker-reference": reference },
      image: { "docker-manifest-digest": digest },
      type: "cosign container image signature",
    },
    optional: {},
  });
}

const payloadType = "application/vnd.in-toto+json";

/** An envelope with a statement, and its signature over both type and content. */
export function envelope(key: KeyObject, statement: object): object {
  const payload = Buffer.from(JSON.stringify(statement));
  const length = (text: string | Buffer) => Buffer.byteLength(text);
  const signed = Buffer.concat([
    Buffer.from(`DSSEv1 ${length(payloadType)} ${payloadType} ${length(payload)} `),
    payload,
  ]);
  return {
    payloadType,
    payload: payload.toString("base64"),
    signatures: [{ sig: signBlob(key, signed) }],
  };
}
