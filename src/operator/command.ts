import { Command, InvalidArgumentError, Option } from "commander";
import { packageVersion } from "../cli/package-version.ts";
import type { OperatorSettings } from "./operator.ts";

/** `postern operator`: the controllers, against a cluster and Azure. */
export function command(): Command {
  return new Command("operator")
    .description("run the controllers against a Kubernetes cluster and Azure")
    .option(
      "--kubeconfig <file>",
      "kubeconfig to use (default: KUBECONFIG, the pod's service account, ~/.kube/config)",
    )
    .option("--context <name>", "context in that kubeconfig")
    .option("--namespace <name>", "look after this namespace only (default: all)")
    .addOption(
      new Option("--listen <host:port>", "where /healthz, /readyz and /metrics are served")
        .argParser(address)
        .default(address("127.0.0.1:8081"), "127.0.0.1:8081"),
    )
    .option("--no-leader-elect", "run without a Lease; only where this is the only replica")
    .option("--lease-namespace <name>", "namespace of the Lease (default: the connection's)")
    .option("--lease-name <name>", "name of the Lease", "postern-operator")
    .addOption(
      new Option("--log-format <format>", "how log lines look")
        .choices(["json", "text"])
        .default("json"),
    )
    .addOption(
      new Option("--log-level <level>", "what is logged")
        .choices(["debug", "info", "warn", "error"])
        .default("info"),
    )
    .addHelpText(
      "after",
      `
Azure is found by the environment: AZURE_CLOUD_NAME, AZURE_SUBSCRIPTION_ID, and one of AZURE_PLS_CLIENT_ID,
AZURE_CREDENTIALS_FILE, AZURE_FEDERATED_TOKEN_FILE or AZURE_CLIENT_SECRET. Traces go where OTEL_* says.

Example:
  $ postern operator --kubeconfig ~/.kube/config --log-format text`,
    )
    .action(async (options: Omit<OperatorSettings, "version">) => {
      const { runOperator } = await import("./operator.ts");
      await runOperator({ ...options, version: packageVersion() }, stopSignal());
    });
}

function address(text: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535)
    throw new InvalidArgumentError(
      "give HOST:PORT, such as 127.0.0.1:8081 or [::1]:8081; 0.0.0.0:8081 for every address of this machine",
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
