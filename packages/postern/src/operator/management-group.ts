import { UsageError } from "@postern/core/process/usage-error.ts";
import {
  idKey,
  type ResourceId,
  resourceGroupId,
  sameId,
  subscriptionOf,
} from "@postern/core/resource-id.ts";
import { readCredentialFile } from "../azure/credential-file.ts";

/** The group of the management cluster, by the variables that HyperShift's operator has for it; or what to do instead. */
export async function managementGroupIn(
  env: NodeJS.ProcessEnv,
  instead = "run with --role control-plane or --role cluster-api, which do not need it (see postern operator --help)",
): Promise<ResourceId> {
  const subscription = await subscriptionIn(env);
  const group = env.AZURE_RESOURCE_GROUP;
  if (subscription && group) return resourceGroupId(subscription, group);
  const missing = [
    subscription ? [] : ["AZURE_SUBSCRIPTION_ID to its subscription"],
    group ? [] : ["AZURE_RESOURCE_GROUP to its name"],
  ].flat();
  throw new UsageError(
    `the resource group of the management cluster's load balancers is unknown: set ${missing.join(" and ")}, or ${instead}`,
  );
}

/** The groups of the same subscription that have load balancers of the management cluster too. */
export function otherLoadBalancerGroupsIn(
  env: NodeJS.ProcessEnv,
  managementGroup: ResourceId,
): ResourceId[] {
  const subscription = subscriptionOf(managementGroup) ?? "";
  const names = (env.AZURE_LOAD_BALANCER_RESOURCE_GROUPS ?? "")
    .split(",")
    .map((name) => name.trim());
  const groups = names.filter(Boolean).map((name) => resourceGroupId(subscription, name));
  const others = groups.filter((group) => !sameId(group, managementGroup));
  return [...new Map(others.map((group) => [idKey(group), group])).values()];
}

/** The subscription that the environment names. A credential file names one too, where it is the credential that is used. */
export async function subscriptionIn(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (env.AZURE_SUBSCRIPTION_ID) return env.AZURE_SUBSCRIPTION_ID;
  const { AZURE_PLS_CLIENT_ID: identity, AZURE_CREDENTIALS_FILE: path } = env;
  return identity || !path ? undefined : (await readCredentialFile(path)).subscriptionId;
}
