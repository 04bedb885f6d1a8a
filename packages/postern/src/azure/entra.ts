import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { TokenCredential, TokenCredentialOptions } from "@azure/identity";
import { type Clock, realClock } from "@postern/core/clock.ts";
import { isExplained } from "@postern/core/failure.ts";
import { keyProblem, readPem } from "@postern/core/pem.ts";
import type { Cloud } from "./clouds.ts";
import { AzureError } from "./errors.ts";
import { scrub } from "./scrub.ts";
import { cachedTokens, type TokenSource } from "./tokens.ts";
import { entraError, isUnanswered } from "./wording.ts";

/** An application or a user-assigned identity in a tenant of Entra. */
export interface Principal {
  tenantId: string;
  clientId: string;
}

/** Where tokens are asked for. */
export interface EntraOptions {
  cloud: Cloud;
  clock?: Clock;
  /** The authority that signed the certificate of this Entra, where it is not one of the public ones. */
  ca?: string;
  /** Sends the requests to Entra; the SDK's own unless a test gives one. */
  httpClient?: NonNullable<TokenCredentialOptions["httpClient"]>;
  /** Called with each certificate that is used, and when it expires. */
  onCertificate?: (principal: Principal, expiresAt: Date) => void;
}

type Sdk = typeof import("@azure/identity");
type SdkOptions = TokenCredentialOptions & { disableInstanceDiscovery: boolean };

/** A token of another issuer that Entra takes as proof, and whose it is, for messages. */
export interface Proof {
  assertion: string;
  subject?: string;
}

/** Tokens for a workload whose platform writes a token file: the file is exchanged for a token of Azure. */
export function workloadIdentity(
  principal: Principal & { tokenFile: string },
  options: EntraOptions,
): TokenSource {
  const { tokenFile } = principal;
  return federatedIdentity(
    { ...principal, proof: async () => ({ assertion: await readText(tokenFile) }) },
    options,
  );
}

/** Tokens for a workload that can get a token of another issuer: a new one is asked for each time. */
export function federatedIdentity(
  principal: Principal & { proof: () => Promise<Proof> },
  options: EntraOptions,
): TokenSource {
  const { tenantId, clientId, proof } = principal;
  return entraTokens(principal, options, async ({ ClientAssertionCredential }, sdkOptions, by) => {
    const { assertion, subject } = await proof();
    if (subject !== undefined) by(subject);
    const assert = () => Promise.resolve(assertion);
    return new ClientAssertionCredential(tenantId, clientId, assert, sdkOptions);
  });
}

/** Tokens for an application with a secret. With a function, the secret is read anew for each token. */
export function clientSecret(
  principal: Principal & { secret: string | (() => Promise<string>) },
  options: EntraOptions,
): TokenSource {
  const { tenantId, clientId, secret } = principal;
  return entraTokens(principal, options, async ({ ClientSecretCredential }, sdkOptions) => {
    const value = typeof secret === "string" ? secret : await secret();
    return new ClientSecretCredential(tenantId, clientId, value, sdkOptions);
  });
}

/** A certificate with its key in PEM, and what the key is locked with. */
export interface CertificateText {
  certificate: string;
  password?: string | undefined;
}

/** Tokens for an application with a certificate, which is read anew for each token: of a file, or of anywhere else. */
export function clientCertificate(
  principal: Principal &
    (
      | { certificateFile: string; password?: string | undefined }
      | { certificate: () => Promise<CertificateText> }
    ),
  options: EntraOptions,
): TokenSource {
  const { tenantId, clientId } = principal;
  const read =
    "certificate" in principal
      ? principal.certificate
      : async () => ({
          certificate: await readText(principal.certificateFile),
          password: principal.password,
        });
  return entraTokens(principal, options, async ({ ClientCertificateCredential }, sdkOptions) => {
    const given = await read();
    const { password } = given;
    const certificate = checkedCertificate(given);
    const expiresAt = expiryOf(certificate);
    if (expiresAt) options.onCertificate?.(principal, expiresAt);
    const locked = password === undefined ? {} : { certificatePassword: password };
    return new ClientCertificateCredential(
      tenantId,
      clientId,
      { certificate, ...locked },
      sdkOptions,
    );
  });
}

