import { type Format, isText, print, show, withOutput } from "@postern/core/process/output.ts";
import { goOnUnheard } from "@postern/core/process/run-main.ts";
import { Command, InvalidArgumentError, Option } from "commander";
import type { CreateOptions } from "./hosted-cluster.ts";
import { withConnection } from "./output.ts";
import type { ConnectOptions } from "./session.ts";

/** `postern cluster`: hosted clusters, created and destroyed as `hypershift` does. */
export function command(): Command {
  return new Command("cluster")
    .description("Create, access and destroy hosted clusters")
    .addCommand(create())
    .addCommand(destroy())
    .addCommand(access())
    .addHelpText(
      "after",
      `
Example:
  $ postern cluster create one --render --base-domain example.com --endpoint-access Private …`,
    );
}

function create(): Command {
  return withOutput(withConnection(new Command("create")))
    .description("Create a HostedCluster; its virtual network and identities must exist")
    .argument("<name>", "name of the cluster")
    .option("-n, --namespace <name>", "namespace of the cluster", "clusters")
    .requiredOption("--base-domain <name>", "domain of its DNS names")
    .requiredOption("--location <region>", "Azure region of the cluster")
    .requiredOption("--tenant-id <id>", "tenant of the cluster")
    .requiredOption("--subscription-id <id>", "subscription of the cluster")
    .requiredOption("--resource-group <name>", "resource group of the cluster")
    .requiredOption("--vnet-id <id>", "virtual network of the cluster")
    .requiredOption("--subnet-id <id>", "subnet of its machines and its private endpoint")
    .requiredOption(
      "--control-plane-client-id <id>",
      "client id of the identity of its control plane operator",
    )
    .option("--private-zone-id <id>", "private DNS zone for the names of its applications")
    .addOption(
      new Option("--endpoint-access <access>", "how clients reach its API server")
        .choices(["Public", "PublicAndPrivate", "Private"])
        .default("Public"),
    )
    .option(
      "--endpoint-access-private-nat-subnet-id <id>",
      "NAT subnet of its link service (default: Postern creates one)",
    )
    .addOption(
      new Option(
        "--endpoint-access-private-additional-allowed-subscriptions <ids>",
        "comma-separated subscriptions that may connect, in addition to its own",
      ).argParser((text) =>
        text
          .split(",")
          .map((each) => each.trim())
          .filter(Boolean),
      ),
    )
    .addOption(
      new Option("--oauth-publishing-strategy <strategy>", "how the OAuth server is published")
        .choices(["Route", "LoadBalancer"])
        .default("Route"),
    )
    .option(
      "--external-dns-domain <name>",
      "domain of its public DNS names; without it, a Route controller in the management cluster must serve them",
    )
    .option("--render", "print the object without creating it")
    .addHelpText(
      "after",
      `
Examples:
  $ postern cluster create one --base-domain example.com --location westeurope --tenant-id … --subscription-id … \\
      --resource-group one --vnet-id … --subnet-id … --control-plane-client-id … --endpoint-access Private`,
    )
    .action(
      async (
        name: string,
        options: ConnectOptions & CreateOptions & { output: Format; render?: boolean },
      ) => {
        const { hostedClusterOf, needsOf } = await import("./hosted-cluster.ts");
        const object = hostedClusterOf(name, options);
        if (options.render) {
          const { stringify } = await import("yaml");
          if (isText(options.output)) print(stringify(object).trimEnd());
          else show(options.output, object, () => "");
          return;
        }
        const [{ withSession }, { createCluster }] = await Promise.all([
          import("./session.ts"),
          import("./run-cluster.ts"),
        ]);
        await withSession(options, async (session) => {
          const warnings = [...needsOf(options), ...(await createCluster(session, object))];
          const key = `${options.namespace}/${name}`;
          show(options.output, { created: key, warnings }, () =>
            [...warnings, `${key} was created. To follow its progress: postern tree ${key}`].join(
              "\n",
            ),
          );
        });
      },
    );
}

function destroy(): Command {
  return withOutput(withConnection(new Command("destroy")))
    .description("Delete a HostedCluster, and wait until its Azure resources are deleted")
    .argument("<name>", "cluster, as NAME or NAMESPACE/NAME")
    .addOption(
      new Option(
        "--grace-period <minutes>",
        "how long to wait (default: 10, and 20 for a cluster with a private link)",
      ).argParser(minutes),
    )
    .option(
      "--force",
      "after the grace period, stop waiting for the resources in the hosted cluster's subscription",
    )
    .addHelpText(
      "after",
      `
Ctrl-C stops the wait; the deletion continues. After the objects are deleted, the command searches Azure for resources with the
cluster's tags or computed names. With --force the private endpoint and the DNS records in the hosted cluster's subscription may
remain; the link service and its subnet are always deleted.
Exit code 0: nothing remains. 3: resources remain in Azure and are listed, or Azure could not be searched.

Example:
  $ postern cluster destroy clusters/one`,
    )
    .action(
      async (
        name: string,
        options: ConnectOptions & { output: Format; gracePeriod?: number; force?: boolean },
      ) => {
        const [{ withSession }, { destroyCluster }] = await Promise.all([
          import("./session.ts"),
          import("./run-cluster.ts"),
        ]);
        goOnUnheard();
        await withSession(options, (session) => destroyCluster(session, name, options));
      },
    );
}

function access(): Command {
  return withOutput(withConnection(new Command("access")))
    .description("Write a kubeconfig for a hosted cluster")
    .argument("<name>", "cluster, as NAME or NAMESPACE/NAME")
    .option(
      "--port-forward",
      "connect through kubectl port-forward, if its network cannot be reached from here",
    )
    .option("--file <file>", "output file (default: standard output)")
    .addHelpText(
      "after",
      `
Example:
  $ postern cluster access clusters/one --port-forward --file one.kubeconfig`,
    )
    .action(
      async (
        name: string,
        options: ConnectOptions & { output: Format; portForward?: boolean; file?: string },
      ) => {
        const [{ withSession }, { accessTo, writeKubeconfig }] = await Promise.all([
          import("./session.ts"),
          import("./run-cluster.ts"),
        ]);
        await withSession(options, async (session) => {
          const { kubeconfig, hint } = await accessTo(session, name, options.portForward === true);
          if (options.file) writeKubeconfig(options.file, kubeconfig);
          show(options.output, { kubeconfig, hint }, () =>
            [
              options.file ? `${options.file} was written.` : kubeconfig.trimEnd(),
              hint ? `# ${hint}` : "",
            ]
              .filter(Boolean)
              .join("\n"),
          );
        });
      },
    );
}

function minutes(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError("use a number of minutes, such as 20");
}
