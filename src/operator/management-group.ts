import { readCredentialFile } from "../azure/credential-file.ts";
import { UsageError } from "../cli/usage-error.ts";
import { type ResourceId, resourceGroupId } from "../model/resource-id.ts";

/** The group of the management cluster, by the variables that HyperShift's operator has for it. */
export async function managementGroupIn(env: NodeJS.ProcessEnv): Promise<ResourceId> {
  const subscription = env.AZURE_SUBSCRIPTION_ID || (await subscriptionInFile(env));
  const group = env.AZURE_RESOURCE_GROUP;
  if (subscription && group) return resourceGroupId(subscription, group);
  const missing = [
    subscription ? [] : ["AZURE_SUBSCRIPTION_ID to its subscription"],
    group ? [] : ["AZURE_RESOURCE_GROUP to its name"],
  ].flat();
  throw new UsageError(
    `the resource group of the management cluster's load balancers is not known: set ${missing.join(" and ")}, or run with --role control-plane, which needs none (see postern operator --help)`,
  );
}

/** A credential file names the subscription too, where it is the credential that is used. */
async function subscriptionInFile(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { AZURE_PLS_CLIENT_ID: identity, AZURE_CREDENTIALS_FILE: path } = env;
  return identity || !path ? undefined : (await readCredentialFile(path)).subscriptionId;
}
