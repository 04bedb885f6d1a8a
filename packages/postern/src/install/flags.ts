import { readFile } from "node:fs/promises";
import { isExplained } from "@postern/core/failure.ts";
import { whyUnfit } from "@postern/core/forms.ts";
import { nearest } from "@postern/core/process/nearest.ts";
import { UsageError } from "@postern/core/process/usage-error.ts";
import { YamlError } from "@postern/core/yaml.ts";
import { type Command, Option } from "commander";
import { credentialsSecretName } from "./objects/pods.ts";
import { nothingToServe } from "./rules.ts";
import { mergeSettings } from "./settings.ts";

/** The flags of an installation, as they are given. Those that HyperShift has too mean the same. */
export interface InstallFlags {
  namespace: string;
  values?: string[];
  image?: string;
  registryOverrides?: string;
  privatePlatform?: "Azure" | "None";
  azurePrivateCreds?: string;
  azurePrivateSecret?: string;
  azurePrivateSecretKey?: string;
  azurePlsManagedIdentityClientId?: string;
  azurePlsSubscriptionId?: string;
  azurePlsResourceGroup?: string;
  azureTags?: string;
  azureCloud?: string;
  replaceHypershift?: boolean;
  splitRoles?: boolean;
  openshift?: boolean;
  managementClusterName?: string;
  managementClusterNamespace?: string;
  baseDomain?: string;
  baseDomainResourceGroup?: string;
  limitCrdInstall?: string;
  additionalTrustBundle?: string;
}

/** Which flag sets which setting, for messages too. */
const settingOf = {
  privatePlatform: "hosted.enabled",
  azurePrivateSecret: "azure.credentialsSecret.name",
  azurePrivateSecretKey: "azure.credentialsSecret.key",
  azurePlsManagedIdentityClientId: "azure.clientId",
  azurePlsSubscriptionId: "azure.subscriptionId",
  azurePlsResourceGroup: "azure.resourceGroup",
  azureTags: "hosted.azureTags",
  azureCloud: "azure.cloud",
  replaceHypershift: "hosted.replaceHyperShift",
  splitRoles: "splitRoles",
  openshift: "openshift",
  managementClusterName: "clusterApi.managementCluster.name",
  managementClusterNamespace: "clusterApi.managementCluster.namespace",
  baseDomain: "clusterApi.baseDomain",
  baseDomainResourceGroup: "clusterApi.baseDomainResourceGroup",
  image: "image.repository",
} as const satisfies Partial<Record<keyof InstallFlags, string>>;

/** The platforms of HyperShift. */
const platforms = ["AWS", "Azure", "GCP", "IBMCloud", "KubeVirt", "Agent", "OpenStack"];

/** The options for these flags. */
export function withInstallOptions(command: Command): Command {
  return command
    .option("-n, --namespace <name>", "namespace to install into", "postern")
    .option(
      "-f, --values <file>",
      "YAML file with settings, the same as the chart's values; flags override it. Can be repeated",
      (file: string, before: string[] = []) => [...before, file],
    )
    .option("--image <image>", "image of the operator, with tag or digest")
    .option(
      "--registry-overrides <pairs>",
      "comma-separated SOURCE=DESTINATION pairs: registries to replace in the name of the image",
    )
    .addOption(
      new Option("--private-platform <platform>", "platform of hosted control planes").choices([
        "Azure",
        "None",
      ]),
    )
    .option("--azure-private-creds <file>", "credential file; it is stored in a Secret")
    .option("--azure-private-secret <name>", "existing Secret with a credential file")
    .option("--azure-private-secret-key <key>", "key of the file in that Secret")
    .option("--azure-pls-managed-identity-client-id <id>", "client id of a workload identity")
    .option("--azure-pls-subscription-id <id>", "subscription of the management cluster")
    .option("--azure-pls-resource-group <name>", "resource group of its load balancers")
    .option("--azure-tags <tags>", "comma-separated tags of link services: name=value")
    .option("--azure-cloud <name>", "cloud, such as AzureUSGovernmentCloud")
    .option("--replace-hypershift", "replace HyperShift, on a cluster without it")
    .option("--split-roles", "run a separate process with its own permissions for each role")
    .option("--openshift", "the cluster is OpenShift")
    .option(
      "--management-cluster-name <name>",
      "enable Cluster API; name of the management cluster's AzureCluster",
    )
    .option("--management-cluster-namespace <name>", "namespace of that AzureCluster")
    .option("--base-domain <name>", "domain in which clusters of Cluster API get DNS records")
    .option("--base-domain-resource-group <name>", "resource group of that domain's zone")
    .option(
      "--limit-crd-install <platforms>",
      "comma-separated platforms: install the kinds of these only; empty for all",
    )
    .option("--additional-trust-bundle <file>", "PEM file with additional certificates to trust");
}

