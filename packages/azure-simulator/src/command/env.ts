import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { shellWord } from "@postern/core/shell.ts";
import { TestBedError } from "@postern/core/test-bed/test-bed-error.ts";
import type { Ready } from "./ready.ts";

/** The variables with which clients use a simulator, from its ready file. */
export function environment(file: string): Record<string, string> {
  const { resourceManager, authorityHost, caFile, identities, subscriptions } = read(file);
  const [identity] = identities;
  const [subscription] = subscriptions;
  const values: Record<string, string | undefined> = {
    // For az cloud register.
    POSTERN_RESOURCE_MANAGER: resourceManager,
    // The Azure CLI asks nobody else where to sign in, and keeps what it learns beside the ready file.
    AZURE_CORE_INSTANCE_DISCOVERY: "false",
    AZURE_CONFIG_DIR: `${resolve(file)}.azure`,
    REQUESTS_CA_BUNDLE: caFile,
    // The SDKs, and Terraform's providers.
    AZURE_AUTHORITY_HOST: authorityHost,
    AZURE_TENANT_ID: identity?.tenantId,
    AZURE_CLIENT_ID: identity?.clientId,
    AZURE_CLIENT_SECRET: identity?.secret,
    AZURE_SUBSCRIPTION_ID: subscription?.id,
    ARM_METADATA_HOSTNAME: resourceManager?.replace("https://", ""),
    ARM_TENANT_ID: identity?.tenantId,
    ARM_CLIENT_ID: identity?.clientId,
    ARM_CLIENT_SECRET: identity?.secret,
    ARM_SUBSCRIPTION_ID: subscription?.id,
    // The provider azapi asks Microsoft about every authority to which it shows a secret, so it is to ask the Azure CLI.
    ARM_RESOURCE_MANAGER_ENDPOINT: resourceManager,
    ARM_RESOURCE_MANAGER_AUDIENCE: "https://management.azure.com/",
    ARM_ACTIVE_DIRECTORY_AUTHORITY_HOST: authorityHost,
    ARM_USE_CLI: "true",
    ARM_USE_MSI: "false",
    SSL_CERT_FILE: caFile,
    NODE_EXTRA_CA_CERTS: caFile,
  };
  return Object.fromEntries(
    Object.entries(values).filter((each): each is [string, string] => each[1] !== undefined),
  );
}

/** The lines that give a shell these variables. For `eval`. */
export function exportLines(variables: Record<string, string>): string {
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}=${shellWord(value)}\n`)
    .join("");
}

function read(file: string): Ready {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Ready;
  } catch (error) {
    throw new TestBedError(
      "ReadyFileUnreadable",
      `the ready file ${file} cannot be read · start a simulator with --ready-file ${file}, and wait until the file exists`,
      { cause: error },
    );
  }
}
