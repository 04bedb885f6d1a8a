import type { AzureClusterIdentity } from "@postern/core/kinds/azure-cluster-identity.ts";
import type { CapiCluster } from "@postern/core/kinds/capi-cluster.ts";
import type { ProviderConfig } from "@postern/core/kinds/provider-config.ts";
import {
  allowsIdentity,
  allowsSubscription,
  type TenantRules,
} from "@postern/core/tenant-policy.ts";
import { policyNamesOf } from "../../policy-names.ts";

/** What a ProviderConfig says, all of it. */
export type ConfigSpec = ProviderConfig["spec"] & {
  clientID: string;
  subscriptionID: string;
  tenantID: string;
};

/**
 * What a Cluster is to have.
 *
 *   none      it is no cluster of Azure, or its identity is of a kind that Crossplane cannot use: nothing, and quietly so
 *   unknown   what it is read from is not there yet
 *   trouble   what is there does not say enough, and only people can help
 */
export type Desired =
  | { state: "none" }
  | { state: "unknown"; requeue?: "drift" }
  | { state: "trouble"; reason: ProblemReason; message: string }
  /** `again` where it is read from a Secret, which is not watched. */
  | { state: "config"; spec: ConfigSpec; requeue?: "drift" };

/** What only a person can correct. */
export const problemReasons = [
  "IdentityMissing",
  "IdentityIncomplete",
  "NamespaceNotAllowed",
  "SubscriptionMissing",
  "SecretForbidden",
  "NameReserved",
  "NotAllowedByPolicy",
] as const;
export type ProblemReason = (typeof problemReasons)[number];

/** Where the identity of a Cluster is written down. */
export type Source =
  | { from: "nothing" }
  | { from: "absent" }
  | {
      from: "identity";
      /** For messages. */
      object: string;
      subscriptionID: string | undefined;
      reference: { kind?: string; name?: string; namespace?: string } | undefined;
      identity: AzureClusterIdentity | undefined;
      /** Whether the identity admits the namespace of the Cluster. */
      admitted: boolean;
    }
  | {
      from: "secret";
      object: string;
      /** The Secret that is named, with its namespace; undefined where none is. */
      secret: string | undefined;
      /** Undefined where it is not there, `forbidden` where the operator may not read it. */
      values: Readonly<Record<string, string>> | "forbidden" | undefined;
    };

/** Crossplane's resources use it where they name none, so a tenant's Cluster must not bring one. */
const reservedName = "default";

/** What a Cluster is to have, if its namespace may have it. */
export function allowedOf(
  { name, namespace }: { name: string; namespace: string },
  source: Source,
  rules: TenantRules,
): Desired {
  const desired = desiredOf(source);
  if (desired.state !== "config") return desired;
  if (name === reservedName)
    return problem("NameReserved", `the name ${name} is reserved · give the Cluster another name`);
  const { clientID, subscriptionID } = desired.spec;
  const identity = source.from === "identity" ? source.identity : undefined;
  const names = identity === undefined ? [clientID] : policyNamesOf(identity);
  const refused = names.some((each) => allowsIdentity(rules, each))
    ? allowsSubscription(rules, subscriptionID)
      ? undefined
      : `subscription ${subscriptionID}`
    : `identity ${clientID}`;
  if (refused === undefined) return desired;
  return problem(
    "NotAllowedByPolicy",
    `the tenant policy does not allow ${refused} for namespace ${namespace} · add it in the file of --tenant-policy`,
  );
}

const supported = ["AzureCluster", "AzureManagedCluster", "AzureASOManagedCluster"];

/** Whether clusters of this infrastructure can have a ProviderConfig. */
export function isSupported({ spec }: CapiCluster): boolean {
  return supported.includes(spec.infrastructureRef?.kind ?? "");
}

/** What follows from where the identity is written down. */
export function desiredOf(source: Source): Desired {
  switch (source.from) {
    case "nothing":
      return { state: "none" };
    case "absent":
      return { state: "unknown" };
    case "identity":
      return ofIdentity(source);
    case "secret":
      return ofSecret(source);
  }
}

function ofIdentity(source: Source & { from: "identity" }): Desired {
  const { object, reference, identity, subscriptionID } = source;
  if (!reference?.name)
    return problem("IdentityMissing", `${object} names no identity · set its spec.identityRef`);
  if (reference.kind !== undefined && reference.kind !== "AzureClusterIdentity")
    return { state: "none" };
  // Somebody may be about to create it; its coming requeues the Cluster.
  if (identity === undefined) return { state: "unknown" };
  if (identity.spec.type !== "WorkloadIdentity") return { state: "none" };
  const { namespace, name } = identity.metadata;
  const at = `AzureClusterIdentity ${namespace}/${name}`;
  if (!source.admitted)
    return problem(
      "NamespaceNotAllowed",
      `${at} does not admit the namespace of the Cluster · add it to its spec.allowedNamespaces`,
    );
  if (!subscriptionID)
    return problem(
      "SubscriptionMissing",
      `${object} names no subscription · set its spec.subscriptionID`,
    );
  const { clientID, tenantID } = identity.spec;
  if (!clientID || !tenantID)
    return problem("IdentityIncomplete", `${at} is incomplete · set its clientID and its tenantID`);
  return config({ clientID, tenantID, subscriptionID });
}

const keys = {
  clientID: "AZURE_CLIENT_ID",
  subscriptionID: "AZURE_SUBSCRIPTION_ID",
  tenantID: "AZURE_TENANT_ID",
} as const;

function ofSecret({ object, secret, values }: Source & { from: "secret" }): Desired {
  if (secret === undefined)
    return problem(
      "IdentityMissing",
      `${object} names no Secret · set the annotation serviceoperator.azure.com/credential-from on a resource in its spec`,
    );
  if (values === undefined) return { state: "unknown", requeue: "drift" };
  if (values === "forbidden")
    return problem(
      "SecretForbidden",
      `the operator may not get Secret ${secret} · allow it with a RoleBinding in that namespace`,
    );
  const missing = Object.values(keys).filter((key) => !values[key]?.trim());
  if (missing.length > 0)
    return problem(
      "IdentityIncomplete",
      `Secret ${secret} does not hold ${missing.join(", ")} · add the missing keys`,
    );
  const read = (key: string) => values[key]?.trim() ?? "";
  const [clientID, subscriptionID, tenantID] = Object.values(keys).map(read);
  const ids = { clientID, subscriptionID, tenantID } as Omit<ConfigSpec, "credentials">;
  return { ...config(ids), requeue: "drift" };
}

function config(ids: Omit<ConfigSpec, "credentials">): Desired & { state: "config" } {
  return {
    state: "config",
    spec: { credentials: { source: "UserAssignedManagedIdentity" }, ...ids },
  };
}

function problem(reason: ProblemReason, message: string): Desired {
  return { state: "trouble", reason, message: `cannot create a ProviderConfig · ${message}` };
}
