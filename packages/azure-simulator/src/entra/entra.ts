import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "@postern/core/clock.ts";
import { readBody } from "../arm/body.ts";
import type { RequestLog } from "../control/request-log.ts";
import type { Pages } from "../server.ts";
import type { Directory } from "./directory.ts";
import { EntraRefusal, invalidRequest } from "./refusal.ts";
import { checkTenant, grant } from "./token.ts";

/** What the pages of Entra are made of. */
export interface EntraParts {
  directory: Directory;
  clock: Clock;
  log: RequestLog;
  guid: () => string;
  /** Calls back when all changes are persisted: a token must not be sent before its key is stored. */
  whenPersisted(then: () => void): void;
  /** Told of errors that are faults of the simulator itself. */
  bug?: (error: unknown) => void;
}

interface Asked {
  tenant: string;
  /** Where the asker reached us, such as `https://localhost:8443`. */
  base: string;
  query: URLSearchParams;
  form: URLSearchParams;
}

/** For the support matrix: where sign-in differs from Entra's. */
export const entraDifferences: readonly string[] = [
  "Applications only: no users, groups or consent; the only grant is client_credentials.",
  "The keys of a federated issuer are not fetched: signatures of its tokens are verified only if its keys were registered, and accepted otherwise.",
  "Tokens contain only the claims that Resource Manager uses; they are for Resource Manager, Microsoft Graph, Key Vault and Storage.",
  "Changes take effect immediately; in Entra they take seconds to minutes.",
  "No throttling, no conditional access; a token is never revoked before it expires. One with an unknown signature is rejected with a claims challenge, so that clients request a new one.",
];

const pattern =
  /^\/([^/?]+)\/(oauth2\/v2\.0\/token|(?:v2\.0\/)?\.well-known\/openid-configuration|discovery(?:\/v2\.0)?\/keys|discovery\/instance)\/?(?:\?(.*))?$/i;

/** Sign-in: the token endpoint, and the documents that say where it is and how its tokens are signed. */
export class Entra implements Pages {
  readonly #parts: EntraParts;

  constructor(parts: EntraParts) {
    this.#parts = parts;
  }

  take(request: IncomingMessage, response: ServerResponse): boolean {
    const { url = "/", method = "GET" } = request;
    const match = pattern.exec(url);
    if (!match) return false;
    const [, tenant = "", page = "", query = ""] = match;
    const reply = (body: string | undefined) => {
      const asked = {
        tenant: decoded(tenant),
        base: baseOf(request),
        query: new URLSearchParams(query),
        form: new URLSearchParams(body ?? ""),
      };
      this.#reply(request, response, () => this.#answer(method, page.toLowerCase(), asked));
    };
    if (method === "POST") readBody(request).then(reply, () => response.destroy());
    else reply("");
    return true;
  }

  #answer(method: string, page: string, asked: Asked): unknown {
    if (page.startsWith("oauth2")) {
      if (method !== "POST")
        throw invalidRequest(
          900561,
          `The endpoint only accepts POST requests. Received a ${method} request.`,
        );
      return this.#token(asked);
    }
    if (page === "discovery/instance") return instance(asked);
    if (!isShared(asked.tenant)) checkTenant(this.#parts.directory, asked.tenant);
    if (page.startsWith("discovery")) return this.#keys(asked);
    return configuration(asked, page.startsWith("v2.0"));
  }

