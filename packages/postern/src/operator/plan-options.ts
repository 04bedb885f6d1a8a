import type { Tags } from "@postern/core/tags.ts";
import { parseUserTags } from "@postern/core/user-tags.ts";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type StepPolicy, stepPolicies } from "../kube/step-policy.ts";
import type { ClusterApiFlags } from "./cluster-api.ts";

/** The flags on which it depends what is planned: a dry run has them too. */
export type PlanFlags = Omit<
  ClusterApiFlags,
  | "azureIdentityRefName"
  | "azureIdentityRefNamespace"
  | "allowCrossNamespaceSecrets"
  | "certificateDirectory"
> & {
  natSubnets: "shared" | "per-cluster";
  natPrefixLength: number;
  /** Tags of link services, beside Postern's own. */
  azureTags?: Tags;
  /** The file that says which namespace may use what. */
  tenantPolicy?: string;
  /** What the operator may write. */
  policy?: StepPolicy;
};

/** What counts where nothing is given. */
export const planDefaults = {
  natSubnets: "shared",
  natPrefixLength: 24,
  policy: "sync",
} as const;

/** The options for these flags. */
export function withPlanOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--nat-subnets <way>",
        "whether link services share NAT subnets, or each cluster has its own",
      )
        .choices(["shared", "per-cluster"])
        .default(planDefaults.natSubnets),
    )
    .addOption(
      new Option(
        "--nat-prefix-length <length>",
        "prefix length of the NAT subnets that Postern creates",
      )
        .argParser(prefixLength)
        .default(planDefaults.natPrefixLength),
    )
    .addOption(
      new Option(
        "--azure-tags <tags>",
        "comma-separated tags of link services: name=value, at most 5",
      ).argParser(azureTags),
    )
    .addOption(
      new Option(
        "--policy <policy>",
        "what the operator may write: everything (sync), everything except deletions (upsert-only), or only status and events (observe-only); the annotation postern.io/policy restricts a single cluster further",
      )
        .choices([...stepPolicies])
        .default(planDefaults.policy),
    )
    .option(
      "--tenant-policy <file>",
      "file with the domains, subscriptions, resource groups and identities that each namespace may use (default: no hostnames, and everything else that the tenant's own credential can access)",
    )
    .option(
      "--management-cluster-name <name>",
      "enable Cluster API; name of the management cluster's AzureCluster",
    )
    .option("--management-cluster-namespace <name>", "namespace of that AzureCluster")
    .addOption(
      new Option(
        "--azure-cluster-gates <conditions>",
        "comma-separated conditions of an AzureCluster that its control plane waits for",
      ).argParser(listIn),
    )
    .addOption(
      new Option(
        "--management-link <link>",
        "link through which workload clusters reach the management cluster (default: gateway)",
      ).choices(["gateway", "ingress", "both"]),
    )
    .option("--base-domain <name>", "domain in which clusters of Cluster API get their DNS names")
    .option("--base-domain-resource-group <name>", "resource group of that domain's zone");
}

/** A comma-separated list, however many commas. */
export function listIn(text: string): string[] {
  return text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

function azureTags(text: string): Tags {
  const parsed = parseUserTags(text);
  if ("tags" in parsed) return parsed.tags;
  throw new InvalidArgumentError(`${parsed.wrong}: use tags such as team=blue,cost-center=42`);
}

/** Azure has no subnet smaller than a /29, and five of its addresses are not for use. */
function prefixLength(text: string): number {
  const length = Number(text);
  if (Number.isInteger(length) && length >= 8 && length <= 29) return length;
  throw new InvalidArgumentError("use a whole number from 8 to 29, such as 24");
}