/** What the flags say: settings, the text of a credential file, and what is wrong already. */
export interface GivenSettings {
  /** The settings as they are given, to be remembered. */
  given: unknown;
  registryOverrides?: string;
  /** The same with the registries replaced. */
  settings: unknown;
  /** Whether they name an image themselves. */
  namesImage: boolean;
  credentials?: string;
  violations: string[];
}

/** Settings by flags and files, upon those of before. */
export async function settingsGiven(
  flags: InstallFlags,
  before: { settings: unknown; registryOverrides?: string } = { settings: {} },
): Promise<GivenSettings> {
  const violations: string[] = [];
  let settings = mergeSettings({ createNamespace: true }, before.settings);
  const files: unknown[] = [];
  for (const file of flags.values ?? []) files.push(await valuesIn(file));
  for (const values of files) settings = mergeSettings(settings, values);
  const { azurePrivateCreds, azurePrivateSecret, limitCrdInstall, additionalTrustBundle } = flags;
  if (azurePrivateCreds !== undefined && azurePrivateSecret !== undefined)
    violations.push("--azure-private-creds and --azure-private-secret are mutually exclusive");
  const credentials =
    azurePrivateCreds === undefined
      ? undefined
      : await credentialsIn(azurePrivateCreds).catch((error: unknown) => {
          if (!isExplained(error)) throw error;
          violations.push(`--azure-private-creds: ${error.explain().message}`);
          return "";
        });
  const unusable = whyUnfit(flags.namespace, "label");
  if (unusable !== undefined) violations.push(`--namespace ${unusable}`);
  // None stands for all, as in HyperShift.
  const limited = limitCrdInstall
    ?.split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "")
    .map((each) => platformCalled(each, violations));
  const further = {
    ...(credentials !== undefined && {
      azure: { credentialsSecret: { name: credentialsSecretName } },
    }),
    ...(flags.managementClusterName !== undefined && { clusterApi: { enabled: true } }),
    ...(limited && { crds: { enabled: limited.length === 0 || limited.includes("Azure") } }),
    ...(additionalTrustBundle !== undefined && {
      additionalTrustBundle: await fileOf("--additional-trust-bundle", additionalTrustBundle),
    }),
  };
  settings = mergeSettings(settings, further);
  for (const [flag, path] of Object.entries(settingOf)) {
    const value: unknown = Reflect.get(flags, flag);
    if (value === undefined) continue;
    if (flag === "image") settings = mergeSettings(settings, { image: imageOf(String(value)) });
    else
      settings = mergeSettings(
        settings,
        nested(path, flag === "privatePlatform" ? value === "Azure" : value),
      );
  }
  const registryOverrides = flags.registryOverrides ?? before.registryOverrides;
  return {
    given: settings,
    ...(registryOverrides !== undefined && { registryOverrides }),
    settings: overriddenImage(settings, registryOverrides, violations),
    namesImage: flags.image !== undefined || files.some(namesImage),
    ...(credentials !== undefined && { credentials }),
    violations,
  };
}

