import { packageVersion } from "@postern/core/process/package-version.ts";
import { Command, InvalidArgumentError, Option } from "commander";
import { defaultDriftShare } from "../azure/drift-interval.ts";
import { defaultCertificateDirectory } from "../cluster-api/names.ts";
import { azureLimit } from "./azure-limits.ts";
import { withElectionOptions } from "./election.ts";
import type { OperatorSettings } from "./operator.ts";
import { withPlanOptions } from "./plan-options.ts";

/** `postern operator`: the controllers, against a cluster and Azure. */
export function command(): Command {
  const base = new Command("operator")
    .description("Run the controllers against a Kubernetes cluster and Azure")
    .option(
      "--kubeconfig <file>",
      "kubeconfig to use (default: KUBECONFIG, the pod's service account, ~/.kube/config)",
    )
    .option("--context <name>", "context in that kubeconfig")
    .option("--namespace <name>", "reconcile this namespace only (default: all)")
    .addOption(
      new Option(
        "--role <role>",
        "role of this process: the management cluster's side of hosted control planes, one control plane, or Cluster API",
      )
        .choices(["all", "management", "control-plane", "cluster-api"])
        .default("all"),
    );
  const served = withPlanOptions(base)
    .option(
      "--azure-identity-ref-name <name>",
      "AzureClusterIdentity to use for clusters that are not AzureClusters",
    )
    .option("--azure-identity-ref-namespace <name>", "namespace of that AzureClusterIdentity")
    .option(
      "--allow-cross-namespace-secrets",
      "allow AzureClusterIdentities to use Secrets and certificate files of other namespaces",
    )
    .option(
      "--certificate-directory <path>",
      `folder with the certificate files of AzureClusterIdentities, one subfolder for each namespace (default: ${defaultCertificateDirectory})`,
    )
    .addOption(
      new Option(
        "--listen <host:port>",
        "address for /healthz and /readyz; on a loopback address also /metrics, unless --metrics is set",
      )
        .argParser(address)
        .default(address("127.0.0.1:8081"), "127.0.0.1:8081"),
    )
    .addOption(
      new Option(
        "--metrics <host:port>",
        "address for /metrics; if it is not a loopback address, over TLS, for clients whom RBAC allows to get /metrics",
      ).argParser(address),
    )
    .option(
      "--tls-cert-file <file>",
      "certificate of --metrics and --dashboard, reloaded when it changes (default: self-signed)",
    )
    .option("--tls-private-key-file <file>", "its key")
    .option(
      "--expose-details",
      "show why checks fail on the health pages, even if --listen is not a loopback address",
    )
    .addOption(
      new Option(
        "--dashboard <host:port>",
        "address for the dashboard; a loopback address is reachable with kubectl port-forward; any other is served over TLS, for clients whom RBAC allows to get /postern/dashboard",
      )
        .argParser(address)
        .default(address("127.0.0.1:8082"), "127.0.0.1:8082"),
    )
    .option("--no-dashboard", "serve none")
    .addOption(
      new Option(
        "--azure-limit <name=count/seconds>",
        "Azure request limit that differs from the default, such as dns-reads=500/300 or writes=200+10; can be repeated",
      ).argParser(azureLimit),
    )
    .addOption(
      new Option(
        "--drift-share <share>",
        "the share of Azure's idle read budget that drift checks use, above 0 and at most 1",
      )
        .argParser(share)
        .default(defaultDriftShare),
    );
  return withElectionOptions(served)
    .addOption(
      new Option("--log-format <format>", "log format").choices(["json", "text"]).default("json"),
    )
    .addOption(
      new Option("--log-level <level>", "minimum log level")
        .choices(["debug", "info", "warn", "error"])
        .default("info"),
    )
    .addHelpText(
      "after",
      `
Azure is found by the environment: AZURE_CLOUD_NAME; one of AZURE_PLS_CLIENT_ID, AZURE_CREDENTIALS_FILE,
AZURE_FEDERATED_TOKEN_FILE or AZURE_CLIENT_SECRET; and AZURE_SUBSCRIPTION_ID and AZURE_RESOURCE_GROUP for the group of the
management cluster's load balancers, which --role control-plane and cluster-api do not need. Other groups with load balancers:
AZURE_LOAD_BALANCER_RESOURCE_GROUPS, separated by commas. Traces go where OTEL_* says.
Clusters of Cluster API each have their own identity; the credential above, and AZURE_SUBSCRIPTION_ID, are those of the base
domain's zone. AZURE_CA_FILE is the authority of an Entra with a certificate of its own. CLUSTER_AZURE_SUBSCRIPTION_ID, _TENANT_ID, _CLIENT_ID and _LOCATION are for clusters that are no AzureClusters.

Examples:
  $ AZURE_RESOURCE_GROUP=management postern operator --log-format text
  $ postern operator --role control-plane --namespace clusters-one
  $ postern operator --role cluster-api --management-cluster-name mc --management-cluster-namespace org-mc \\
      --azure-cluster-gates GSPrivateLinksReady,GSDNSZoneReady --base-domain example.com --base-domain-resource-group dns`,
    )
    .action(async (options: Omit<OperatorSettings, "version">) => {
      const { runOperator } = await import("./operator.ts");
      await runOperator({ ...options, version: packageVersion() }, stopSignal());
    });
}

function share(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 1))
    throw new InvalidArgumentError("use a number above 0 and at most 1, such as 0.1");
  return value;
}

function address(text: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535)
    throw new InvalidArgumentError(
      "use HOST:PORT, such as 127.0.0.1:8081 or [::1]:8081; 0.0.0.0:8081 for every address of this machine",
    );
  return { host: match[1] ?? match[2] ?? "", port };
}

/** A signal for the first SIGINT or SIGTERM. The second one ends the process at once, by default. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  const end = () => stop.abort(new Error("asked to stop"));
  process.once("SIGINT", end);
  process.once("SIGTERM", end);
  return stop.signal;
}
