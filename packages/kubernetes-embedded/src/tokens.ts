import { generateKeyPairSync, type JsonWebKey, randomBytes } from "node:crypto";
import type { Clock } from "@postern/core/clock.ts";
import {
  isSignedBy,
  makeToken,
  readToken,
  type SigningKey,
  signingKey,
} from "@postern/core/test-bed/jwt.ts";
import type { KeyValue } from "@postern/core/test-bed/key-value.ts";
import type { Asker } from "./kinds/reviews.ts";

/** Whom service accounts' tokens are from and for. */
export const issuer = "https://kubernetes.default.svc";

/** A token of a service account, before it is signed. */
export interface AccountToken {
  namespace: string;
  name: string;
  uid: string;
  audiences: readonly string[];
  expirationSeconds: number;
}

/** Who has which token. */
export interface Tokens {
  /** The token of the one who runs all this. */
  admin: string;
  /** Whose token it is; undefined where it is nobody's, or not any more, or for none of these audiences. */
  whoHas(token: string, audiences?: readonly string[]): Asker | undefined;
  /** A token for a service account. */
  mint(wanted: AccountToken): { token: string; expires: number };
  /** By which others know the tokens of service accounts. */
  keys(): JsonWebKey[];
}

const adminName = "token of admin";
const keyName = "key of tokens";

/** The tokens that are given by name, one for the admin, and those that are minted. */
export function makeTokens(
  given: Readonly<Record<string, string>>,
  things: KeyValue,
  clock: Clock,
  exists: (namespace: string, name: string, uid: string) => boolean,
): Tokens {
  const admin = given.admin ?? things.get(adminName) ?? randomBytes(16).toString("hex");
  things.set(adminName, admin);
  const key = keyIn(things);
  const named = new Map(
    Object.entries({ ...given, admin }).map(([name, token]) => [token, userOf(name)]),
  );
  return {
    admin,
    whoHas: (token, audiences = [issuer]) =>
      named.get(token) ?? accountOf(token, key, audiences, clock.now(), exists),
    mint: (wanted) => mint(wanted, key(), clock.now()),
    keys: () => [{ use: "sig", kid: key().kid, alg: "RS256", ...key().jwk }],
  };
}

/** The key is made when it is first needed: that takes a tenth of a second, and most never need it. */
function keyIn(things: KeyValue): () => SigningKey {
  let key: SigningKey | undefined;
  return () => {
    key ??= signingKey(things.get(keyName) ?? newKey(things));
    return key;
  };
}

function newKey(things: KeyValue): string {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  things.set(keyName, pem);
  return pem;
}

function userOf(name: string): Asker {
  const group = name === "admin" ? "system:masters" : "postern:users";
  return { username: name, uid: name, groups: [group, "system:authenticated"] };
}

interface Claims {
  aud: string[];
  exp: number;
  sub: string;
  "kubernetes.io": { namespace: string; serviceaccount: { name: string; uid: string } };
}

function mint(
  wanted: AccountToken,
  key: SigningKey,
  now: number,
): { token: string; expires: number } {
  const { namespace, name, uid, audiences, expirationSeconds } = wanted;
  const iat = Math.floor(now / 1000);
  const exp = iat + expirationSeconds;
  const claims = {
    aud: audiences,
    exp,
    iat,
    iss: issuer,
    jti: randomBytes(16).toString("hex"),
    "kubernetes.io": { namespace, serviceaccount: { name, uid } },
    nbf: iat,
    sub: `system:serviceaccount:${namespace}:${name}`,
  };
  return { token: makeToken(claims, key), expires: exp * 1000 };
}

function accountOf(
  token: string,
  key: () => SigningKey,
  audiences: readonly string[],
  now: number,
  exists: (namespace: string, name: string, uid: string) => boolean,
): Asker | undefined {
  const read = readToken(token);
  if (!read || !isSignedBy(read, key().publicKey)) return undefined;
  const claims = read.claims as unknown as Claims;
  if (!audiences.some((audience) => claims.aud.includes(audience))) return undefined;
  const { namespace, serviceaccount } = claims["kubernetes.io"];
  if (claims.exp * 1000 <= now || !exists(namespace, serviceaccount.name, serviceaccount.uid))
    return undefined;
  return {
    username: claims.sub,
    uid: serviceaccount.uid,
    groups: [
      "system:serviceaccounts",
      `system:serviceaccounts:${namespace}`,
      "system:authenticated",
    ],
  };
}
