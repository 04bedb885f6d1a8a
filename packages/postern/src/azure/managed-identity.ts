import { type Clock, dateBy, realClock, wait } from "@postern/core/clock.ts";
import type { Cloud } from "./clouds.ts";
import { AzureError } from "./errors.ts";
import { http } from "./http.ts";
import { cachedTokens, type FetchedToken, type TokenSource } from "./tokens.ts";
import { type Broken, type Received, send } from "./transport.ts";
import { isUnknownIdentity } from "./wording.ts";

/** Which managed identity, and where the metadata service answers. */
export interface ManagedIdentityOptions {
  cloud: Cloud;
  /** Of a user-assigned identity. Without it, the machine's own or only one. */
  clientId?: string | undefined;
  /** `AZURE_POD_IDENTITY_AUTHORITY_HOST`; the metadata service of the machine if not given. */
  host?: string | undefined;
  clock?: Clock;
  /** Told of every answer that is none: its status, or `none`. */
  failed?: (status: string) => void;
}

const what = "get a token from the instance metadata service";
const backOffMs = [1_000, 2_000, 4_000];
const retryGoneMs = Array<number>(7).fill(10_000);

/**
 * Tokens of a managed identity. The metadata service forbids proxies, and the Azure SDK sends these
 * requests through `HTTP_PROXY`: so they are made here, on connections that know no proxy.
 * https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service#proxies
 */
export function managedIdentity(options: ManagedIdentityOptions): TokenSource {
  const { cloud, clientId, host, clock = realClock } = options;
  const url = new URL("/metadata/identity/oauth2/token", host ?? "http://169.254.169.254");
  url.searchParams.set("api-version", "2018-02-01");
  url.searchParams.set("resource", `${cloud.audience}/`);
  if (clientId !== undefined) url.searchParams.set("client_id", clientId);
  const agent = new http.Agent({ keepAlive: false });
  const headers = { metadata: "true" };
  const ask = async () => {
    const answer = await send({ method: "GET", url, headers, agent, clock, timeoutMs: 5_000 });
    const status = "status" in answer ? String(answer.status) : "none";
    if (status !== "200") options.failed?.(status);
    return answer;
  };
  return cachedTokens(`managed/${clientId ?? "system"}`, () => fetchToken(ask, clock), clock);
}

/**
 * 404, 408, 429 and 5xx pass after a moment; 410 says that the service is being updated, for at most
 * 70 s. https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token#retry-guidance
 */
async function fetchToken(
  ask: () => Promise<Received | Broken>,
  clock: Clock,
): Promise<FetchedToken> {
  for (let attempt = 0; ; attempt++) {
    const answer = await ask();
    if ("status" in answer && answer.status === 200) return readToken(answer, clock);
    const pauseMs = pausesAfter(answer)[attempt];
    if (pauseMs === undefined) throw failure(answer);
    await wait(clock, pauseMs);
  }
}

function pausesAfter(answer: Received | Broken): readonly number[] {
  if ("broken" in answer) return backOffMs;
  const { status } = answer;
  if (status === 410) return retryGoneMs;
  return status === 404 || status === 408 || status === 429 || status >= 500 ? backOffMs : [];
}

function readToken(answer: Received, clock: Clock): FetchedToken {
  const body = parse(answer.text);
  const token = body.access_token;
  // Numbers come as text: seconds since 1970, or (older) seconds from now.
  const lastsMs =
    Number(body.expires_on) > 0
      ? Number(body.expires_on) * 1000 - dateBy(clock).getTime()
      : Number(body.expires_in) * 1000;
  const expiresAtMs = clock.now() + lastsMs;
  if (typeof token !== "string" || token === "" || !Number.isFinite(expiresAtMs))
    throw new AzureError({ code: "UnreadableAnswer", what });
  return { token, expiresAtMs };
}

function failure(answer: Received | Broken): AzureError {
  if ("broken" in answer)
    return new AzureError({ code: "ImdsUnavailable", what, cause: answer.cause });
  const { status } = answer;
  const description = String(parse(answer.text).error_description ?? "");
  const unknown = status === 400 && isUnknownIdentity(description);
  return new AzureError({ code: unknown ? "IdentityNotFound" : "ImdsUnavailable", what, status });
}

function parse(text: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? { ...body } : {};
  } catch {
    return {};
  }
}
