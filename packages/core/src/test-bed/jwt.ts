import {
  constants,
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";

/** What a token says. */
export type Claims = Readonly<Record<string, unknown>>;

/** A token taken apart; nothing of it has been checked. */
export interface ReadToken {
  header: Claims;
  claims: Claims;
  /** What was signed. */
  signed: string;
  signature: Buffer;
}

/** A key that signs tokens, and its public half as its readers get it. */
export interface SigningKey {
  kid: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
  jwk: JsonWebKey;
}

/** Take a token apart; undefined where it is none. */
export function readToken(token: string): ReadToken | undefined {
  const parts = token.split(".");
  const [header = "", claims = "", signature = ""] = parts;
  if (parts.length !== 3) return undefined;
  const read = { header: parse(header), claims: parse(claims) };
  if (!read.header || !read.claims) return undefined;
  return {
    header: read.header,
    claims: read.claims,
    signed: `${header}.${claims}`,
    signature: Buffer.from(signature, "base64url"),
  };
}

/** Make a token that is signed with RS256. */
export function makeToken(claims: Claims, key: SigningKey): string {
  const header = { typ: "JWT", alg: "RS256", x5t: key.kid, kid: key.kid };
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), key.privateKey).toString("base64url")}`;
}

/** Whether a key made the signature of a token. Only with algorithms that Entra takes. */
export function isSignedBy({ header, signed, signature }: ReadToken, key: KeyObject): boolean {
  const data = Buffer.from(signed);
  try {
    switch (header.alg) {
      case "RS256":
        return key.asymmetricKeyType === "rsa" && verify("sha256", data, key, signature);
      case "PS256":
        return verify(
          "sha256",
          data,
          { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 },
          signature,
        );
      case "ES256":
        return (
          key.asymmetricKeyType === "ec" &&
          verify("sha256", data, { key, dsaEncoding: "ieee-p1363" }, signature)
        );
      default:
        return false;
    }
  } catch {
    return false;
  }
}

/** The key of a PEM, which came from a saved state. */
export function signingKey(pem: string): SigningKey {
  return withPublic(createPrivateKey(pem));
}

let shared: SigningKey | undefined;

/** One key for all simulators of a process: making one takes a tenth of a second. */
export function sharedSigningKey(): SigningKey {
  shared ??= withPublic(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey);
  return shared;
}

function withPublic(privateKey: KeyObject): SigningKey {
  const publicKey = createPublicKey(privateKey);
  const jwk = publicKey.export({ format: "jwk" });
  const kid = createHash("sha256").update(String(jwk.n)).digest("base64url").slice(0, 27);
  return { kid, privateKey, publicKey, jwk };
}

function parse(part: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Claims)
      : undefined;
  } catch {
    return undefined;
  }
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
