import { goOnUnheard } from "@postern/core/process/run-main.ts";
import { parseResourceId } from "@postern/core/resource-id.ts";
import { Command, InvalidArgumentError, Option } from "commander";
import type { CreateOptions } from "./hosted-cluster.ts";
import { type Format, isText, print, show, withConnection, withOutput } from "./output.ts";
import type { ConnectOptions } from "./session.ts";

/** `postern cluster`: hosted clusters, made and destroyed as `hypershift` does. */
export function command(): Command {
  return new Command("cluster")
    .description("make, reach and destroy a hosted cluster")
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
    .description("create a HostedCluster; its networks and identities must exist")
    .argument("<name>", "its name")
    .option("-n, --namespace <name>", "its namespace", "clusters")
    .requiredOption("--base-domain <name>", "the domain under which it has its names")
    .requiredOption("--location <region>", "its Azure region")
    .requiredOption("--tenant-id <id>", "its tenant")
    .requiredOption("--subscription-id <id>", "its subscription")
    .requiredOption("--resource-group <name>", "its resource group")
    .requiredOption("--vnet-id <id>", "its network")
    .requiredOption("--subnet-id <id>", "the subnet of its machines and of the endpoint")
    .requiredOption(
      "--control-plane-client-id <id>",
      "client id of the identity by which its control plane acts",
    )
    .option("--private-zone-id <id>", "a private zone for the names of its applications")
    .addOption(
      new Option("--endpoint-access <access>", "from where its API server is reached")
        .choices(["Public", "PublicAndPrivate", "Private"])
        .default("Public"),
    )
    .addOption(
      new Option(
        "--endpoint-access-private-nat-subnet-id <id>",
        "subnet from which its link service takes its addresses (default: one is made)",
      ).argParser(subnet),
    )
    .addOption(
      new Option(
        "--endpoint-access-private-additional-allowed-subscriptions <ids>",
        "subscriptions that may connect beside its own, with commas between them",
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
    .option("--external-dns-domain <name>", "domain in which its public names are made")
    .option("--render", "print the object, and create nothing")
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
        const { hostedClusterOf } = await import("./hosted-cluster.ts");
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
          const warnings = await createCluster(session, object);
          const key = `${options.namespace}/${name}`;
          show(options.output, { created: key, warnings }, () =>
            [...warnings, `${key} is created; follow it: postern tree ${key}`].join("\n"),
          );
        });
      },
    );
}

function destroy(): Command {
  return withOutput(withConnection(new Command("destroy")))
    .description("delete a HostedCluster and wait until nothing of it is left in Azure")
    .argument("<name>", "a cluster, as NAME or NAMESPACE/NAME")
    .addOption(
      new Option(
        "--grace-period <minutes>",
        "how long to wait (default: 10, and 20 for a cluster with a private link)",
      ).argParser(minutes),
    )
    .option(
      "--force",
      "when that time is over, give up what is left in the hosted cluster's subscription",
    )
    .addHelpText(
      "after",
      `
Ctrl-C stops waiting; the deletion goes on. When the objects are gone it searches Azure for what carries the cluster's tags or has one
of its computed names. With --force the endpoint and the DNS records in the hosted cluster's subscription may stay; the link service
and its subnet are never given up.
Exit code 0: nothing is left. 3: something is left in Azure and is listed, or Azure could not be searched.

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
    .description("write a kubeconfig for a hosted cluster")
    .argument("<name>", "a cluster, as NAME or NAMESPACE/NAME")
    .option(
      "--port-forward",
      "through kubectl port-forward, where its network cannot be reached from here",
    )
    .option("--file <file>", "where it is written (default: standard output)")
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
              options.file ? `${options.file} is written` : kubeconfig.trimEnd(),
              hint ? `# ${hint}` : "",
            ]
              .filter(Boolean)
              .join("\n"),
          );
        });
      },
    );
}

function subnet(text: string): string {
  try {
    return parseResourceId(text, "Microsoft.Network/virtualNetworks/subnets");
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

function minutes(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError("give a number of minutes, such as 20");
}