  #token({ tenant, base, form }: Asked): unknown {
    const { directory, clock } = this.#parts;
    const at = (host: string) => [
      `${host}/${tenant}/oauth2/v2.0/token`,
      `${host}/${tenant}/oauth2/token`,
      `${host}/${tenant}/v2.0`,
    ];
    const audiences = [...at(base), ...at("https://login.microsoftonline.com")];
    return grant(directory, { tenant, form, now: clock.now(), audiences });
  }

  #keys({ tenant }: Asked): unknown {
    const { kid, jwk } = this.#parts.directory.signingKey;
    const { kty, n, e } = jwk;
    const issuer = `https://login.microsoftonline.com/${tenant}/v2.0`;
    return { keys: [{ kty, use: "sig", kid, x5t: kid, n, e, issuer }] };
  }

  #reply(request: IncomingMessage, response: ServerResponse, answer: () => unknown): void {
    const { clock, log, guid, whenPersisted, bug } = this.#parts;
    const id = guid();
    let status = 200;
    let body: unknown;
    try {
      body = answer();
    } catch (error) {
      if (!(error instanceof EntraRefusal)) bug?.(error);
      const refusal =
        error instanceof EntraRefusal
          ? error
          : new EntraRefusal(500, "server_error", 90033, "A transient error has occurred.");
      const given = request.headers["client-request-id"];
      const correlation = typeof given === "string" ? given : id;
      status = refusal.status;
      body = refusal.body({ trace: id, correlation, at: clock.now() });
    }
    const text = JSON.stringify(body);
    response.writeHead(status, {
      "Cache-Control": "no-store, no-cache",
      Pragma: "no-cache",
      "Content-Type": "application/json; charset=utf-8",
      "Content-Length": Buffer.byteLength(text),
      Expires: "-1",
      "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
      "X-Content-Type-Options": "nosniff",
      "x-ms-request-id": id,
      Date: new Date(clock.now()).toUTCString(),
    });
    whenPersisted(() => response.end(text));
    const { method = "GET", url = "/" } = request;
    const [path = url, query = ""] = url.split("?", 2);
    const named = request.headers["client-request-id"];
    log.add({
      sequence: log.count(),
      at: clock.now(),
      method,
      path,
      query,
      ...(typeof named === "string" && { clientRequestId: named }),
      status,
      identity: "",
      action: "",
      cost: "none",
    });
  }
}

/** The words that stand for any tenant. Their documents can be read; nobody signs in there without a tenant. */
function isShared(tenant: string): boolean {
  return /^(common|organizations)$/i.test(tenant);
}

function configuration({ tenant, base }: Asked, second: boolean): unknown {
  const v2 = second ? "/v2.0" : "";
  const host = base.slice(base.indexOf("//") + 2);
  return {
    token_endpoint: `${base}/${tenant}/oauth2${v2}/token`,
    token_endpoint_auth_methods_supported: [
      "client_secret_post",
      "private_key_jwt",
      "client_secret_basic",
    ],
    jwks_uri: `${base}/${tenant}/discovery${v2}/keys`,
    response_modes_supported: ["query", "fragment", "form_post"],
    subject_types_supported: ["pairwise"],
    id_token_signing_alg_values_supported: ["RS256"],
    response_types_supported: ["code", "id_token", "code id_token", "id_token token"],
    scopes_supported: ["openid", "profile", "email", "offline_access"],
    issuer: second ? `${base}/${tenant}/v2.0` : `https://sts.windows.net/${tenant}/`,
    request_uri_parameter_supported: false,
    authorization_endpoint: `${base}/${tenant}/oauth2${v2}/authorize`,
    device_authorization_endpoint: `${base}/${tenant}/oauth2${v2}/devicecode`,
    http_logout_supported: true,
    frontchannel_logout_supported: true,
    end_session_endpoint: `${base}/${tenant}/oauth2${v2}/logout`,
    claims_supported: ["sub", "iss", "aud", "exp", "iat", "oid", "tid", "appid", "ver"],
    tenant_region_scope: null,
    // Whoever follows these must not come to Microsoft.
    cloud_instance_name: host,
    cloud_graph_host_name: host,
    msgraph_host: host,
    rbac_url: base,
  };
}

/** Which hosts are one authority. The simulator is one of its own. */
function instance({ base, query }: Asked): unknown {
  const host = base.slice(base.indexOf("//") + 2);
  const tenant = /^https?:\/\/[^/]+\/([^/]+)/.exec(query.get("authorization_endpoint") ?? "")?.[1];
  return {
    tenant_discovery_endpoint: `${base}/${tenant ?? "common"}/v2.0/.well-known/openid-configuration`,
    "api-version": "1.1",
    metadata: [{ preferred_network: host, preferred_cache: host, aliases: [host] }],
  };
}

/** Where the asker reached us, as the asker wrote it: it may have been by any of our names. */
export function baseOf(request: IncomingMessage): string {
  const scheme = "encrypted" in request.socket ? "https" : "http";
  const host = request.headers.host ?? "";
  return `${scheme}://${/^[\w.:[\]-]+$/.test(host) ? host : "localhost"}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
