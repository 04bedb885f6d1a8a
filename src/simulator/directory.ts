import type { Clock } from "../model/clock.ts";
import { Refusal } from "./refusal.ts";
import type { Principal } from "./resource-type.ts";

/** Someone who can sign in: an application or a managed identity. */
export interface Application {
  tenant: string;
  appId: string;
  objectId: string;
  secrets: string[];
}

/** Tenants, subscriptions and who can sign in. */
export class Directory {
  readonly #clock: Clock;
  readonly #guid: () => string;
  readonly #tenantBySubscription = new Map<string, string>();
  readonly #tokens = new Map<string, { principal: Principal; expiresAt: number }>();

  constructor(options: { clock: Clock; guid: () => string }) {
    this.#clock = options.clock;
    this.#guid = options.guid;
  }

  addSubscription(subscription: string, tenant: string): void {
    this.#tenantBySubscription.set(subscription.toLowerCase(), tenant.toLowerCase());
  }

  subscriptions(): string[] {
    return [...this.#tenantBySubscription.keys()];
  }

  tenantOf(subscription: string): string | undefined {
    return this.#tenantBySubscription.get(subscription.toLowerCase());
  }

  /** A token for someone, good for an hour. */
  tokenFor(principal: Principal, forMs = 3_600_000): string {
    const token = `simulated-${this.#guid()}`;
    this.#tokens.set(token, { principal, expiresAt: this.#clock.now() + forMs });
    return token;
  }

  /** Who sends this header. */
  authenticate(authorization: string | undefined): Principal {
    const token = authorization?.startsWith("Bearer ") ? authorization.slice(7) : undefined;
    if (token === undefined)
      throw unauthenticated(
        "AuthenticationFailed",
        "Authentication failed. The 'Authorization' header is missing.",
      );
    const held = this.#tokens.get(token);
    if (!held) throw unauthenticated("InvalidAuthenticationToken", "The access token is invalid.");
    if (held.expiresAt <= this.#clock.now())
      throw unauthenticated(
        "ExpiredAuthenticationToken",
        "The access token expiry UTC time is earlier than current UTC time.",
      );
    return held.principal;
  }
}

function unauthenticated(code: string, message: string): Refusal {
  return new Refusal(401, code, message, {
    by: "gateway",
    headers: {
      "WWW-Authenticate": `Bearer authorization_uri="https://login.windows.net/", error="invalid_token", error_description="${message}"`,
    },
  });
}
