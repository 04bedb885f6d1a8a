import {
  allowsHost,
  allowsIdentity,
  allowsResourceGroup,
  allowsSubscription,
  type TenantRules,
} from "@postern/core/tenant-policy.ts";

/** What a cluster uses, as far as a policy may forbid it. */
export interface Used {
  hostnames?: readonly string[];
  subscriptions?: readonly string[];
  /** `/subscriptions/S/resourceGroups/G`. */
  resourceGroups?: readonly string[];
  /** Client ids. */
  identities?: readonly string[];
  /** Ids of resources: their subscriptions and resource groups count. */
  resources?: readonly string[];
}

const checks = [
  ["hostnames", "hostname", allowsHost, "domains"],
  ["subscriptions", "subscription", allowsSubscription, "subscriptions"],
  ["resourceGroups", "resource group", allowsResourceGroup, "resourceGroups"],
  ["identities", "identity", allowsIdentity, "identities"],
] as const;

/** Why a namespace may not have what one of its clusters uses; undefined where it may. */
export function whyNotAllowed(
  rules: TenantRules,
  namespace: string,
  used: Used,
): string | undefined {
  const { resources = [], ...rest } = used;
  const all: Omit<Used, "resources"> = {
    ...rest,
    subscriptions: [...(rest.subscriptions ?? []), ...resources.map(subscriptionIn)],
    resourceGroups: [...(rest.resourceGroups ?? []), ...resources.map(groupIn)],
  };
  for (const [kind, word, allows, list] of checks) {
    const denied = all[kind]?.find((each) => !allows(rules, each));
    if (denied !== undefined)
      return `${word} ${denied.slice(0, 253)} is not allowed for namespace ${namespace} · it is not in ${list} of the tenant policy · use one that is, or add it to the file of --tenant-policy`;
  }
  return undefined;
}

/** What is not a resource id is returned as it is, so that no list allows it. */
function groupIn(id: string): string {
  return /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+/i.exec(id)?.[0] ?? id;
}

function subscriptionIn(id: string): string {
  return /^\/subscriptions\/([^/]+)/i.exec(id)?.[1] ?? id;
}