/** A platform that HyperShift's flag takes, in any case of letters. */
function platformCalled(name: string, violations: string[]): string | undefined {
  const found = platforms.find((each) => each.toLowerCase() === name.toLowerCase());
  const meant = nearest(name, platforms);
  if (found === undefined)
    violations.push(
      `--limit-crd-install must be of ${platforms.join(", ")}, and not '${name}'${meant ? `: did you mean ${meant}?` : ""}`,
    );
  return found;
}

/** A violation in the words of the command line: settings that a flag sets are named by it. */
export function inFlags(violation: string): string {
  // No flag sets clusterApi.enabled by itself.
  if (violation === nothingToServe)
    return "nothing is enabled: use --private-platform Azure or --management-cluster-name";
  const byLength = Object.entries(settingOf).sort(([, a], [, b]) => b.length - a.length);
  return byLength.reduce(
    (text, [flag, path]) =>
      text.replace(
        new RegExp(`(?<![\\w.-])${path.replaceAll(".", "\\.")}(?![\\w.])`, "g"),
        flagName(flag),
      ),
    violation,
  );
}

function flagName(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function nested(path: string, value: unknown): unknown {
  return path.split(".").reduceRight((inner: unknown, key) => ({ [key]: inner }), value);
}

function namesImage(values: unknown): boolean {
  const image = imageIn(values);
  return ["repository", "tag", "digest"].some((each) => each in image);
}

/** The image in settings, which need not be valid. */
export function imageIn(
  values: unknown,
): Partial<Record<"registry" | "repository" | "tag" | "digest", string>> {
  const { image } = (values ?? {}) as { image?: object | null };
  return typeof image === "object" ? (image ?? {}) : {};
}

/** The parts of an image's name: `host/name:tag`, or `host/name@digest`. The registry is in the repository, and no other stands before it. */
export function imageOf(image: string): Record<string, string> {
  const [name = "", digest = ""] = image.split("@");
  const tag = /:([^/:]+)$/.exec(name)?.[1] ?? "";
  const repository = tag === "" ? name : name.slice(0, -tag.length - 1);
  return { registry: "", repository, tag, digest };
}

/** As HyperShift has it: where the name of the image begins with a source, the destination takes its place. */
function overriddenImage(
  settings: unknown,
  overrides: string | undefined,
  violations: string[],
): unknown {
  if (!overrides) return settings;
  const { registry, repository: path = "" } = imageIn(settings);
  let repository = registry ? `${registry}/${path}` : String(path);
  for (const pair of overrides.split(",")) {
    const [source, destination, ...rest] = pair.split("=").map((each) => each.trim());
    if (!source || !destination || rest.length > 0)
      violations.push(`--registry-overrides must be SOURCE=DESTINATION, not '${pair}'`);
    else if (repository === source || repository.startsWith(`${source}/`))
      repository = destination + repository.slice(source.length);
  }
  return mergeSettings(settings, { image: { registry: "", repository } });
}

async function valuesIn(file: string): Promise<unknown> {
  const text = await fileOf("--values", file);
  const { parse, YAMLParseError } = await import("yaml");
  try {
    const values: unknown = parse(text, { logLevel: "error" }) ?? {};
    if (typeof values === "object" && !Array.isArray(values)) return values;
  } catch (cause) {
    const why =
      cause instanceof YAMLParseError
        ? new YamlError(text, cause.code, cause.pos[0]).message
        : "it is not YAML";
    throw new UsageError(`--values ${file} cannot be used: ${why}`, { cause });
  }
  throw new UsageError(`--values ${file} cannot be used: it is not a map of settings`);
}

/** The text of a credential file, once it is one. */
async function credentialsIn(file: string): Promise<string> {
  const { readCredentialFile } = await import("../azure/credential-file.ts");
  await readCredentialFile(file);
  return await fileOf("--azure-private-creds", file);
}

async function fileOf(flag: string, file: string): Promise<string> {
  return await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new UsageError(`${flag} ${file} cannot be used: ${cause.code ?? "unknown error"}`, {
      cause,
    });
  });
}
