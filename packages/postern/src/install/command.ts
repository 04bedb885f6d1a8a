import { type Format, print, withOutput } from "@postern/core/process/output.ts";
import { packageVersion } from "@postern/core/process/package-version.ts";
import { Command, Option } from "commander";
import { withConnection } from "../cli/output.ts";
import type { ConnectOptions } from "../cli/session.ts";
import { type InstallFlags, withInstallOptions } from "./flags.ts";
import { type RunFlags, withRunOptions } from "./options.ts";
import type { Outputs } from "./run-install.ts";

interface RenderFlags {
  output: Format;
  outputs: Outputs;
  renderSensitive?: boolean;
  outputFile?: string;
}

/** `postern install`: the operator, onto a cluster or as manifests. */
export function command(): Command {
  const base = withRenderOptions(
    withRunOptions(withInstallOptions(withOutput(withConnection(new Command("install"))))),
  );
  return base
    .description("Install the operator on a cluster, or print its manifests")
    .option("--render", "print the manifests without changing anything; same as install render")
    .addCommand(render())
    .addHelpText(
      "after",
      `
It checks the cluster, tries every object without changing anything, shows what would change, applies it, and waits until
the pods are available. To run it again is safe. It never downgrades a kind, and leaves those of other projects alone.

Examples:
  $ postern install --image registry.example.com/postern:v0.1.0 --azure-pls-managed-identity-client-id … \\
      --azure-pls-subscription-id … --azure-pls-resource-group management
  $ postern install --values values.yaml --dry-run
  $ postern install render --values values.yaml --outputs crds`,
    )
    .action(
      async (
        options: ConnectOptions & InstallFlags & RunFlags & RenderFlags & { render?: boolean },
      ) => {
        if (options.render) return renderManifests(options);
        const [{ installationOf }, { installOn, withCluster }] = await Promise.all([
          import("./run-install.ts"),
          import("./connected.ts"),
        ]);
        const installation = await installationOf(options, packageVersion());
        await withCluster(options, (surroundings, session) =>
          installOn(session, surroundings, installation, options),
        );
      },
    );
}

function render(): Command {
  return withRenderOptions(withInstallOptions(withOutput(new Command("render"))))
    .description("Print the manifests")
    .addHelpText(
      "after",
      `
Example:
  $ postern install render --values values.yaml > postern.yaml`,
    )
    .action(async (_options: unknown, self: Command) => {
      // Options that both commands have may stand before or after the word render.
      await renderManifests(self.optsWithGlobals());
    });
}

function withRenderOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--outputs <which>", "which manifests to print")
        .choices(["all", "crds", "resources"])
        .default("all"),
    )
    .option("--render-sensitive", "print Secrets too")
    .option("--output-file <file>", "file to write the manifests to, instead of printing them");
}

async function renderManifests(options: InstallFlags & RenderFlags): Promise<void> {
  const [{ installationOf, outputsOf }, { stringify }] = await Promise.all([
    import("./run-install.ts"),
    import("yaml"),
  ]);
  const installation = await installationOf(options, packageVersion());
  const objects = outputsOf(installation, options.outputs, options.renderSensitive === true);
  const list = { apiVersion: "v1", kind: "List", items: objects };
  const text =
    options.output === "json"
      ? `${JSON.stringify(list, undefined, 2)}\n`
      : objects
          .map((object) => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 }))
          .join("---\n");
  if (options.outputFile === undefined) print(text.trimEnd());
  else {
    const { writeFile } = await import("node:fs/promises");
    await writeFile(options.outputFile, text);
  }
}
