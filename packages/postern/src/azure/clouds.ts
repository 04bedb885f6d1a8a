import { AzureError } from "./errors.ts";

/** Where one Azure cloud is found. */
export interface Cloud {
  name: string;
  /** The endpoint of Azure Resource Manager, without a slash at the end. */
  resourceManager: string;
  /** Whom a token for Resource Manager is made out to, without a slash at the end. */
  audience: string;
  /** Where Entra answers. */
  authorityHost: string;
  /** Where its resources are shown to people; undefined where that is not known. */
  portal?: string;
  /** Not one of Microsoft's: the simulator, or Azure Stack. */
  custom?: boolean;
}

const cloud = (
  name: string,
  resourceManager: string,
  authorityHost: string,
  portal?: string,
): Cloud => ({
  name,
  resourceManager: `https://${resourceManager}`,
  audience: `https://${resourceManager}`,
  authorityHost: `https://${authorityHost}`,
  ...(portal !== undefined && { portal: `https://${portal}` }),
});

// The endpoints are those of https://learn.microsoft.com/azure/azure-government/compare-azure-government-global-azure
// and its siblings, and of the Azure SDKs (Bleu: AzureAuthorityHosts of the .NET identity library).
const clouds: readonly Cloud[] = [
  cloud(
    "AzurePublicCloud",
    "management.azure.com",
    "login.microsoftonline.com",
    "portal.azure.com",
  ),
  cloud(
    "AzureUSGovernmentCloud",
    "management.usgovcloudapi.net",
    "login.microsoftonline.us",
    "portal.azure.us",
  ),
  cloud(
    "AzureChinaCloud",
    "management.chinacloudapi.cn",
    "login.chinacloudapi.cn",
    "portal.azure.cn",
  ),
  // Closed in October 2021; the name stays in the schema of HostedCluster.
  cloud("AzureGermanCloud", "management.microsoftazure.de", "login.microsoftonline.de"),
  cloud("AzureBleuCloud", "management.sovcloud-api.fr", "login.sovcloud-identity.fr"),
];

/** The clouds under the names that the CLI and other tools give them. */
const otherNames: Readonly<Record<string, string>> = {
  azurecloud: "azurepubliccloud",
  azureusgovernment: "azureusgovernmentcloud",
};

/**
 * The cloud of a name, in any case: as in `AZURE_CLOUD_NAME`, as in a HostedCluster, and as the
 * instance metadata service answers it in `azEnvironment`. No name is the public cloud.
 */
export function cloudNamed(name: string | undefined): Cloud {
  const key = (name ?? "").trim().toLowerCase() || "azurepubliccloud";
  const found = clouds.find((each) => each.name.toLowerCase() === (otherNames[key] ?? key));
  if (found !== undefined) return found;
  throw new AzureError({ code: "UnknownCloud", what: `use the cloud ${JSON.stringify(name)}` });
}

/** A cloud at given addresses: the simulator, or Azure Stack. */
export function customCloud(given: {
  name?: string;
  resourceManager: string;
  audience?: string;
  authorityHost?: string;
}): Cloud {
  const resourceManager = withoutSlash(given.resourceManager);
  return {
    name: given.name ?? "AzureStackCloud",
    resourceManager,
    audience: withoutSlash(given.audience ?? resourceManager),
    authorityHost: withoutSlash(given.authorityHost ?? resourceManager),
    custom: true,
  };
}

function withoutSlash(address: string): string {
  if (!URL.canParse(address))
    throw new AzureError({ code: "UnknownCloud", what: "use an address that is none" });
  return address.replace(/\/+$/, "");
}
