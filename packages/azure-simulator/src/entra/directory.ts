import { createPublicKey, X509Certificate } from "node:crypto";
import type { Clock } from "@postern/core/clock.ts";
import { lastSegment } from "@postern/core/resource-id.ts";
import {
  isSignedBy,
  makeToken,
  readToken,
  type SigningKey,
  sharedSigningKey,
  signingKey,
} from "@postern/core/test-bed/jwt.ts";
import { Refusal } from "../arm/refusal.ts";
import type { Principal } from "../arm/resource-type.ts";
import { guidFrom } from "../state/guid.ts";
import type { Application, FederatedCredential, TrustedIssuer } from "./application.ts";

/** What is persisted of a directory. Managed identities are persisted as resources. */
export interface DirectoryState {
  /** Absent while no token was made. */
  signingKey?: string;
  names: [string, string][];
  tenants: string[];
  subscriptions: [string, string][];
  applications: Application[];
  issuers: TrustedIssuer[];
}

/** Who a token is for and how long it lasts. */
export interface TokenAsked {
  audience?: string;
  forMs?: number;
  /** How the holder proved who it is: `1` by a secret, `2` by a certificate or another token. */
  proof?: "1" | "2";
}

/** What Resource Manager takes as the audience of a token; the simulator's own addresses come to it. */
const managementAudiences = [
  "https://management.core.windows.net/",
  "https://management.core.windows.net",
  "https://management.azure.com/",
  "https://management.azure.com",
];

/** What a header turned out to say. */
interface Verified {
  authorization: string;
  principal: Principal;
  expiresAt: number;
}

const mostCached = 10_000;

/** Tenants, subscriptions, who can sign in, and their tokens. */
export class Directory {
  readonly #clock: Clock;
  readonly #guid: () => string;
  readonly #tenants = new Set<string>();
  readonly #names = new Map<string, string>();
  readonly #tenantBySubscription = new Map<string, string>();
  readonly #byAppId = new Map<string, Application>();
  readonly #byObjectId = new Map<string, Application>();
  readonly #issuers = new Map<string, TrustedIssuer>();
  readonly #audiences = new Set(managementAudiences);
  /** By the whole header: checking a signature for every request would cost more than answering it. */
  readonly #verified = new Map<string, Verified>();
  /** Most requests come from whoever sent the one before: to compare a long text costs less than to look it up. */
  #latest: Verified | undefined;
  #key: SigningKey | undefined;

  /** Told when something changed that `save` gives. */
  readonly #changed: () => void;

  constructor(options: { clock: Clock; guid: () => string; changed?: () => void }) {
    this.#clock = options.clock;
    this.#guid = options.guid;
    this.#changed = options.changed ?? (() => undefined);
  }

  addTenant(tenant: string, name?: string): void {
    this.#changed();
    this.#tenants.add(tenant.toLowerCase());
    if (name !== undefined) this.#names.set(tenant.toLowerCase(), name);
  }

  hasTenant(tenant: string): boolean {
    return this.#tenants.has(tenant.toLowerCase());
  }

  addSubscription(subscription: string, tenant: string, name?: string): void {
    this.addTenant(tenant);
    this.#tenantBySubscription.set(subscription.toLowerCase(), tenant.toLowerCase());
    if (name !== undefined) this.#names.set(subscription.toLowerCase(), name);
  }

