import { createHash, createPublicKey, timingSafeEqual, X509Certificate } from "node:crypto";
import { isSignedBy, type ReadToken, readToken } from "@postern/core/test-bed/jwt.ts";
import type { Application, FederatedCredential } from "./application.ts";
import type { Directory } from "./directory.ts";
import { invalidClient, invalidRequest } from "./refusal.ts";

/** All that a proof is held against. */
export interface ProofAsked {
  directory: Directory;
  application: Application;
  now: number;
  /** Where the token is asked for: an assertion must be made for it. */
  audiences: readonly string[];
}

/** Entra lets the clock of the asker be wrong by this much. */
const skewMs = 300_000;

const federationHelp = "https://learn.microsoft.com/entra/workload-id/workload-identity-federation";

/** Refuse a secret that is not the application's, or not any more. */
export function checkSecret({ application, now }: ProofAsked, given: string): void {
  const found = application.secrets.find(({ value }) => same(value, given));
  if (!found)
    throw invalidClient(
      7000215,
      `Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app '${application.appId}'.`,
    );
  if (found.expiresAt !== undefined && found.expiresAt <= now)
    throw invalidClient(
      7000222,
      `The provided client secret keys for app '${application.appId}' are expired. Visit the Azure portal to create new keys for your app: https://aka.ms/NewClientSecret, or consider using certificate credentials for added security: https://aka.ms/certCreds.`,
    );
}

/** Refuse an assertion that proves nothing: one signed with a certificate of the application, or another's token. */
export function checkAssertion(asked: ProofAsked, given: string): void {
  const token = readToken(given);
  if (!token) throw invalidRequest(50027, "JWT token is invalid or malformed.");
  if (token.claims.iss === asked.application.appId) checkCertificate(asked, token);
  else checkFederated(asked, token);
}

function checkCertificate({ application, audiences, now }: ProofAsked, token: ReadToken): void {
  const { header, claims } = token;
  const [mark, digest] =
    typeof header["x5t#S256"] === "string" ? [header["x5t#S256"], "sha256"] : [header.x5t, "sha1"];
  if (typeof mark !== "string")
    throw invalidClient(
      50027,
      "Invalid JWT token. No certificate thumbprint specified in token header.",
    );
  const certificate = application.certificates
    .map((each) => new X509Certificate(each))
    .find(({ raw }) => createHash(digest).update(raw).digest("base64url") === mark);
  if (!certificate)
    throw invalidClient(
      700027,
      `The certificate with identifier used to sign the client assertion is not registered on application. [Reason - The key was not found., Thumbprint of key used by client: '${Buffer.from(mark, "base64url").toString("hex").toUpperCase()}', Please visit the Azure Portal, Graph Explorer or directly use MS Graph to see configured keys for app Id '${application.appId}'.]`,
    );
  if (!isSignedBy(token, certificate.publicKey))
    throw invalidClient(
      700027,
      "Client assertion contains an invalid signature. [Reason - The provided signature value did not match the expected signature value.]",
    );
  if (!audiences.includes(String(claims.aud)))
    throw invalidClient(700023, "Client assertion audience claim does not match Realm issuer.");
  if (claims.sub !== application.appId)
    throw invalidClient(
      700021,
      "Client assertion application identifier doesn't match 'client_id' parameter.",
    );
  checkTimes(token, now);
}

/** In the order in which Entra looks: issuer, then subject, then audience, each to the letter. */
function checkFederated({ directory, application, now }: ProofAsked, token: ReadToken): void {
  const { iss, sub, aud } = token.claims;
  const [issuer, subject] = [String(iss), String(sub)];
  const { federated } = application;
  if (federated.length === 0)
    throw invalidClient(
      70025,
      `The client '${application.appId}'(${application.displayName}) has no configured federated identity credentials.`,
    );
  const none = (number: number, what: string) =>
    invalidClient(
      number,
      `No matching federated identity record found for presented assertion ${what}. Check your federated identity credential Subject, Audience and Issuer against the presented assertion. ${federationHelp}`,
    );
  const ofIssuer = federated.filter((each) => each.issuer === issuer);
  if (ofIssuer.length === 0) throw none(700211, `issuer '${issuer}'`);
  checkSignature(directory, token, issuer);
  const ofSubject = ofIssuer.filter((each) => each.subject === subject);
  if (ofSubject.length === 0) throw nobody(ofIssuer, subject, none);
  const audiences = (Array.isArray(aud) ? aud : [aud]).map(String);
  if (!ofSubject.some((each) => each.audiences.some((one) => audiences.includes(one))))
    throw none(700212, `audience '${audiences.join(",")}'`);
  checkTimes(token, now);
}

/** A subject that differs in case has a number of its own. */
function nobody(
  credentials: readonly FederatedCredential[],
  subject: string,
  none: (number: number, what: string) => Error,
): Error {
  const near = credentials.some((each) => each.subject.toLowerCase() === subject.toLowerCase());
  return near
    ? invalidClient(
        7002138,
        `No matching federated identity record found for presented assertion subject '${subject}'. The subject matches with case-insensitive comparison, but not with case-sensitive comparison. Check your federated identity credential Subject, Audience and Issuer against the presented assertion. ${federationHelp}`,
      )
    : none(700213, `subject '${subject}'`);
}

function checkSignature(directory: Directory, token: ReadToken, issuer: string): void {
  const trusted = directory.issuer(issuer);
  if (!trusted) return;
  const { kid } = token.header;
  const signed = trusted.keys
    .filter((each) => kid === undefined || Reflect.get(each, "kid") === kid)
    .some((key) => isSignedBy(token, createPublicKey({ key, format: "jwk" })));
  if (!signed)
    throw invalidClient(
      700027,
      "Client assertion failed signature validation. [Reason - The key was not found or the signature does not match.]",
    );
}

function checkTimes({ claims }: ReadToken, now: number): void {
  const from = Number(claims.nbf ?? claims.iat ?? 0) * 1000;
  const until = Number(claims.exp ?? 0) * 1000;
  if (from - skewMs <= now && now < until + skewMs) return;
  const word = (at: number) => new Date(Number.isFinite(at) ? at : 0).toISOString();
  throw invalidClient(
    700024,
    `Client assertion is not within its valid time range. Current time: ${word(now)}, assertion valid from ${word(from)}, expiry time of assertion ${word(until)}. Review the documentation at https://learn.microsoft.com/entra/identity-platform/certificate-credentials .`,
  );
}

/** Compare without telling by the time it takes where the difference is. */
function same(a: string, b: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}
