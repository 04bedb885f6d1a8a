import type { JsonWebKey } from "node:crypto";

/** A federated credential: tokens of an issuer that stand for an identity. All three are compared to the letter. */
export interface FederatedCredential {
  name: string;
  issuer: string;
  subject: string;
  audiences: readonly string[];
}

/** A secret of an application. */
export interface ClientSecret {
  value: string;
  /** Milliseconds since the epoch; without it the secret never ends. */
  expiresAt?: number;
}

/** Someone who can sign in: an application, or a managed identity. */
export interface Application {
  readonly tenant: string;
  /** What people call the client id. */
  readonly appId: string;
  /** What roles are assigned to. */
  readonly objectId: string;
  displayName: string;
  secrets: ClientSecret[];
  /** Certificates in PEM. */
  certificates: string[];
  federated: FederatedCredential[];
  /** The id of the managed identity, or of the machine whose own identity it is. */
  resourceId?: string;
}

/** An issuer of tokens whose keys the simulator knows: a cluster, most often. */
export interface TrustedIssuer {
  issuer: string;
  keys: readonly JsonWebKey[];
}