/**
 * The certificates and the key alone, of a text that a tenant may have written. The SDK searches the text by patterns that
 * are quadratic, and decrypts and signs with the key on the event loop.
 */
function checkedCertificate({ certificate, password }: CertificateText): string {
  const refuse = (detail: string) =>
    new AzureError({ code: "CredentialUnreadable", what: "use a client certificate", detail });
  const read = readPem(certificate);
  if ("problem" in read) throw refuse(read.problem);
  const keys = read.blocks.filter(({ label }) => label.endsWith("PRIVATE KEY"));
  const [key] = keys;
  if (key === undefined || keys.length > 1)
    throw refuse(`it holds ${keys.length} private keys in PEM and must hold one`);
  const problem = keyProblem(key, password);
  if (problem !== undefined) throw refuse(problem);
  return read.blocks.map(({ text }) => text).join("");
}

/** When the first certificate of a text expires; what cannot be read is the SDK's to refuse. */
function expiryOf(certificate: string): Date | undefined {
  try {
    return new X509Certificate(certificate).validToDate;
  } catch {
    return undefined;
  }
}

/**
 * The SDK is loaded when the first token is asked for (it costs a quarter of a second), and a
 * credential of it is made for each token: we keep tokens ourselves, and a file that was renewed is read.
 */
function entraTokens(
  { tenantId, clientId }: Principal,
  { cloud, clock = realClock, ca, httpClient }: EntraOptions,
  make: (
    sdk: Sdk,
    options: SdkOptions,
    /** Say whose proof it is that Entra gets to see. */
    by: (subject: string) => void,
  ) => TokenCredential | Promise<TokenCredential>,
): TokenSource {
  const sdkOptions: SdkOptions = {
    authorityHost: cloud.authorityHost,
    disableInstanceDiscovery: cloud.custom === true,
    ...(ca === undefined ? {} : { tlsOptions: { ca } }),
    ...(httpClient === undefined ? {} : { httpClient }),
  };
  const fetch = async () => {
    let what = "get a token for Azure";
    try {
      const by = (subject: string) => {
        what = `get a token for Azure with that of ${subject}`;
      };
      const credential = await make(await import("@azure/identity"), sdkOptions, by);
      const scope = `${cloud.audience}/.default`;
      const got = await credential.getToken(scope, { requestOptions: { timeout: 30_000 } });
      if (got === null) throw new Error("there is no token");
      // The SDK goes by the time of day, and our clock may not.
      return { token: got.token, expiresAtMs: clock.now() + got.expiresOnTimestamp - Date.now() };
    } catch (error) {
      throw isExplained(error) ? error : asAzureError(error, what);
    }
  };
  return cachedTokens(`${tenantId}/${clientId}`, fetch, clock);
}

function asAzureError(error: unknown, what: string): AzureError {
  const message = error instanceof Error ? error.message : "";
  const entra = entraError(message);
  return new AzureError({
    code: entra?.code ?? codeOf(error, message),
    what,
    // Any other sentence is the library's, for its own developers.
    detail: entra?.detail,
    status: Number(fieldOf(error, "statusCode")) || 0,
    // The SDK's error may hold the request with the secret in it: only its words are kept.
    cause: new Error(scrub(message)),
  });
}

/** The library under the SDK hides the cause behind a word of its own: no answer, or none that it can use. */
function codeOf(error: unknown, message: string): string {
  if (isUnanswered(message)) return "Unreachable";
  return fieldOf(error, "name") === "CredentialUnavailableError"
    ? "CredentialUnreadable"
    : "AuthenticationFailed";
}

async function readText(path: string): Promise<string> {
  const refuse = (cause?: unknown, detail?: string) =>
    new AzureError({
      code: "CredentialUnreadable",
      what: `read ${path}`,
      detail,
      cause,
    });
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw refuse(cause);
  });
  if (text.trim() === "") throw refuse(undefined, "it is empty");
  return text.trim();
}

function fieldOf(error: unknown, name: string): unknown {
  return typeof error === "object" && error !== null ? Reflect.get(error, name) : undefined;
}