  subscriptions(): string[] {
    return [...this.#tenantBySubscription.keys()];
  }

  tenantOf(subscription: string): string | undefined {
    return this.#tenantBySubscription.get(subscription.toLowerCase());
  }

  /** What people call a tenant or a subscription. */
  nameOf(guid: string): string | undefined {
    return this.#names.get(guid.toLowerCase());
  }

  /** Let an application sign in. What is not given is made. */
  addApplication(given: Partial<Application> & { tenant: string }): Application {
    const appId = (given.appId ?? this.#guid()).toLowerCase();
    // What is no certificate is told at once, and not when someone signs in.
    for (const each of given.certificates ?? []) new X509Certificate(each);
    const application: Application = {
      ...given,
      tenant: given.tenant.toLowerCase(),
      appId,
      objectId: (given.objectId ?? this.#guid()).toLowerCase(),
      displayName: given.displayName ?? appId,
      secrets: given.secrets ?? [],
      certificates: given.certificates ?? [],
      federated: given.federated ?? [],
    };
    this.addTenant(application.tenant);
    this.#byAppId.set(appId, application);
    this.#byObjectId.set(application.objectId, application);
    return application;
  }

  /** End the sign-in of someone. A token that they have goes on until its end, as in Entra. */
  removeApplication(objectId: string): void {
    const held = this.#byObjectId.get(objectId.toLowerCase());
    if (!held) return;
    this.#changed();
    this.#byObjectId.delete(held.objectId);
    this.#byAppId.delete(held.appId);
  }

  /** By client id. */
  application(appId: string): Application | undefined {
    return this.#byAppId.get(appId.toLowerCase());
  }

  /** By object id. */
  find(objectId: string): Application | undefined {
    return this.#byObjectId.get(objectId.toLowerCase());
  }

  /** The system-assigned identity of a machine. Its client id is derived from its object id, so that only that is stored. */
  addSystemIdentity(identity: {
    tenant: string;
    objectId: string;
    resourceId: string;
  }): Application {
    const appId = guidFrom(`client of ${identity.objectId.toLowerCase()}`);
    const displayName = lastSegment(identity.resourceId);
    return this.addApplication({ ...identity, appId, displayName });
  }

  federate(objectId: string, credential: FederatedCredential): void {
    const held = this.find(objectId);
    if (!held) return;
    this.unfederate(objectId, credential.name);
    this.#changed();
    held.federated.push(credential);
  }

  unfederate(objectId: string, name: string): void {
    const held = this.find(objectId);
    if (held)
      held.federated = held.federated.filter(
        (each) => each.name.toLowerCase() !== name.toLowerCase(),
      );
  }

  /** Make known the keys of an issuer, so that the signatures of its tokens are checked. */
  trustIssuer(issuer: TrustedIssuer): void {
    for (const key of issuer.keys) createPublicKey({ key, format: "jwk" });
    this.#changed();
    this.#issuers.set(issuer.issuer, issuer);
  }

  issuer(url: string): TrustedIssuer | undefined {
    return this.#issuers.get(url);
  }

  /** Take tokens for this audience too: an address of the simulator, which clients ask for as they would for Azure's. */
  acceptAudience(audience: string): void {
    this.#audiences.add(audience);
    this.#audiences.add(`${audience}/`);
  }

  isManagement(audience: string): boolean {
    return this.#audiences.has(audience);
  }

  get signingKey(): SigningKey {
    if (!this.#key) {
      this.#key = sharedSigningKey();
      this.#changed();
    }
    return this.#key;
  }

  /** A token for someone, for Resource Manager and good for an hour if nothing else is said. */
  tokenFor(principal: Principal, asked: TokenAsked | number = {}): string {
    const {
      forMs = 3_600_000,
      audience = "https://management.azure.com",
      proof = "1",
    } = typeof asked === "number" ? { forMs: asked } : asked;
    const now = Math.floor(this.#clock.now() / 1000);
    const issuer = `https://sts.windows.net/${principal.tenant}/`;
    const resourceId = this.find(principal.objectId)?.resourceId;
    const claims = {
      aud: audience,
      iss: issuer,
      iat: now,
      nbf: now,
      exp: now + Math.floor(forMs / 1000),
      appid: principal.appId,
      appidacr: proof,
      idp: issuer,
      idtyp: "app",
      oid: principal.objectId,
      sub: principal.objectId,
      tid: principal.tenant,
      uti: this.#guid(),
      ver: "1.0",
      ...(resourceId !== undefined && { xms_mirid: resourceId }),
    };
    return makeToken(claims, this.signingKey);
  }

  /** Who sends this header. */
  authenticate(authorization: string | undefined): Principal {
    if (authorization === undefined)
      throw unauthenticated(
        "AuthenticationFailed",
        "Authentication failed. The 'Authorization' header is missing.",
      );
    if (authorization !== this.#latest?.authorization)
      this.#latest = this.#verified.get(authorization) ?? this.#verify(authorization);
    const held = this.#latest;
    const now = this.#clock.now();
    if (held.expiresAt <= now)
      throw unauthenticated(
        "ExpiredAuthenticationToken",
        `The access token expiry UTC time '${inWords(held.expiresAt)}' is earlier than current UTC time '${inWords(now)}'.`,
      );
    return held.principal;
  }

  #verify(authorization: string): Verified {
    if (!/^Bearer [^ ]+$/i.test(authorization))
      throw unauthenticated(
        "AuthenticationFailedInvalidHeader",
        "Authentication failed. The 'Authorization' header is provided in an invalid format.",
      );
    const token = readToken(authorization.slice(7));
    if (!token) throw unauthenticated("InvalidAuthenticationToken", "The access token is invalid.");
    if (!isSignedBy(token, this.signingKey.publicKey))
      throw unauthenticated("InvalidAuthenticationToken", "The access token is invalid.", {
        newerThan: this.#clock.now(),
      });
    const { aud, oid, appid, tid, exp } = token.claims;
    if (!this.#audiences.has(String(aud)))
      throw unauthenticated(
        "InvalidAuthenticationTokenAudience",
        `The access token has been obtained for wrong audience or resource '${String(aud)}'. It should exactly match with one of the allowed audiences ${managementAudiences.map((each) => `'${each}'`).join(",")}.`,
      );
    if (typeof oid !== "string")
      throw unauthenticated(
        "InvalidAuthenticationToken",
        "The received access token is not valid: at least one of the claims 'puid' or 'altsecid' or 'oid' should be present. If you are accessing as application please make sure service principal is properly created in the tenant.",
      );
    const principal = { tenant: String(tid), objectId: oid, appId: String(appid) };
    const made = { authorization, principal, expiresAt: Number(exp) * 1000 };
    if (this.#verified.size >= mostCached) this.#verified.clear();
    this.#verified.set(authorization, made);
    return made;
  }

  /** What must be persisted so that tokens and sign-ins work after a restart. */
  save(): DirectoryState {
    return {
      ...(this.#key && {
        signingKey: String(this.#key.privateKey.export({ type: "pkcs8", format: "pem" })),
      }),
      names: [...this.#names],
      tenants: [...this.#tenants],
      subscriptions: [...this.#tenantBySubscription],
      applications: [...this.#byAppId.values()].filter((each) => each.resourceId === undefined),
      issuers: [...this.#issuers.values()],
    };
  }

  load(state: DirectoryState): void {
    if (state.signingKey !== undefined) this.#key = signingKey(state.signingKey);
    for (const each of state.tenants) this.addTenant(each);
    for (const [subscription, tenant] of state.subscriptions)
      this.addSubscription(subscription, tenant);
    for (const [guid, name] of state.names) this.#names.set(guid, name);
    for (const each of state.applications) this.addApplication(each);
    for (const each of state.issuers) this.trustIssuer(each);
  }
}

/**
 * The refusal of a token. With `newerThan` it is a claims challenge, by which clients discard a cached token and request a new one: a simulator
 * that restarts without its state has another key. https://learn.microsoft.com/entra/identity-platform/claims-challenge
 */
function unauthenticated(
  code: string,
  message: string,
  { newerThan }: { newerThan?: number } = {},
): Refusal {
  // The words in the header must not end its quoted text.
  const described = message.replaceAll('"', "'");
  const challenge =
    newerThan === undefined
      ? 'error="invalid_token"'
      : `error="insufficient_claims", claims="${claimsOf(newerThan)}"`;
  return new Refusal(401, code, message, {
    by: "gateway",
    headers: {
      "WWW-Authenticate": `Bearer authorization_uri="https://login.windows.net/", ${challenge}, error_description="${described}"`,
    },
  });
}

function claimsOf(newerThan: number): string {
  const value = String(Math.floor(newerThan / 1000));
  const claims = { access_token: { nbf: { essential: true, value } } };
  return Buffer.from(JSON.stringify(claims)).toString("base64");
}

/** As Resource Manager writes times in its sentences: `3/5/2025 1:40:20 AM`. */
function inWords(at: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  const hour = date.getUTCHours();
  return `${date.getUTCMonth() + 1}/${date.getUTCDate()}/${date.getUTCFullYear()} ${hour % 12 || 12}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} ${hour < 12 ? "AM" : "PM"}`;
}
